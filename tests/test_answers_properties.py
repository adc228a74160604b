"""Extraction is total and bounded on any text."""

from __future__ import annotations

import ast
import random
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cruxeval_tasks.answers import input_answer, output_answer, python_text
from cruxeval_tasks.answers.python_text import MAX_ANSWER, Reader, parse, straighten

MEGABYTE = 1_000_000

PIECES = [
    "[ANSWER]", "[/ANSWER]", "[PYTHON]", "[/PYTHON]", "[THOUGHT]", "[/THOUGHT]", "<think>", "</think>",
    "<answer>", "<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|im_end|>", "</s>",
    "```", "```python\n", "`", "assert ", "assert f(", "f(", "def f(x):\n", " == ", "is", "not", ">>> ",
    "print(", "# ", "**Answer:** ", "Output: ", "\\boxed{", "\\text{", '{"answer": ', '"', "'", '"""',
    "\\", "\\'", "(", ")", "[", "]", "{", "}", ",", ";", ".", "1", "-", "lambda x: ", "\n", "\r\n", " ",
    "\u00a0", "\u201c", "\u201d", "\0", "\ud800", "\U0001f600", "returns ", "the answer is ", "True",
    "x", "'a'", "5", "[1, 2]",
]  # fmt: skip

TEXTS = st.one_of(
    st.text(max_size=400),
    st.text(alphabet=st.characters(exclude_categories=[]), max_size=200),  # with lone surrogates
    st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=40).map("".join),
)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.one_of(st.integers(), st.booleans(), st.none(), st.text(max_size=20), FLOATS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
    ),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(TEXTS)
