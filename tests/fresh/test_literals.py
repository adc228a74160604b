from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from cruxeval_tasks.fresh.literals import Group, Scalar, groups, is_sound, read_arguments, scalars, write_arguments

PUBLISHED = Path(__file__).parents[2] / ".." / "shared" / "cruxeval" / "cruxeval.jsonl"

SOURCES = [
    "",
    "1",
    "-1, 2.5, 3j, True, None, ...",
    "'a', b'b', \"it's\"",
    "[1, [2, (3,), ()], []]",
    "{'a': {'b': -1}, 2: set()}, {3, 1, 2}",
    "x=[1], *[2, 3], **{'y': 4}",
    "'ä€', 'ö', [\n'ü',\n 'ß'], 5",  # positions in a tree are bytes, and count from the line's start
]


@pytest.mark.parametrize("source", SOURCES)
def test_writing_what_was_read_gives_an_equal_call(source: str) -> None:
    arguments = read_arguments(source)
    written = write_arguments(arguments.texts, arguments.trees)
    assert ast.dump(ast.parse(f"f({written})")) == ast.dump(ast.parse(f"f({source})"))


def test_what_is_no_literal_stays_but_for_the_literals_in_it() -> None:
    arguments = read_arguments("dict(a=1), lambda x: x < 2, 'b'.upper() * 3, f'{4}', y")
    assert arguments.trees == (Scalar(1), Scalar(2), Scalar("b"), Scalar(3))
    changed = write_arguments(arguments.texts, [Scalar(-1), Scalar([]), Group("list", []), Scalar("c")])
    assert changed == "dict(a=-1), lambda x: x < [], [].upper() * 'c', f'{4}', y"


def test_the_order_of_a_set_is_the_written_one() -> None:
    (tree,) = read_arguments("{'b', 'a', 'd', 'c'}").trees
    assert [scalar.value for scalar in scalars([tree])] == ["b", "a", "d", "c"]


def test_walks() -> None:
    trees = read_arguments("{'a': [1, ()]}, 2").trees
    assert [scalar.value for scalar in scalars(trees)] == ["a", 1, 2]
    assert [group.kind for group in groups(trees)] == ["dict", "list", "tuple"]


@pytest.mark.parametrize(
    ("source", "sound"),
    [("{'a': 1, 'b': 1}", True), ("{1, 2}", True), ("[1, 1]", True), ("{'a': 1, 'a': 2}", False), ("[{1, 1}]", False)],
)
def test_a_key_or_member_that_comes_twice_is_not_sound(source: str, sound: bool) -> None:
    (tree,) = read_arguments(source).trees
    assert is_sound(tree) is sound


@pytest.mark.parametrize("source", ["1,,", "(", "1) + f(2"])
def test_what_is_no_list_of_arguments_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_arguments(source)


def test_all_published_inputs() -> None:
    if not PUBLISHED.exists():
        pytest.skip(f"needs the 800 published problems in {PUBLISHED}")
    inputs = [json.loads(line)["input"] for line in PUBLISHED.read_text().splitlines()]
    assert len(inputs) == 800
    for source in inputs:
        arguments = read_arguments(source)
        written = write_arguments(arguments.texts, arguments.trees)
        assert ast.dump(ast.parse(f"f({written})")) == ast.dump(ast.parse(f"f({source})"))
