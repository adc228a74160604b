"""What makes a problem hard: figures read off its code and output, and the number of lines that its call executes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cruxeval_tasks import tracing
from cruxeval_tasks.judging.grammar import parse
from cruxeval_tasks.judging.judge import open_pool
from cruxeval_tasks.judging.pool import Limits
from cruxeval_tasks.problems import Problem

GROUPS = 5
"""Groups into which a figure's values are put: fewer hide a curve, more leave too few problems in each of 800."""

FEW = 8
"""Problems in a group below which a pass rate tells next to nothing."""

_AT_ONCE = 50  # problems between two steps of a progress bar

_FORKS = (ast.If, ast.IfExp, ast.comprehension, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True)
class Facts:
    """Figures about one problem.

    Attributes:
        lines: Lines of code that are not blank.
        branches: Loops, comprehensions, conditions and exception handlers in the code.
        calls: Calls in the code, of functions and methods.
        value_type: Name of the output's type.
    """

    lines: int
    branches: int
    calls: int
    value_type: str


def facts(problem: Problem) -> Facts:
    """Read a checked problem's figures off its source; nothing runs."""
    nodes = list(ast.walk(parse(problem.code, "exec")))
    return Facts(
        lines=sum(bool(line.strip()) for line in problem.code.splitlines()),
        branches=sum(isinstance(node, _FORKS) for node in nodes),
        calls=sum(isinstance(node, ast.Call) for node in nodes),
        value_type=type(ast.literal_eval(problem.output)).__name__,
    )


def executed_lines(
    problems: Sequence[Problem], *, allow_unisolated: bool = False, progress: Callable[[int], None] | None = None
) -> dict[str, int]:
    """Return for each problem's id how many lines its call on the published input executes, each line counted as often as
    a statement on it is. The calls run in confined workers. Problems whose call cannot be traced are left out.
    `progress` is told now and then how many problems more are done.

    Raises:
        IsolationError: The calls cannot be isolated here, and `allow_unisolated` was not given.
        WorkerError: Workers cannot be started.
    """
    wanted = []
    for problem in problems:
        request = tracing.traced_request(tracing.mark(problem.code), problem.code, problem.input)
        if request is not None:
            wanted.append((problem.id, request))
    found: dict[str, int] = {}
    if not wanted:
        return found
    pool, _ = open_pool(Limits(), allow_unisolated=allow_unisolated)
    try:
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            for (key, _), reply in zip(some, pool.run([request for _, request in some]), strict=True):
                run = tracing.read_run(reply)
                if isinstance(run, tracing.Run):
                    found[key] = run.statements
            if progress is not None:
                progress(len(some))
    finally:
        pool.close()
    return found


def groups(values: Mapping[str, int]) -> list[tuple[str, list[str]]]:
    """Put ids into at most `GROUPS` groups of neighbouring values, about equal in size; equal values stay together.

    Returns:
        For each group a label such as "3" or "4–6", and the ids in it.
    """
    by_value: dict[int, list[str]] = {}
    for key, value in values.items():
        by_value.setdefault(value, []).append(key)
    parts: dict[int, list[int]] = {}
    below = 0
    for value in sorted(by_value):
        number = len(by_value[value])
        middle = below + number / 2  # the rank of these problems; equal slices of the ranks are the groups
        parts.setdefault(int(GROUPS * middle / len(values)), []).append(value)
        below += number
    return [
        (
            str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}",
            [key for value in part for key in by_value[value]],
        )
        for part in parts.values()
    ]


def kinds(values: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Put ids into groups of equal values, the largest group first; groups of less than `FEW` are put together at the end."""
    by_value: dict[str, list[str]] = {}
    for key, value in values.items():
        by_value.setdefault(value, []).append(key)
    large = sorted((group for group in by_value.items() if len(group[1]) >= FEW), key=lambda group: -len(group[1]))
    small = [key for keys in by_value.values() if len(keys) < FEW for key in keys]
    return [*large, ("other", small)] if small else large
