from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import pytest

from cruxeval_tasks import tracing
from cruxeval_tasks.fresh import literals, mutation, selection
from cruxeval_tasks.fresh.selection import LIMITS, Outcome, make_fresh
from cruxeval_tasks.judging.judge import Check, Judge, open_pool
from cruxeval_tasks.judging.pool import Pool
from cruxeval_tasks.problems import Problem, smoke_problems
from cruxeval_tasks.tracing import Run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with closing(open_pool(LIMITS, workers=1)[0]) as pool:
        yield pool


Search = Callable[..., list[Outcome]]


@pytest.fixture(scope="module")
def search(pool: Pool) -> Search:
    def made(*problems: Problem, wanted: int = 1, seed: int = 0) -> list[Outcome]:
        return make_fresh(problems, seed, wanted, pool)

    return made


@pytest.fixture(scope="module")
def smoke(search: Search) -> list[Outcome]:
    return search(*list(smoke_problems())[:25], wanted=2)


class TestWhatIsKept:
    def test_most_functions_have_fresh_problems(self, smoke: list[Outcome]) -> None:
        assert sum(len(outcome.fresh) == 2 for outcome in smoke) >= 23

    def test_the_code_returns_the_output(self, smoke: list[Outcome]) -> None:
        problems = [fresh.problem for outcome in smoke for fresh in outcome.fresh]
        checks = [Check("input", code=p.code, output=p.output, answer=f"f({p.input})") for p in problems]
        with Judge(workers=1) as judge:
            assert all(verdict.passed for verdict in judge.judge(checks))

    def test_an_answer_from_memory_is_wrong(self, smoke: list[Outcome]) -> None:
        checks = []
        for outcome in smoke:
            for fresh in outcome.fresh:
                old, new = outcome.original, fresh.problem
                checks.append(Check("output", code=new.code, output=new.output, answer=old.output))
                checks.append(Check("input", code=new.code, output=new.output, answer=f"f({old.input})"))
        with Judge(workers=1) as judge:
            assert not any(verdict.passed for verdict in judge.judge(checks))

    def test_ids_code_and_bounds(self, smoke: list[Outcome]) -> None:
        for outcome in smoke:
            ids = [fresh.problem.id for fresh in outcome.fresh]
            assert ids == [f"{outcome.original.id}+fresh{n}" for n in range(1, len(ids) + 1)]
            assert len({fresh.problem.input for fresh in outcome.fresh}) == len(ids)
            for fresh in outcome.fresh:
                assert fresh.problem.code == outcome.original.code
                assert len(fresh.problem.output) <= 50
                assert len(fresh.problem.input) <= 128
                assert 1 / 3 <= fresh.overlap <= 1
                ast.literal_eval(fresh.problem.output)

    def test_equal_seeds_give_equal_problems_whatever_else_is_searched(
        self, smoke: list[Outcome], search: Search
    ) -> None:
        (alone,) = search(smoke[3].original, wanted=2)
        assert [fresh.problem for fresh in alone.fresh] == [fresh.problem for fresh in smoke[3].fresh]
        (other,) = search(smoke[3].original, wanted=2, seed=1)
        assert [fresh.problem for fresh in other.fresh] != [fresh.problem for fresh in smoke[3].fresh]


CONSTANT = Problem("c", "def f(x):\n    x = 1\n    return x", "5", "1")
UNUSED = Problem("u", "def f(x, y):\n    return x", "5, 6", "5")
NO_LITERAL = Problem("n", "def f():\n    return 1", "", "1")
BY_HASH = Problem("h", "def f(x):\n    return list(set(x))[0]", "['only']", "'only'")
ENDLESS = Problem("e", "def f(x):\n    while x: x = x\n    return x", "0", "0")
SLOW = Problem("s", "def f(x):\n    return sum(range(10 ** 12)) if x else x", "0", "0")


