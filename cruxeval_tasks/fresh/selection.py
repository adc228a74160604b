"""Which candidates become fresh problems: the filters, and the search for enough that pass."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from cruxeval_tasks import tracing
from cruxeval_tasks.fresh import mutation
from cruxeval_tasks.judging.grammar import parse
from cruxeval_tasks.judging.pool import Limits, Pool
from cruxeval_tasks.problems import Problem
from cruxeval_tasks.tracing import Run

MIN_OVERLAP = 1 / 3
"""Smallest overlap of executed lines (`overlap`) that counts as about the same path: that of a function which tests
and then returns one of two things, when it goes the other way. Such a function has no other output to give."""

MAX_OUTPUT = 50
MAX_INPUT = 128
"""Longest output and input, in characters of source: those of the published problems. An original that is longer itself
may have successors of its own length."""

LIMITS = Limits(user_seconds=0.25, cpu_seconds=2.0)
"""The benchmark allows a call 2 seconds. What computes for longer than a quarter of one has executed `MAX_STATEMENTS`
or never ends, and the search meets many of these."""

OTHER_HASH_SEEDS = (1, 2, 3, 4, 5, 6, 7)
"""Hash seeds under which an output must be the same, letter by letter, as twice under seed 0, in which the search runs.
So many because two members of a set come out in the same order by chance every other time."""

_BATCH = 24  # candidates of a problem that are tried at a time
_ROUNDS = 12
_MAX_ENDLESS = 5  # candidates that never end, each of which costs a worker, after which a search is given up
_SPARE = 2  # candidates confirmed beyond those that are wanted


@dataclass(frozen=True)
class Fresh:
    """A fresh problem, how its function ran, and how much of the original's path it took (0 to 1)."""

    problem: Problem
    run: Run
    overlap: float


@dataclass
class Outcome:
    """What was found for one problem.

    Attributes:
        original: The problem.
        run: How its function runs on the original input; None where it could not be traced.
        fresh: The problems made from it, the nearest first.
        rejected: How many candidates were turned down for which reason.
        why: Why fewer than wanted were found; empty where enough were.
    """

    original: Problem
    run: Run | None = None
    fresh: list[Fresh] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    why: str = ""


@dataclass
class _Search:
    outcome: Outcome
    marked: tracing.Marked
    arguments: Iterator[str]
    exhausted: bool = False

    @property
    def ended(self) -> bool:
        return self.exhausted or self.outcome.rejected["takes too long"] >= _MAX_ENDLESS


@dataclass(frozen=True)
class _Candidate:
    arguments: str
    output: str
    run: Run
    overlap: float
    distance: float


def make_fresh(
    problems: Sequence[Problem],
    seed: int,
    per_problem: int,
    pool: Pool,
    progress: Callable[[int], None] | None = None,
) -> list[Outcome]:
    """Look for `per_problem` fresh problems for each problem.

    Args:
        problems: The originals.
        seed: Equal seeds give equal results.
        per_problem: Number wanted of each.
        pool: Runs the functions, with hash seed 0. It is left open.
        progress: Is told how many more problems are settled.

    Raises:
        WorkerError: Workers cannot be started or keep being ended from outside.
    """
    others = [pool.reseeded(hash_seed) for hash_seed in OTHER_HASH_SEEDS]
    try:
        outcomes = [Outcome(problem) for problem in problems]
        searches = _begin(outcomes, seed, pool)
        left = len(outcomes)
        for _ in range(_ROUNDS):
            if progress is not None:
                progress(left - len(searches))
            left = len(searches)
            if not searches:
                break
            _search(searches, per_problem, [pool, *others])
            searches = [s for s in searches if len(s.outcome.fresh) < per_problem and not s.ended]
    finally:
        for other in others:
            other.close()
    for outcome in outcomes:
        if not outcome.why and len(outcome.fresh) < per_problem:
            outcome.why = _why(outcome.rejected)
    return outcomes


