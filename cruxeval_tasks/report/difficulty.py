"""What makes a problem hard: figures read off its code and output, and the number of lines that its call executes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cruxeval_tasks.fresh import tracing
from cruxeval_tasks.judging.grammar import parse
from cruxeval_tasks.judging.judge import open_pool
from cruxeval_tasks.judging.pool import Limits
from cruxeval_tasks.problems import Problem

GROUPS = 5
"""Groups into which a figure's values are put: fewer hide a curve, more leave too few problems in each of 800."""

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


def executed_lines(problems: Sequence[Problem], *, allow_unisolated: bool = False) -> dict[str, int]:
    """Return for each problem's id how many lines its call on the published input executes, each line counted as often as
    a statement on it is. The calls run in confined workers. Problems whose call cannot be traced are left out.

    Raises:
        IsolationError: The calls cannot be isolated here, and `allow_unisolated` was not given.
        WorkerError: Workers cannot be started.
    """
    wanted = []
    for problem in problems:
        request = tracing.traced_request(tracing.mark(problem.code), problem.code, problem.input)
        if request is not None:
            wanted.append((problem.id, request))
    if not wanted:
        return {}
    pool, _ = open_pool(Limits(), allow_unisolated=allow_unisolated)
    try:
        replies = pool.run([request for _, request in wanted])
    finally:
        pool.close()
    runs = {key: tracing.read_run(reply) for (key, _), reply in zip(wanted, replies, strict=True)}
    return {key: run.statements for key, run in runs.items() if isinstance(run, tracing.Run)}


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
        (str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}", [key for value in part for key in by_value[value]])
        for part in parts.values()
    ]


def kinds(values: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Put ids into groups of equal values, the largest group first."""
    by_value: dict[str, list[str]] = {}
    for key, value in values.items():
        by_value.setdefault(value, []).append(key)
    return sorted(by_value.items(), key=lambda group: -len(group[1]))
