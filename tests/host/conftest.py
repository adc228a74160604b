"""Fixtures of the tests that drive the real host."""

from __future__ import annotations

import os
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import pytest

from cruxeval_tasks.problems import Problem, load_problems, smoke_problems

PUBLISHED = Path(__file__).parents[2] / ".." / "shared" / "cruxeval" / "cruxeval.jsonl"


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No problem set from outside, and no list of the machine's packages after a run, which takes longer than it."""
    monkeypatch.delenv("CRUXEVAL_PROBLEMS", raising=False)
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