class TestWhatIsNot:
    @pytest.mark.parametrize(
        ("problem", "why"),
        [
            (CONSTANT, "output is the original's"),
            (UNUSED, "the function does not use its argument `y`"),
            (NO_LITERAL, "the arguments hold no literal to change"),
            (ENDLESS, "too many steps"),
            (SLOW, "takes too long"),
        ],
    )
    def test_is_listed_with_why(self, problem: Problem, why: str, search: Search) -> None:
        (outcome,) = search(problem)
        assert outcome.fresh == []
        assert why in outcome.why

    def test_an_output_that_hangs_on_the_hash_seed(self, monkeypatch: pytest.MonkeyPatch, search: Search) -> None:
        fixed(monkeypatch, ["['a', 'b', 'c', 'd']", "['steady']"])
        (outcome,) = search(BY_HASH)
        assert outcome.rejected == {"output differs from run to run": 1}
        assert [fresh.problem.output for fresh in outcome.fresh] == ["'steady'"]

    def test_several_wanted_and_fewer_found(self, search: Search) -> None:
        (outcome,) = search(Problem("t", "def f(x):\n    return not x", "True", "False"), wanted=3)
        assert [(fresh.problem.input, fresh.problem.output) for fresh in outcome.fresh] == [("False", "True")]
        assert outcome.why

    def test_progress_ends_at_the_number_of_problems(self, pool: Pool) -> None:
        told: list[int] = []
        make_fresh([CONSTANT, UNUSED, smoke_problems().problems[0]], 0, 1, pool, told.append)
        assert sum(told) <= 3
        assert told[0] == 1  # the one that is not searched at all


def fixed(monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str]) -> None:
    """Make these the only candidates."""

    def given(code: str, original: str, seed: str) -> Iterator[str]:
        yield from arguments

    monkeypatch.setattr(mutation, "candidates", given)


ECHO = Problem("p", "def f(x, y):\n    if y:\n        return x\n    return [x, y]", "'ab', 0", "['ab', 0]")
LONG = "x" * 60


class TestFilters:
    @pytest.mark.parametrize(
        ("problem", "arguments", "why"),
        [
            (ECHO, "'ab', False", "output is the original's"),  # equal, and 0 and False are
            (ECHO, "'ab', 1", "returns an argument unchanged, the original does not"),
            (ECHO, "'', 2", "output is empty, the original's is not"),
            (ECHO, "None, 2", "output is empty, the original's is not"),
            (ECHO, f"'{LONG}', 0", "output too long"),
            (ECHO, "'cd', [], 3", "raises an exception"),
            (ECHO, "(lambda: 0), 1", "output is no literal"),
            (ECHO, "open('x'), 1", "not admissible as an input answer"),
        ],
    )
    def test_turned_down(
        self, problem: Problem, arguments: str, why: str, monkeypatch: pytest.MonkeyPatch, search: Search
    ) -> None:
        fixed(monkeypatch, [arguments])
        (outcome,) = search(problem)
        assert outcome.fresh == []
        assert outcome.rejected == {why: 1}

    def test_another_path(self, monkeypatch: pytest.MonkeyPatch, search: Search) -> None:
        code = "def f(x):\n    if x < 5:\n        return x\n    x += 1\n    x += 2\n    x += 3\n    return x"
        fixed(monkeypatch, ["9", "4"])
        (outcome,) = search(Problem("p", code, "3", "3"))
        assert outcome.rejected == {"takes another path": 1}
        assert [fresh.problem.input for fresh in outcome.fresh] == ["4"]

    def test_the_nearest_is_taken(self, monkeypatch: pytest.MonkeyPatch, search: Search) -> None:
        code = "def f(x):\n    if x[0] == 'a':\n        x = x[1:]\n    return x + '!'"
        fixed(monkeypatch, ["'bcd'", "'axyzuvwxyzuvwxyz'", "'ayz'"])
        (outcome,) = search(Problem("p", code, "'abc'", "'bc!'"))
        (fresh,) = outcome.fresh
        assert (fresh.problem.input, fresh.problem.output, fresh.overlap) == ("'ayz'", "'yz!'", 1.0)

    def test_what_is_trivial_already_may_stay_so(self, monkeypatch: pytest.MonkeyPatch, search: Search) -> None:
        fixed(monkeypatch, ["'cd', 1"])
        (outcome,) = search(Problem("p", ECHO.code, "'ab', 1", "'ab'"))
        assert [fresh.problem.output for fresh in outcome.fresh] == ["'cd'"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({3, 1, 2}, "{1, 2, 3}"),
        ({"b", 1, "a", (2,)}, "{1, 'a', 'b', (2,)}"),
        (set(), "set()"),
        ([(1,), (), {"k": {2, 1}}], "[(1,), (), {'k': {1, 2}}]"),
        (b"x", "b'x'"),
        (-1.5, "-1.5"),
        (None, "None"),
        (float("nan"), None),
        (float("inf"), None),
        ([float("-inf")], None),
        (frozenset({1}), None),
        (bytearray(b"x"), None),
        ([...], None),
        (int, None),
    ],
)
def test_literal(value: object, text: str | None) -> None:
    assert selection.literal(value) == text


