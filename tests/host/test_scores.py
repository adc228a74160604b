"""The scores that the real host reports for completions whose scores are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from driver import by_question, gold, run
from scripted import Scripted

from cruxeval_tasks.problems import Problem

PROSE = "I am sorry, but I do not know what this function is for."


def wrong_value(p: Problem) -> str:
    return f"assert f({p.input}) == 'no function here returns this'\n[/ANSWER]"


def wrong_call(p: Problem) -> str:
    """A call with more arguments than any function here takes."""
    return f"assert f({', '.join('0' * 20)}) == {p.output}\n[/ANSWER]"


WRONG = {"o": wrong_value, "i": wrong_call}


def score(
    direction: str, problems: list[Problem], task: str, complete: Callable[[Problem], str], **kw: Any
) -> tuple[float, float]:
    """Return `pass@1` and `answered` of a run in which every problem is completed with `complete(problem)`."""
    results = run(task, Scripted(by_question(problems, direction, complete)), log_samples=False, **kw)
    assert results["n-samples"][task]["effective"] == kw.get("limit", len(problems))
    metrics = results["results"][task]
    return metrics["pass@1,answer"], metrics["answered,answer"]


@pytest.mark.parametrize("direction", ["o", "i"])
class TestScores:
    def test_smoke_problems(self, direction: str, smoke: list[Problem]) -> None:
        task = f"cruxeval_{direction}_smoke"
        assert score(direction, smoke, task, gold) == (1.0, 1.0)
        assert score(direction, smoke, task, WRONG[direction]) == (0.0, 1.0)
        assert score(direction, smoke, task, lambda _: PROSE) == (0.0, 0.0)

    def test_published_problems(self, direction: str, published: list[Problem], published_path: str) -> None:
        task = f"cruxeval_{direction}"
        metadata = {"problems": published_path}
        assert len(published) == 800
        assert score(direction, published, task, gold, metadata=metadata) == (1.0, 1.0)
        assert score(direction, published, task, WRONG[direction], metadata=metadata, limit=100) == (0.0, 1.0)
        assert score(direction, published, task, lambda _: PROSE, metadata=metadata, limit=100) == (0.0, 0.0)


def test_group_reports_each_direction_and_their_mean(smoke: list[Problem]) -> None:
    outputs = by_question(smoke, "o", gold)
    inputs = by_question(smoke, "i", wrong_call)

    def reply(question: str, asked: int) -> str:
        script = inputs if question.rsplit("\n", 1)[1].startswith("assert f(??)") else outputs
        return script(question, asked)

    results = run("cruxeval_smoke", Scripted(reply), log_samples=False)["results"]
    # Host 0.5 puts the name of the group before the name of a task in it.
    metrics = {name.removeprefix("cruxeval_smoke::"): values for name, values in results.items()}
    assert metrics["cruxeval_o_smoke"]["pass@1,answer"] == 1.0
    assert metrics["cruxeval_i_smoke"]["pass@1,answer"] == 0.0
    assert metrics["cruxeval_smoke"]["pass@1,answer"] == 0.5
    assert metrics["cruxeval_smoke"]["answered,answer"] == 1.0
