"""What the tests that drive the real host share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.pop("CRUXEVAL_PROBLEMS", None)

import pytest
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from scripted import Reply, Scripted

import cruxeval_tasks
from cruxeval_tasks.problems import Problem, load_problems, smoke_problems

PUBLISHED = Path(__file__).parents[2] / ".." / "shared" / "cruxeval" / "cruxeval.jsonl"


@pytest.fixture(autouse=True)
def _no_environment_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host lists the machine's packages after every run, which takes longer than the run."""
    monkeypatch.setattr("lm_eval.evaluator.add_env_info", lambda results: None)


@pytest.fixture(scope="session")
def published_path() -> str:
    if not PUBLISHED.exists():
        pytest.skip(f"needs the 800 published problems in {PUBLISHED}")
    return str(PUBLISHED)


@pytest.fixture(scope="session")
def published(published_path: str) -> list[Problem]:
    return list(load_problems(published_path))


@pytest.fixture(scope="session")
def smoke() -> list[Problem]:
    return list(smoke_problems())


def run(task: str, model: Scripted, metadata: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    """Run one task or group in the real host, and return what the host returns."""
    manager = TaskManager(include_path=cruxeval_tasks.TASK_CONFIGS, include_defaults=False, metadata=metadata)
    results = simple_evaluate(model=model, tasks=[task], task_manager=manager, bootstrap_iters=0, **options)
    assert results is not None
    return results


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
