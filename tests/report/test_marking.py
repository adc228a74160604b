"""Where an answer lies in a completion. The offsets come from `|` in the text, which stands around it."""

from __future__ import annotations

import pytest

from cruxeval_tasks.answers import input_answer, output_answer
from cruxeval_tasks.report.marking import place


@pytest.mark.parametrize(
    "marked",
    [
        "assert f(1) == |[2]|",
        "assert f(1) == |[2]|\n[/ANSWER]\n[PYTHON]\ndef f(x):\n    return x\nassert f(3) == [2]\n[/PYTHON]",
        "First x is [2], so it is [2].\n[ANSWER]assert f(1) == |[2]|[/ANSWER]",
        "[ANSWER]f([2]) == |[2]|[/ANSWER]",
        "12 is no 2, so [ANSWER]f(12) == |2|[/ANSWER]",
        "<think>assert f(1) == [2]</think>assert f(1) == |[2]|",
    ],
)
def test_output(marked: str) -> None:
    head, answer, tail = marked.split("|")
    text = head + answer + tail
    assert output_answer(text) == answer
    assert place(text, answer, "output", output_answer) == (len(head), len(head) + len(answer))


def test_input() -> None:
    head, answer, tail = "f(3) would do? [ANSWER]assert |f(3)| == 3[/ANSWER]".split("|")
    text = head + answer + tail
    assert input_answer(text) == answer
    assert place(text, answer, "input", input_answer) == (len(head), len(head) + len(answer))


@pytest.mark.parametrize("answer", [None, "", "[9, 9]"])
def test_no_place(answer: str | None) -> None:
    assert place("assert f(1) == [9,\n 9]", answer, "output", output_answer) is None
