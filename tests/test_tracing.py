from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cruxeval_tasks import tracing
from cruxeval_tasks.fresh.selection import LIMITS
from cruxeval_tasks.judging.judge import open_pool
from cruxeval_tasks.judging.pool import Pool
from cruxeval_tasks.tracing import Run

PUBLISHED = Path(__file__).parents[1] / ".." / "shared" / "cruxeval" / "cruxeval.jsonl"


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = open_pool(LIMITS, workers=1)[0]
    yield pool
    pool.close()


def trace(pool: Pool, code: str, arguments: str) -> Run | str:
    request = tracing.traced_request(tracing.mark(code), code, arguments)
    assert request is not None
    return tracing.read_run(pool.run([request])[0])


BRANCHES = """def f(x):
    'A docstring.'
    if x > 10:
        return 'big'
    elif x > 5:
        y = 1; x += y
    else:
        for i in range(x): y = i
    return x
"""

NESTED = '''import math
SIZE = 3
@staticmethod
def g(x): return x + 1
def f(items):
    text = """a
    b"""; n = 0
    @staticmethod
    def h(v):
        return v
    try:
        while items:
            n += h(items.pop())
            if n > SIZE: break
        else:
            return n
    except TypeError:
        with open: pass
    return (n,
            text)
'''


@pytest.mark.parametrize(
    ("code", "arguments", "value", "lines", "statements"),
    [
        # Counted by hand from the text above.
        (BRANCHES, "11", "big", {2, 3, 4}, 3),
        (BRANCHES, "6", 7, {2, 3, 6, 9}, 5),  # an elif has no mark of its own; two statements on line 6
        (BRANCHES, "2", 2, {2, 3, 8, 9}, 6),  # for, and its body twice, on line 8
        (NESTED, "[1, 1]", 2, {6, 7, 9, 10, 11, 12, 13, 14, 16}, 12),
        (NESTED, "[9, 1, 4]", (4, "a\n    b"), {6, 7, 9, 10, 11, 12, 13, 14, 19}, 10),  # stops after one
        ("def f(x): return [y for y in x]", "[1]", [1], {1}, 1),
        ("def f(n):\n    return 1 if n < 1 else n * f(n - 1)", "3", 6, {2}, 4),
        ("def f(x):\r\n    x += 1\r\n    return x\r\n", "1", 2, {2, 3}, 2),
        ("def f(x):\n\ty = 'é'; x += 1\n\treturn x", "1", 2, {2, 3}, 3),
        ("def f(x):\n    cruxeval_trace = x\n    return cruxeval_trace", "1", 1, {2, 3}, 2),
    ],
)
def test_lines_and_statements(
    pool: Pool, code: str, arguments: str, value: object, lines: set[int], statements: int
) -> None:
    assert trace(pool, code, arguments) == Run(value, frozenset(lines), statements)


def test_two_calls_do_not_see_each_other(pool: Pool) -> None:
    code = "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)"
    assert trace(pool, code, "1") == trace(pool, code, "1") == Run(1, frozenset({2, 3}), 2)


@pytest.mark.parametrize(
    ("code", "arguments", "why"),
    [
        ("def f(x):\n    return x[0]", "[]", "raises an exception"),
        ("def f(x):\n    while True:\n        x += 1", "1", "too many steps"),
        (
            "def f(x):\n    while True:\n        try:\n            x += 1\n        except Exception: pass",
            "1",
            "too many steps",
        ),
        ("def f(x):\n    while x: pass", "1", "too many steps"),
        ("def f(x):\n    return sum(range(x))", "10 ** 12", "takes too long"),
        ("def f(x):\n    return x * 10 ** 5", "'x'", "output too long"),
    ],
)
def test_calls_without_a_value(pool: Pool, code: str, arguments: str, why: str) -> None:
    assert trace(pool, code, arguments) == why


def test_a_call_that_an_answer_may_not_make_gives_no_request() -> None:
    code = "def f(x):\n    return x"
    assert tracing.traced_request(tracing.mark(code), code, "open('x')") is None
    assert tracing.untraced_request(code, "__import__('os')") is None


def test_marks_change_no_value(pool: Pool) -> None:
    """All published functions return with the marks what they are stated to return without."""
    if not PUBLISHED.exists():
        pytest.skip(f"needs the 800 published problems in {PUBLISHED}")
    rows = [json.loads(line) for line in PUBLISHED.read_text().splitlines()]
    requests = [tracing.traced_request(tracing.mark(row["code"]), row["code"], row["input"]) for row in rows]
    replies = pool.run([request for request in requests if request is not None])
    assert len(replies) == 800
    for row, reply in zip(rows, replies, strict=True):
        run = tracing.read_run(reply)
        assert isinstance(run, Run), row["id"]
        assert run.value == eval(row["output"]), row["id"]  # a literal of the benchmark's
        assert run.lines, row["id"]
        assert all(1 < line <= row["code"].count("\n") + 1 for line in run.lines), row["id"]