def _begin(outcomes: list[Outcome], seed: int, pool: Pool) -> list[_Search]:
    """Run the originals, and return a search for each that there can be a fresh problem for."""
    searches, requests = [], []
    for outcome in outcomes:
        problem = outcome.original
        if unused := unused_parameter(problem.code):
            outcome.why = f"the function does not use its argument `{unused}`"
            continue
        marked = tracing.mark(problem.code)
        request = tracing.traced_request(marked, problem.code, problem.input)
        if request is None:
            outcome.why = "the original call is not admissible as an input answer"
            continue
        arguments = mutation.candidates(problem.code, problem.input, f"{seed}:{problem.id}")
        searches.append(_Search(outcome, marked, arguments))
        requests.append(request)
    for search, reply in zip(searches, pool.run(requests), strict=True):
        run = tracing.read_run(reply)
        if isinstance(run, Run):
            search.outcome.run = run
        else:
            search.outcome.why = f"the original call {run}"
    return [search for search in searches if search.outcome.run is not None]


def _search(searches: list[_Search], wanted: int, pools: list[Pool]) -> None:
    """Try the next candidates of each search, and add to its outcome the nearest of those that pass."""
    tried, requests = [], []
    for search in searches:
        batch = list(islice(search.arguments, _BATCH))
        search.exhausted = len(batch) < _BATCH
        for arguments in batch:
            request = tracing.traced_request(search.marked, search.outcome.original.code, arguments)
            if request is None:
                search.outcome.rejected["not admissible as an input answer"] += 1
            else:
                tried.append((search, arguments))
                requests.append(request)
    passed: dict[int, list[_Candidate]] = {}
    for (search, arguments), reply in zip(tried, pools[0].run(requests), strict=True):
        judged = _judge(search.outcome, arguments, tracing.read_run(reply))
        if isinstance(judged, str):
            search.outcome.rejected[judged] += 1
        else:
            passed.setdefault(id(search), []).append(judged)

    ranked = []
    for search in searches:
        # The sort keeps the order of what is equally near.
        nearest = sorted(passed.get(id(search), []), key=lambda candidate: candidate.distance)
        missing = wanted - len(search.outcome.fresh)
        ranked += [(search.outcome, candidate) for candidate in nearest[: missing + _SPARE]]
    steady = _steady([(outcome.original.code, candidate) for outcome, candidate in ranked], pools)
    for (outcome, candidate), is_steady in zip(ranked, steady, strict=True):
        if not is_steady:
            outcome.rejected["output differs from run to run"] += 1
        elif len(outcome.fresh) < wanted:
            original = outcome.original
            name = f"{original.id}+fresh{len(outcome.fresh) + 1}"
            problem = Problem(name, original.code, candidate.arguments, candidate.output)
            outcome.fresh.append(Fresh(problem, candidate.run, candidate.overlap))


def _steady(candidates: list[tuple[str, _Candidate]], pools: list[Pool]) -> list[bool]:
    """Return which candidates have the same output again, without marks in the code, under every hash seed."""
    calls = [tracing.untraced_request(code, candidate.arguments) for code, candidate in candidates]
    requests = [request for request in calls if request is not None]
    steady = [True] * len(candidates)
    for pool in pools:
        for number, ((_, candidate), reply) in enumerate(zip(candidates, pool.run(requests), strict=True)):
            if reply.kind != "value" or literal(reply.body) != candidate.output:
                steady[number] = False
    return steady


