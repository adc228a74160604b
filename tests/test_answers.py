"""Answers are found in every form that models write them in, and nothing is found where there is none."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from forms import FORMS, NO_ANSWER, directions, extract, gold_answer, same_answer

from cruxeval_tasks.answers import input_answer, output_answer

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
PROBLEM_FILE = SHARED / "cruxeval" / "cruxeval.jsonl"
CHAT_FILE = SHARED / "chat_completions" / "output_json_style.jsonl"

VALUES = [
    "'a == b'",
    "'x # y'",
    "'it\\'s \"quoted\"'",
    '"it\'s"',
    "'a\\nb\\t\\\\'",
    "';'",
    "'})]'",
    "'([{'",
    "'a, b'",
    "'%s.'",
    "'\\\\'",
    "''",
    "' '",
    "'True'",
    "'5'",
    "'# done'",
    "'def f(x):'",
    "'[PYTHON]'",
    "'not in'",
    "'f(3)'",
    "'>>> f(1)'",
    "'`tick` ``two``'",
    "'\u201cx\u201d'",
    "'a\u00a0b'",
    "'\U0001f600'",
    "b'\\xff'",
    "-1",
    "1.5",
    "-0.0",
    "1e20",
    "True",
    "None",
    "()",
    "(1,)",
    "(1, 'a')",
    "[]",
    "{}",
    "{1, 2}",
    "{'a': [1, {'b': (2,)}]}",
    "1 + 2j",
]
"""Values that splitting at `==`, `#`, quotes, commas or brackets would break; each is input and output of a
problem."""


@cache
def problems() -> list[dict[str, Any]]:
    if not PROBLEM_FILE.is_file():
        pytest.skip("needs the published problems in ../shared")
    return [json.loads(line) for line in PROBLEM_FILE.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", FORMS)
def test_form_with_values_that_break_splitting(name: str) -> None:
    wrong = []
    for value in VALUES:
        problem = {"input": value, "output": value}
        for direction in directions(name):
            answer = extract(FORMS[name](value, value, direction), direction)
            if not same_answer(answer, gold_answer(problem, direction)):
                wrong.append((direction, value, answer))
    assert wrong == []


@pytest.mark.parametrize("name", FORMS)
def test_form_with_published_problems(name: str) -> None:
    """A quarter of the problems, another one for each form; `scripts/extraction_table.py` takes all of them."""
    wrong = []
    for problem in problems()[list(FORMS).index(name) % 4 :: 4]:
        for direction in directions(name):
            answer = extract(FORMS[name](problem["input"], problem["output"], direction), direction)
            if not same_answer(answer, gold_answer(problem, direction)):
                wrong.append((problem["id"], direction, answer))
    assert wrong == []


@pytest.mark.parametrize("name", NO_ANSWER)
@pytest.mark.parametrize("direction", ["output", "input"])
def test_no_answer(name: str, direction: str) -> None:
    assert [extract(NO_ANSWER[name](value, value), direction) for value in VALUES] == [None] * len(VALUES)


def test_forms_are_compared_by_meaning() -> None:
    assert same_answer(" [1,2]", "[1, 2]")
    assert same_answer("f( 'a' )", 'f("a")')
    assert not same_answer("[1, 2]", "(1, 2)")
    assert not same_answer("f('a')", "f('b')")
    assert not same_answer("", "''")
    assert not same_answer(None, "None")


# Marks that are part of the answer's own strings


@pytest.mark.parametrize(
    "string",
    [
        "'</think>'",
        "'<think>'",
        "'a </think> b'",
        "'</s> <|im_end|>'",
        "'<|channel|>final<|message|>'",
        "'[ANSWER]5[/ANSWER]'",
        "'[/ANSWER]'",
        "'assert f(1) == 2'",
        "'$\\\\boxed{5}$'",
        '\'{"answer": "5"}\'',
        "'Output: 5'",
        "'```'",
    ],
)
@pytest.mark.parametrize(
    "name",
    [
        "prompt's own form",
        "complete tags",
        "fence without tags",
        "think trace, then tags",
        "tags with a bare answer",
    ],
)
def test_marks_inside_strings_are_text(name: str, string: str) -> None:
    assert output_answer(FORMS[name](string, string, "output")) == string
    assert input_answer(FORMS[name](string, string, "input")) == f"f({string})"


@pytest.mark.parametrize("mark", ["<think>", "</think>", "<|im_end|>"])
def test_many_marks_inside_strings_are_text(mark: str) -> None:
    """More of them than are looked at one by one."""
    value = repr([mark] * 12)
    assert output_answer(f"assert f(1) == {value}") == value


# Rules that decide where a completion could be read in several ways


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        # another call is another example, the same call is a correction
        ("assert f(1) == 2\n\nassert f(2) == 3", "2"),
        ("assert f(1) == 2\nassert f(1) == 3", "3"),
        ("For example, assert f(2) == 3.\n\nSo assert f(1) == 2", "2"),
        ("assert f(1) == 2\n[/ANSWER]\nNext one.\n[ANSWER]\nassert f(5) == 9\n[/ANSWER]", "2"),
        # an assertion that does not call f is the function's own, unless it is all there is
        ("assert f(1) == 2\n\nassert x == 3", "2"),
        ("result = f(1)\nassert result == 3", "3"),
        # fences and what is stated after them
        ("```\n5\n```\nNo, wait.\n\n**Answer:** 6", "6"),
        ("**Answer:** 6\n```\n5\n```", "5"),
        # labels before sentences
        ("**Answer:** `5`\n\nThe first call returns 3.", "5"),
        ("Step 1: f(0) returns 1.\n\nTherefore, f(3) returns 7.", "7"),
        # tags
        ("[ANSWER]5[/ANSWER]\n[ANSWER]6[/ANSWER]", "6"),
        ("[ANSWER]\nassert f(1) == 2\n[/ANSWER]\nI used the [ANSWER] tag.", "2"),
        ("[ANSWER]\nassert f(1) == 2\n[/ANSWER]\nNo:\n[ANSWER]\nassert f(1) == 3", "3"),
        ("[ANSWER]5[/ANSWER]\nAbove, the [ANSWER] tag holds what the call returns, 100 % as it was asked for: a value.", "5"),
        *((f"As asked, with [ANSWER]{filler}[/ANSWER] tags.\n\nThe output is 7.", "7") for filler in ("", " ", "...", "\u2026")),
        ("[ANSWER]True[/ANSWER]", "True"),
        ("[ANSWER]5\n[ANSWER]\n", "5"),
        ("assert f(1) == 3?\n[/THOUGHT]\n5", "5"),
        ("[/THOUGHT]\n5", "5"),
        # a definition in a fence is no new problem, what comes after the fence may be
        ("5\n```python\ndef g(x):\n    return x\n```\n\n[PYTHON]\ndef f(n):\n    return n\n[/PYTHON]\n[ANSWER]\n9\n[/ANSWER]", "5"),
        # a correction after the JSON, a comparison the other way round, parentheses around all of it
        ('{"answer": "5"}\n\nNo, wait:\nassert f(1) == 6', "6"),
        ('{"answer": "5"}\n\n**Output:** 6', "6"),
        ('At first, assert f(1) == 3. Then:\n{"answer": "5"}', "5"),
        ("Running it, I get:\n5 == f(1)\nas expected.", "5"),
        ("assert (((f(1) == 2)))", "2"),
        ("assert 2 == f(1)", "2"),
        # a label counts where the clause ends after the value
        ("**Output:** 5 apples\n\nThe output is 7.", "7"),
        # the authors' reading of what follows `==`
        ("assert f(1) == 0 or True", "0 or True"),
        ("assert f(1) == 2 == 3", "2"),
        ("assert f([1, 2) == 5", "5"),
        ("assert len(f(1)) == 3", "3"),
        # a string after the comma is a message, anything else a tuple without its brackets
        ("assert f(1) == 2, 'message'", "2"),
        ("assert f(1) == 2, f'got {x}'", "2"),
        ("assert f(1) == 1, 2", "1, 2"),
        # prose around a value
        ("So the answer is 5, not 6.", "5"),
        ("assert f(1) == 5 because it is odd", "5"),
        ("The function returns the string 'abc' because it's reversed.", "'abc'"),
        # JSON strings that are no expression, and those that are
        ('{"answer": "ZN KGD"}', "'ZN KGD'"),
        ('{"answer": "quack"}', "'quack'"),
        ('{"answer": "a-b"}', "'a-b'"),
        ('{"answer": ""}', "''"),
        ('{"answer": "5"}', "5"),
        ('{"answer": "\'5\'"}', "'5'"),
        ('{"answer": [1, true, null]}', "[1, True, None]"),
        ('{"answer": {"a": 1}}', "{'a': 1}"),
        ('{"answer": "[\\\'a\\\']"}', "['a']"),
        ('{"answer": "f(1) == [6, 9]"}', "[6, 9]"),
        ('{"answer": "cut sho', None),
        ("assert f(1) == {\"answer\": '5'}", "{\"answer\": '5'}"),
        ("{'answer': '5'}", "{'answer': '5'}"),
        # what print shows has no quotes
        ("print(f('a'))  # Output: abc def", "'abc def'"),
        (">>> print(f('a'))\nabc def", "'abc def'"),
        ("```python\nprint(f('a'))  # call the function\n```\nThe output is `[3]`.", "[3]"),
        # a call alone is what somebody may run to check, and no value
        ("The answer is `'abc'`.\n\nTo check it:\n```python\nprint(f('x'))\n```", "'abc'"),
        ("**Output:** 5\n\n```python\nf('x')\n```", "5"),
        ("f('x')", "f('x')"),
        # labels in other languages
        ("**\u7b54\u6848\uff1a** [1, 2]", "[1, 2]"),
        ("\u6700\u7ec8\u7b54\u6848\u662f\uff1a'abc'", "'abc'"),
        ("\u51fa\u529b\uff1a 5\u3002", "5"),
        ("La funci\u00f3n devuelve una lista.\n\nRespuesta: [1, 2]", "[1, 2]"),
        ("R\u00e9sultat : {'a': 1}", "{'a': 1}"),
        ("Antwort: 5.", "5"),
        ("\u041e\u0442\u0432\u0435\u0442: 'abc'", "'abc'"),
        ("assert f('Antwort: 5') == 'Antwort: 6'", "'Antwort: 6'"),
        ("Antwort: 5\n\nassert f(1) == 6", "6"),
        # HTML and LaTeX around a value
        ("The answer is <code>'abc'</code>.", "'abc'"),
        ("<output>\n'abc'\n</output>", "'abc'"),
        ("The function returns \\(\\texttt{'abc'}\\)", "'abc'"),
        ("$\\boxed{\\{\\text{'a'}: \\text{1}\\}}$", "{'a': 1}"),
        ("So it is $\\boxed{[1,\n2]}$.", "[1,\n2]"),
        ('{"steps": "f == 2", "predicted_output": [1, 2]}', "[1, 2]"),
        # typographic quotes in place of Python's
        ("assert f(1) == \u201cabc\u201d", "'abc'"),
        # something stands there, but it is no expression
        ("[ANSWER]\nassert f(1) == 'abc\n[/ANSWER]", "assert f(1) == 'abc"),
        ("assert f(1) == ??", "assert f(1) == ??"),
        ("[ANSWER]\nIt cannot be known: 5 or 6?\n[/ANSWER]", "It cannot be known: 5 or 6?"),
        ("Hm, so:\nassert f(1) == ", "assert f(1) =="),
    ],
)
def test_output_rules(completion: str, answer: str | None) -> None:
    assert output_answer(completion) == answer


@pytest.mark.parametrize(
    ("completion", "answer"),
    [
        ("assert f('x') == 1\n\nNo, that isn't it.\n\nassert f('a') == 1", "f('a')"),
        ("assert f('a') == 1\nassert f('b') == 1", "f('a')"),  # in one run the first, as for the authors
        ("assert f('a') == 1\n\nand also\n\nassert f('b') == 2", "f('a')"),  # another value, another example
        ("assert 2 == f(1)", "f(1)"),
        ("assert f(lambda x: x == 1) == 2", "f(lambda x: x == 1)"),
        ("assert f(\n    [1],\n    2,\n) == 3", "f(\n    [1],\n    2,\n)"),
        ("print(f([1]))", "f([1])"),
        ("The function f(text) returns text, so f('a') works.", "f('a')"),
        ("def f(x):\n    return x\n\nf(3)", "f(3)"),
        ("def f(x):\n    return x", None),
        ("Let me see: my_f(3) and g.f(4).", None),
        # a call with something around it is not a call of f; the judge says so
        ("assert f([1], 'a')[0] == 2", "f([1], 'a')[0]"),
        ("sorted(f([1]))", "sorted(f([1]))"),
        ("[1, 2]", "[1, 2]"),
        ('{"answer": "[1, 2]"}', "[1, 2]"),
        ("assert f(??) == 2", "assert f(??) == 2"),
        ("So:\nassert f(1 2) == 3", "assert f(1 2) == 3"),
        ("Running it, I get:\n5 == f(1)\nas expected.", "f(1)"),
    ],
)
def test_input_rules(completion: str, answer: str | None) -> None:
    assert input_answer(completion) == answer


# Real text


def test_real_chat_completions() -> None:
    """An answer is found in at least 99 % of the completions that hold one.

    Two were cut short before their answer field was closed, and hold none.
    """
    if not CHAT_FILE.is_file():
        pytest.skip("needs the chat completions in ../shared")
    rows = [json.loads(line) for line in CHAT_FILE.read_text(encoding="utf-8").splitlines()]
    cut_short = {("sample_64", "Phi-3-mini-4k-instruct"), ("sample_671", "Phi-3-mini-4k-instruct")}
    holding = [row for row in rows if (row["id"], row["model"]) not in cut_short]
    assert len(holding) == len(rows) - 2
    found = 0
    for row in holding:
        answer = extract(row["completion"], row["direction"])
        if answer is not None:
            ast.parse(answer.strip(), mode="eval")
            found += 1
    assert found >= 0.99 * len(holding)


def test_real_chat_completions_with_plain_answers() -> None:
    """Where the JSON is valid and its answer is a literal in a string, that literal is the answer, whatever
    it is."""
    if not CHAT_FILE.is_file():
        pytest.skip("needs the chat completions in ../shared")
    checked = 0
    for line in CHAT_FILE.read_text(encoding="utf-8").splitlines():
        completion = json.loads(line)["completion"]
        try:
            field = json.loads(completion[completion.index("{") : completion.rindex("}") + 1])["answer"]
            value = ast.literal_eval(field.strip())
        except (ValueError, SyntaxError, KeyError, AttributeError):
            continue
        answer = output_answer(completion)
        assert answer is not None
        assert ast.literal_eval(answer) == value
        checked += 1
    assert checked > 200
