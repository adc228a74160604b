"""On text in the authors' own format the answer is the one that the authors' post-processing yields.

Theirs is told here in our own words: of what follows the first answer tag (with chain of thought), output
prediction takes the text between the first and the second `==`; input prediction takes the text before the
first `==`, and what follows the first `assert f` in it. Where the result is one expression, it must be
ours.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from forms import extract

pytestmark = pytest.mark.slow

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


def authors_answer(completion: str, direction: str, *, thought: bool) -> str:
    text = completion
    if thought and "[ANSWER]" in text:
        text = text.split("[ANSWER]")[1]
    parts = text.split("==")
    if direction == "output":
        return (parts[1] if len(parts) > 1 else text).strip()
    before, assertion, call = parts[0].partition("assert f")
    return ("f" + call.split("assert f")[0].strip() if assertion else before).strip()


def expression(text: str) -> str | None:
    """A canonical form of the one expression that `text` is, or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(text.strip(), mode="eval"))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None


def ends_in_a_message(text: str) -> bool:
    """Whether `assert … == text` would have a message: then the part after the comma is no part of the value.

    The authors' scorer writes the answer after `==` in an assertion, so there it is a message, too.
    """
    statement = ast.parse(f"assert 0 == {text}").body[0]
    return isinstance(statement, ast.Assert) and isinstance(statement.msg, (ast.Constant, ast.JoinedStr, ast.Call))


@cache
def published_answers() -> list[tuple[str, str, str]]:
    """(direction, completion of the direct prompt, id) for each distinct published answer."""
    results = SHARED / "official_results"
    if not results.is_dir():
        pytest.skip("needs the authors' result files in ../shared")
    rows = map(json.loads, (SHARED / "cruxeval" / "cruxeval.jsonl").read_text(encoding="utf-8").splitlines())
    problems = {row["id"]: row for row in rows}
    distinct: set[tuple[str, str, str]] = set()
    for path in sorted(results.glob("*.json")):
        direction = "output" if path.stem.endswith("output") else "input"
        for name, answers in json.loads(path.read_text(encoding="utf-8"))["raw_generations"].items():
            distinct.update((direction, name, answer) for answer in answers)
    return [
        (
            direction,
            f"assert f({problems[name]['input']}) == {answer}\n"
            if direction == "output"
            else f"assert {answer} == {problems[name]['output']}\n",
            name,
        )
        for direction, name, answer in sorted(distinct)
    ]


def differences(
    completions: Iterator[tuple[str, str, str]], *, thought: bool
) -> tuple[int, list[tuple[str, str, str | None]]]:
    compared = 0
    different = []
    for direction, completion, name in completions:
        theirs = authors_answer(completion, direction, thought=thought)
        if expression(theirs) is None:
            continue
        compared += 1
        ours = extract(completion, direction)
        if ours is None or expression(ours) != expression(theirs):
            if direction == "output" and ours is not None and ends_in_a_message(theirs):
                assert expression(f"({ours}, 0)") is not None
                continue
            different.append((name, theirs, ours))
    return compared, different


def test_direct_completions() -> None:
    compared, different = differences(iter(published_answers()), thought=False)
    assert different == []
    assert compared > 30_000


def test_completions_with_thought() -> None:
    completions = (
        (direction, f"1. f(3) == 4, so it's 5.\n[/THOUGHT]\n[ANSWER]\n{completion}", name)
        for direction, completion, name in published_answers()[::4]
    )
    compared, different = differences(completions, thought=True)
    assert different == []
    assert compared > 7_500


def test_completions_that_go_on_after_the_call() -> None:
    """The variant for one model, whose prompt ends in `assert f(…) ==` and which stops at `# done`."""
    completions = (
        ("output", " " + completion.partition(" == ")[2], name)
        for direction, completion, name in published_answers()
        if direction == "output" and completion.count("==") == 1
    )
    compared, different = differences(completions, thought=False)
    assert different == []
    assert compared > 10_000


@pytest.mark.parametrize(
    ("direction", "completion", "theirs"),
    [
        ("output", "assert f(1) == 2\n", "2"),
        ("output", "assert f(1) == 0 or True", "0 or True"),
        ("output", "assert f([1, 2) == 2", "2"),
        ("output", "assert f(1)[0] == 2", "2"),
        ("output", "assert f(1) == 2 == 3", "2"),
        ("output", "assert f(1) == 1, 2", "1, 2"),
        ("output", "f(1) == 2", "2"),
        ("output", " 17 ", "17"),
        ("input", "assert f(1)[0] == 2", "f(1)[0]"),
        ("input", "assert f(1) == 2\nassert f(3) == 2", "f(1)"),
        ("input", "f([1], 'a') == 2", "f([1], 'a')"),
        ("input", "f([1], 'a')", "f([1], 'a')"),
        ("input", "[1]", "[1]"),
    ],
)
def test_by_hand(direction: str, completion: str, theirs: str) -> None:
    assert authors_answer(completion, direction, thought=False) == theirs
    assert extract(completion, direction) == theirs