def _judge(outcome: Outcome, arguments: str, run: Run | str) -> _Candidate | str:
    """Apply the filters that one run decides. Return the candidate, or why it is turned down."""
    original, before = outcome.original, outcome.run
    assert before is not None
    if isinstance(run, str):
        return run
    output = literal(run.value)
    if output is None:
        return "output is no literal"
    if len(output) > max(MAX_OUTPUT, len(original.output)):
        return "output too long"
    if len(arguments) > max(MAX_INPUT, len(original.input)):
        return "input too long"
    if run.value == before.value:
        return "output is the original's"
    if is_empty(run.value) and not is_empty(before.value):
        return "output is empty, the original's is not"
    if returns_argument(arguments, run.value) and not returns_argument(original.input, before.value):
        return "returns an argument unchanged, the original does not"
    share = overlap(before.lines, run.lines)
    if share < MIN_OVERLAP:
        return "takes another path"
    distance = (
        1 - share
        + (type(run.value) is not type(before.value))
        + _difference(len(output), len(original.output))
        + _difference(len(arguments), len(original.input))
    )  # fmt: skip
    # Rounded, so that among about equally near ones chance decides and not the smallest change.
    return _Candidate(arguments, output, run, share, round(distance, 1))


def overlap(a: frozenset[int], b: frozenset[int]) -> float:
    """Return the Jaccard overlap of two sets of executed lines: how many are in both, of those that are in either."""
    return len(a & b) / len(a | b) if a | b else 1.0


def is_empty(value: object) -> bool:
    """Return whether a result holds nothing: None, or a string or container without items."""
    return value is None or (isinstance(value, (str, bytes, list, tuple, dict, set, frozenset)) and not value)


def returns_argument(arguments: str, value: object) -> bool:
    """Return whether a result is a string or container that was among the arguments, as it was.

    Numbers and truth values do not count: there are so few small ones that they agree by chance.
    """
    if not isinstance(value, (str, bytes, list, tuple, dict, set)):
        return False
    call = parse(f"f({arguments}\n)", "eval")
    assert isinstance(call, ast.Expression)
    assert isinstance(call.body, ast.Call)
    for node in [*call.body.args, *(keyword.value for keyword in call.body.keywords)]:
        try:
            argument = ast.literal_eval(node)
        except (ValueError, TypeError):  # no literal, or one that raises
            continue
        if type(argument) is type(value) and argument == value:
            return True
    return False


def unused_parameter(code: str) -> str:
    """Return the first parameter of `f` that its body never names, or an empty string."""
    tree = parse(code, "exec")
    assert isinstance(tree, ast.Module)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "f"]
    if not functions:
        return ""
    function = functions[-1]
    a = function.args
    parameters = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
    parameters += [a.kwarg] if a.kwarg else []
    names = {node.id for statement in function.body for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return next((p.arg for p in parameters if p.arg not in names), "")


def literal(value: Any) -> str | None:
    """Return the source of a literal that equals `value`, the same for equal sets, or None where there is none."""
    try:
        text = _write(value)
        read = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
    return text if type(read) is type(value) and read == value else None


def _write(value: Any) -> str:
    kind = type(value)
    if kind in (list, tuple):
        parts = [_write(item) for item in value]
        if kind is list:
            return f"[{', '.join(parts)}]"
        return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    if kind is dict:
        return f"{{{', '.join(f'{_write(key)}: {_write(item)}' for key, item in value.items())}}}"
    if kind is set:
        try:
            members = sorted(value)
        except TypeError:  # of several types
            members = sorted(value, key=lambda member: (type(member).__name__, _write(member)))
        return f"{{{', '.join(map(_write, members))}}}" if members else "set()"
    if value is None or kind in (bool, int, float, complex, str, bytes):
        return repr(value)
    raise ValueError(f"no literal gives a {kind.__name__}")


def _difference(a: int, b: int) -> float:
    """Return how much two sizes differ, from 0 to 1."""
    return abs(a - b) / max(a, b, 1)


def _why(rejected: Counter[str]) -> str:
    tried = sum(rejected.values())
    if not tried:
        return "the arguments hold no literal to change"
    reasons = ", ".join(f"{count} × {reason}" for reason, count in rejected.most_common())
    return f"{tried} candidates turned down: {reasons}"


def fresh_origin(problem_id: str) -> str | None:
    """Return the id of the problem that a fresh one was made from, or None for an id of another form."""
    found = re.fullmatch(r"(.+)\+fresh[1-9][0-9]*", problem_id, re.DOTALL)
    return found[1] if found else None
