from __future__ import annotations

import ast
import random
from itertools import islice

import pytest

from cruxeval_tasks.fresh.mutation import Dice, candidates
from cruxeval_tasks.problems import smoke_problems

CODE = "def f(text, n):\n    return text.count('ab') + n"


def some(arguments: str, number: int = 60, code: str = CODE, seed: str = "0:x") -> list[str]:
    return list(islice(candidates(code, arguments, seed), number))


def types(value: object) -> object:
    """The types in a value, at every depth; the items of a container as a set, since it may be empty or longer."""
    if isinstance(value, dict):
        return dict, frozenset(types(key) for key in value), frozenset(types(item) for item in value.values())
    if isinstance(value, tuple):
        return tuple(types(item) for item in value)  # a record: each item has its place
    if isinstance(value, (list, set)):
        return type(value), frozenset(types(item) for item in value)
    return type(value)


@pytest.mark.parametrize(
    "arguments",
    [
        "'some text', 12", "[5, 17, 200], ['a', 'b']", "{'one': 1, 'two': 2, 'three': 3}", "(1, 'x')", "-4, 2.75, True",
        "{'k', 'l'}, None, b'xyz'", "[['a', 1], ['b', 2]]",
    ],
)  # fmt: skip
def test_candidates_have_the_original_s_types_and_are_all_different(arguments: str) -> None:
    found = some(arguments)
    assert len(found) >= 20
    assert len(set(found)) == len(found)
    assert arguments not in found
    original = ast.literal_eval(f"({arguments},)")
    for candidate in found:
        values = ast.literal_eval(f"({candidate},)")
        assert [type(value) for value in values] == [type(value) for value in original], candidate
        for value, before in zip(values, original, strict=True):
            if not isinstance(before, (list, tuple, dict, set)):
                continue
            # What was put into a list may have been taken from another one.
            assert isinstance(before, list) or types(value) == types(before), candidate


def test_the_first_candidates_keep_the_size_class() -> None:
    for candidate in some("'abcdefghij', 2, 50, [1, 2]", 20):
        text, small, large, pair = ast.literal_eval(f"({candidate})")
        assert 8 <= len(text) <= 12
        # A number may have been copied from another place.
        assert 0 <= small <= 3 or small in (large, *pair) or 10 <= small <= 99
        assert 1 <= len(pair) <= 3


def test_relations_between_arguments_often_survive() -> None:
    found = [ast.literal_eval(f"({candidate})") for candidate in some("'banana', 'nan'", 24)]
    changed = [(text, part) for text, part in found if text != "banana" and part != "nan"]
    assert sum(part in text for text, part in changed) >= len(changed) / 3 > 0


def test_later_candidates_use_the_strings_and_numbers_of_the_code() -> None:
    code = "def f(word, n):\n    return word == 'xylophone' and n == 731"
    found = some("'abc', 5", 300, code)
    assert any("xylophone" in candidate for candidate in found)
    assert any("731" in candidate for candidate in found)


def test_empty_arguments_are_filled_sometimes() -> None:
    found = some("'', [], {}", 100)
    texts, lists, mappings = zip(*(ast.literal_eval(f"({candidate})") for candidate in found), strict=True)
    assert any(texts)
    assert {type(item) for items in lists for item in items} >= {int, str, list}
    assert any(mappings)


def test_nothing_to_change_ends() -> None:
    assert some("") == []
    assert some("None") == []
    assert 1 <= len(some("True", 10)) <= 10


def test_equal_seeds_give_equal_candidates_and_others_do_not() -> None:
    for problem in list(smoke_problems())[:10]:
        first, again, other = (
            list(islice(candidates(problem.code, problem.input, seed), 40)) for seed in ("0:a", "0:a", "1:a")
        )
        assert first == again
        assert not first or first != other


def test_candidates_do_not_hang_on_the_state_of_the_random_module() -> None:
    random.seed(1)
    first = some("'text', 3")
    random.seed(2)
    assert some("'text', 3") == first


def test_dice() -> None:
    dice = Dice("x")
    assert {dice.below(3) for _ in range(200)} == {0, 1, 2}
    assert {dice.between(-1, 1) for _ in range(200)} == {-1, 0, 1}
    assert sorted(dice.shuffled([3, 1, 2])) == [1, 2, 3]
    assert len({tuple(dice.shuffled([1, 2, 3])) for _ in range(200)}) == 6


def test_dice_use_the_one_method_that_python_promises_never_to_change() -> None:
    draws = random.Random("0:x")
    dice = Dice("0:x")
    assert [dice.below(1000) for _ in range(5)] == [int(draws.random() * 1000) for _ in range(5)]
