"""Figures of problems, against counts made by hand."""

from __future__ import annotations

import pytest

from cruxeval_tasks.problems import Problem
from cruxeval_tasks.report.difficulty import FEW, GROUPS, Facts, executed_lines, facts, groups, kinds

LOOP = Problem(
    "loop",
    """\
def f(items):
    total = 0

    for item in items:
        if item > 1:
            total += max(item, 2)
    return str(total)
""",
    "[1, 2, 3]",
    "'5'",
)


@pytest.mark.parametrize(
    ("code", "output", "expected"),
    [
        (LOOP.code, LOOP.output, Facts(lines=6, branches=2, calls=2, value_type="str")),
        ("def f(x):\n    return x", "{1: 2}", Facts(2, 0, 0, "dict")),
        ("def f(x):\n    return [a.lower() for a in x if a] if x else None", "None", Facts(2, 2, 1, "NoneType")),
        ("def f(x):\n    while x:\n        try:\n            x.pop()\n        except KeyError:\n            pass\n", "()",
         Facts(6, 2, 1, "tuple")),
    ],
)  # fmt: skip
def test_facts(code: str, output: str, expected: Facts) -> None:
    assert facts(Problem("p", code, "1", output)) == expected


def test_executed_lines_counts_each_time() -> None:
    # total, for (once: the statement), if three times, += twice, return
    assert executed_lines([LOOP]) == {"loop": 1 + 1 + 3 + 2 + 1}


def test_a_call_that_cannot_be_traced_is_left_out() -> None:
    endless = Problem("endless", "def f(x):\n    while True:\n        x += 1", "1", "2")
    assert executed_lines([endless, LOOP]) == {"loop": 8}
    assert executed_lines([]) == {}


def test_progress_adds_up() -> None:
    steps: list[int] = []
    executed_lines(
        [Problem(f"p{n}", "def f(x):\n    return x", str(n), str(n)) for n in range(70)], progress=steps.append
    )
    assert sum(steps) == 70
    assert len(steps) > 1


def test_groups_of_distinct_values_are_equal_in_size() -> None:
    made = groups({f"p{n}": n for n in range(50)})
    assert [label for label, _ in made] == ["0–9", "10–19", "20–29", "30–39", "40–49"]
    assert [len(keys) for _, keys in made] == [10] * GROUPS


def test_groups_keep_equal_values_together_and_lose_none() -> None:
    values = {f"p{n}": 3 if n < 90 else n for n in range(100)}
    made = groups(values)
    assert made[0] == ("3", [f"p{n}" for n in range(90)])
    assert sorted(key for _, keys in made for key in keys) == sorted(values)
    assert len(made) <= GROUPS


def test_one_value_is_one_group() -> None:
    assert groups({"a": 7, "b": 7}) == [("7", ["a", "b"])]


def test_rare_kinds_are_put_together_at_the_end() -> None:
    values = {
        **{f"s{n}": "str" for n in range(FEW)},
        **{f"l{n}": "list" for n in range(FEW + 1)},
        "b": "bytes",
        "f": "float",
    }
    made = kinds(values)
    assert [(label, len(keys)) for label, keys in made] == [("list", FEW + 1), ("str", FEW), ("other", 2)]