def test_total_silent_and_deterministic(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for find in (output_answer, input_answer):
            answer = find(text)
            assert answer == find(text)
            assert answer is None or answer.strip()
            assert answer is None or len(answer) <= 2 * MAX_ANSWER


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_any_value_in_the_prompts_own_form(value: object) -> None:
    source = repr(value)
    completion = f"assert f({source}) == {source}\n"
    if len(completion) > MAX_ANSWER:
        return
    for text in (
        completion,
        completion + "[/ANSWER]",
        f"[ANSWER]\n{completion}[/ANSWER]",
        f"```python\n{completion}```",
    ):
        assert output_answer(text) == straighten(source)
        assert input_answer(text) == f"f({straighten(source)})"


def filled(pattern: str) -> str:
    return (pattern * (MEGABYTE // len(pattern) + 1))[:MEGABYTE]


def noise() -> str:
    return "".join(random.Random(1).choices("[](){}'\"\\#=, \nf1assert`*<>|", k=MEGABYTE))


HOSTILE = {
    "open brackets": filled("["),
    "all kinds of brackets": filled("[({"),
    "closed brackets": filled("[]"),
    "nested parentheses": "(" * (MEGABYTE // 2) + ")" * (MEGABYTE // 2),
    "nested parentheses in an assertion": "assert f(1) == " + "(" * 90 + "1" + ")" * 90 + " " * MEGABYTE,
    "100,000 opening tags": "[ANSWER]" * 100_000,
    "100,000 opening tags on lines": "[ANSWER]\n" * 100_000,
    "100,000 closing tags": "[/ANSWER]" * 100_000,
    "100,000 pairs of tags": "[ANSWER]x[/ANSWER]" * 100_000,
    "nulls": "\0" * MEGABYTE,
    "lone surrogates": "\ud800" * MEGABYTE,
    "lone surrogates in an assertion": f"assert f('{chr(0xD800) * MEGABYTE}') == 1",
    "single quotes": filled("'"),
    "double quotes": filled('"'),
    "triple quotes": filled('"""'),
    "unclosed triple quotes": 'assert f("""' + filled("\\\n"),
    "backslashes": filled("\\"),
    "escaped quotes": filled("\\'"),
    "open f-strings": filled("f'{"),
    "one word": "a" * MEGABYTE + "!",
    "spaces": " " * MEGABYTE,
    "newlines": "\n" * MEGABYTE,
    "CRLF": "\r\n" * (MEGABYTE // 2),
    "non-breaking spaces": "\u00a0" * MEGABYTE,
    "assert f(": filled("assert f("),
    "assertions": filled("assert f(1) == 2\n"),
    "assertions on one line": filled("assert f(1) == 2 "),
    "calls": filled("f("),
    "calls with values": filled("f(1) returns x "),
    "fences": filled("```"),
    "fences on lines": filled("```\n"),
    "fences with code": filled("```python\nf(1)\n```\n"),
    "traces opened": filled("<think>"),
    "traces closed": filled("</think>"),
    "traces quoted": filled("'</think>'"),
    "trace marks in strings": filled("x = 'a </think> b'\n"),
    "channels": filled("<|channel|>final"),
    "ends of turn": filled("<|im_end|>"),
    "ends of turn, quoted": filled("'<|im_end|>'"),
    "starts": filled("<s>"),
    "labels": filled("Answer: \n"),
    "labels with values": filled("Answer: 5\n"),
    "stars": filled("*"),
    "boxes": filled("\\boxed{"),
    "JSON keys": filled('{"answer": '),
    "JSON strings": filled('"answer": "'),
    "sessions": filled(">>> f(1)\n"),
    "comments": filled("#\n"),
    "definitions": filled("def f(\n"),
    "problems": filled("[PYTHON]\n"),
    "unary operators": "assert f(1) == " + filled("-"),
    "negations": "[ANSWER]" + filled("not ") + "1[/ANSWER]",
    "sums": "[ANSWER]" + filled("1+") + "1[/ANSWER]",
    "lambdas": "assert f(1) == " + filled("lambda: "),
    "attributes": filled("a."),
    "digits": "assert f(1) == " + filled("9"),
    "long list": "assert f(1) == [" + filled("1, ") + "]",
    "filler words": filled("is the value of the string "),
    "typographic quotes": filled("\u201ca\u201d"),
    "other scripts": filled("\u00e9\u4e2d\U0001f600"),
    "noise": noise(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_megabytes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No text makes extraction raise, or do more than its budget allows.

    Counted rather than timed: the characters that are scanned and parsed. A parse or scan that begins
    within the budget may end beyond it, by one longest answer.
    """
    readers: list[Reader] = []
    made = Reader.__init__

    def remember(self: Reader, text: str, parent: Reader | None = None) -> None:
        made(self, text, parent)
        if parent is None:
            readers.append(self)

    monkeypatch.setattr(Reader, "__init__", remember)
    for find in (output_answer, input_answer):
        answer = find(HOSTILE[name])
        assert answer is None or len(answer) <= MAX_ANSWER + 2
    assert 2 <= len(readers) <= 4  # for each direction, one reads the completion and one what follows the reasoning
    spent = [python_text.BUDGET - reader.budget.left for reader in readers]
    assert max(spent) <= python_text.BUDGET + MAX_ANSWER + 20


def test_long_answers_are_not_cut_into_valid_ones() -> None:
    text = "[ANSWER]" + "1+" * MAX_ANSWER + "1[/ANSWER]"
    answer = output_answer(text)
    assert answer is not None
    assert parse(answer) is None


def test_an_answer_at_either_end_of_a_megabyte_is_found() -> None:
    filler = "So it goes on and on. " * 50_000
    assert output_answer(f"assert f(1) == 2\n[/ANSWER]\n\n[PYTHON]\n{filler}") == "2"
    assert output_answer(f"{filler}\n[ANSWER]\nassert f(1) == 2\n[/ANSWER]") == "2"
    assert input_answer(f"<think>{filler}</think>assert f(1) == 2") == "f(1)"


@pytest.mark.parametrize(
    "source",
    ["(" * 5000, "-" * 4000 + "1", "not " * 1000 + "1", "1+" * 2000 + "1", "lambda:" * 500 + "1", "\0",
     "'\ud800'",
     "a" * 5000, "0" * 4000 + "1", "9" * 4090, "'\\d'", "1if 1else 2", "1 is 1", "f'{'", "x = 1", "", " "],
)  # fmt: skip
def test_parse_is_total_and_silent(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expression = parse(source)
    assert expression is None or isinstance(expression, ast.expr)


def test_recursion_limit_does_no_harm() -> None:
    limit = sys.getrecursionlimit()
    depth = len(__import__("inspect").stack())
    sys.setrecursionlimit(depth + 60)
    try:
        answer = output_answer("assert f(1) == " + "[" * 90 + "]" * 90)
    finally:
        sys.setrecursionlimit(limit)
    assert answer is None or answer.startswith(("[", "assert"))