def test_overlap_is_what_both_have_of_what_either_has() -> None:
    assert selection.overlap(frozenset({1, 2, 3}), frozenset({2, 3, 4, 5})) == 2 / 5
    assert selection.overlap(frozenset({1}), frozenset({1})) == 1
    assert selection.overlap(frozenset({1}), frozenset({2})) == 0


@pytest.mark.parametrize(
    ("code", "unused"),
    [
        ("def f(a, b):\n    return a + b", ""),
        ("def f(a, b):\n    return a", "b"),
        ("def f(a, *b, c=1, **d):\n    return a, b, c", "d"),
        ("def f(a):\n    return lambda: a", ""),
        ("def g(a):\n    return 1\ndef f(b):\n    return g(b)", ""),
    ],
)
def test_unused_parameter(code: str, unused: str) -> None:
    assert selection.unused_parameter(code) == unused


def test_origin() -> None:
    assert selection.fresh_origin("sample_17+fresh1") == "sample_17"
    assert selection.fresh_origin("sample_17+fresh12") == "sample_17"
    assert selection.fresh_origin("sample_17+fresh1+fresh2") == "sample_17+fresh1"
    for other in ("sample_17", "sample_17+fresh", "sample_17+fresh0", "+fresh1", "sample_17+fresh1x"):
        assert selection.fresh_origin(other) is None


def test_returned_arguments() -> None:
    returns: Callable[[str, object], bool] = selection.returns_argument
    assert returns("[1], 'a'", [1])
    assert returns("x={1, 2}", {2, 1})
    assert not returns("[1], 'a'", (1,))
    assert not returns("5", 5)  # numbers agree by chance
    assert not returns("lambda: [1]", [1])


def test_workers_with_another_hash_seed_order_strings_in_a_set_otherwise(pool: Pool) -> None:
    """Or the check over hash seeds would be none."""
    code = "def f(x):\n    return list(x)"
    call = "{'a', 'b', 'c', 'd', 'e', 'f', 'g'}"
    orders = set()
    for hash_seed in (0, *selection.OTHER_HASH_SEEDS[:2]):
        request = tracing.traced_request(tracing.mark(code), code, call)
        assert request is not None
        with closing(pool.reseeded(hash_seed)) as other:
            run = tracing.read_run(other.run([request])[0])
        assert isinstance(run, Run)
        assert sorted(run.value) == list("abcdefg")
        orders.add(tuple(run.value))
    assert len(orders) > 1


def test_modules_need_the_standard_library_only() -> None:
    """So that the same seed can be compared over Pythons that have nothing installed."""
    for name in (literals, mutation, tracing, selection):
        for node in ast.walk(ast.parse(inspect.getsource(name))):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for module in modules:
                assert module.split(".")[0] in {
                    "__future__", "ast", "cruxeval_tasks", "collections", "dataclasses", "itertools", "random", "re",
                    "string", "typing",
                }, (name.__name__, module)  # fmt: skip
