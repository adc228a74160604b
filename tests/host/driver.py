"""What the tests that drive the real host share: running it, and scripts for the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from scripted import Reply, Scripted

import cruxeval_tasks
from cruxeval_tasks.problems import Problem

STYLES = [f"cruxeval_{direction}{style}" for style in ("", "_cot", "_chat") for direction in "oi"]
"""The tasks with a prompt of their own that are not the authors'."""


def run(task: str, model: Scripted | str, metadata: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """Run one task or group in the real host, and return what the host returns."""
    manager = TaskManager(include_path=cruxeval_tasks.TASK_CONFIGS, include_defaults=False, metadata=metadata)
    results = simple_evaluate(model=model, tasks=[task], task_manager=manager, **{"bootstrap_iters": 0, **options})
    return results or {}  # nothing on ranks other than the first


def question(p: Problem, direction: str) -> str:
    call, value = (p.input, "??") if direction == "o" else ("??", p.output)
    return f"{p.code}\nassert f({call}) == {value}"


def gold(p: Problem) -> str:
    """A right completion, after which the model goes on as base models do."""
    return f"assert f({p.input}) == {p.output}\n[/ANSWER]\n\n[PYTHON]\ndef f(x):\n    return x"


def question_and_gold(problems: list[Problem], direction: str) -> list[tuple[str, str]]:
    return [(question(p, direction), gold(p)) for p in problems]


def by_question(problems: list[Problem], direction: str, complete: Callable[[Problem], str]) -> Reply:
    """Return a script that completes the question about each problem with `complete(problem)`."""
    replies = {question(p, direction): complete(p) for p in problems}
    return lambda asked, _: replies[asked]
