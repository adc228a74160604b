"""What the real host logs, scored again from the log by this package's command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from driver import by_question, gold, question, run
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from scripted import Scripted

from cruxeval_tasks.completions import read_run
from cruxeval_tasks.judging.judge import Judge, Status
from cruxeval_tasks.matching import Matcher
from cruxeval_tasks.problems import Problem
from cruxeval_tasks.scoring import Score, score_run


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


def log(results: dict[str, Any], task: str, folder: Path) -> Path:
    """Have the host write its log of samples, as `--log_samples --output_path` does."""
    tracker = EvaluationTracker(output_path=str(folder))
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    tracker.save_results_samples(task_name=task, samples=samples[task])
    (path,) = folder.rglob(f"samples_{task}_*.jsonl")
    return path


def scored(judge: Judge, path: Path) -> Score:
    read = read_run(path)
    return score_run(read, Matcher(judge, partial=True).match(read), judge)


@pytest.mark.parametrize("direction", ["o", "i"])
def test_a_log_of_ours_gets_the_score_that_the_host_reported(
    direction: str, smoke: list[Problem], tmp_path: Path, judge: Judge
) -> None:
    def complete(p: Problem) -> str:
        number = smoke.index(p)
        return [gold(p), "I do not know.", f"assert f({', '.join('0' * 20)}) == 'no such value'"][number % 3]

    task = f"cruxeval_{direction}_smoke"
    results = run(task, Scripted(by_question(smoke, direction, complete)), log_samples=True)
    reported = results["results"][task]
    score = scored(judge, log(results, task, tmp_path))
    assert score.run.format == "host_samples"
    assert score.direction == {"o": "output", "i": "input"}[direction]
    assert score.run.direction_is_stated
    assert score.matched.source == "as logged, the same as the bundled problems"
    assert score.matched.warnings == ()
    assert score.pass_at(1).value == pytest.approx(reported["pass@1,answer"])
    assert score.run.stated == pytest.approx(100 * reported["pass@1,answer"])
    assert score.answered.value == pytest.approx(reported["answered,answer"])
    assert 0.3 < score.pass_at(1).value < 0.4


@pytest.fixture
def hosts_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, published: list[Problem]) -> TaskManager:
    """The host's own CRUXEval tasks, one sample of each problem, on the published problems, without the hub."""
    import datasets
    import lm_eval.tasks

    rows = [{"id": p.id, "code": p.code, "input": p.input, "output": p.output} for p in published]
    data = datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
    monkeypatch.setattr("datasets.load_dataset", lambda *args, **kwargs: data)
    theirs = Path(lm_eval.tasks.__file__).parent / "cruxeval"
    if not theirs.is_dir():
        pytest.skip("this version of the host has no CRUXEval tasks of its own")
    folder = tmp_path / "one_sample"
    folder.mkdir()
    for kind in ("output", "input"):
        (folder / f"cruxeval_{kind}.yaml").write_text(
            f"include: {theirs}/cruxeval_{kind}.yaml\ntask: cruxeval_{kind}\nrepeats: 1\n"
        )
    return TaskManager(include_path=str(folder))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["output", "input"])
def test_a_log_of_the_hosts_own_task_gets_its_true_score(
    kind: str, hosts_own: TaskManager, published: list[Problem], tmp_path: Path, judge: Judge
) -> None:
    """A model that is always right. The host runs its answers, which are the published ones and harmless."""
    replies = {question(p, kind[0]): f"[ANSWER]\n{gold(p)}" for p in published}
    task = f"cruxeval_{kind}"
    results = simple_evaluate(
        model=Scripted(lambda asked, _: replies[asked]),
        tasks=[task],
        task_manager=hosts_own,
        limit=8,
        log_samples=True,
        bootstrap_iters=0,
        confirm_run_unsafe_code=True,
    )
    assert results is not None
    reported = results["results"][task]["pass@1,create_test"]
    score = scored(judge, log(results, task, tmp_path))
    assert score.direction == kind
    assert score.statuses == {Status.PASSED: 8}
    assert score.run.stated == pytest.approx(100 * reported)
    if kind == "output":
        # It strips the quotes of string answers, so that a right answer fails where the output is a string.
        strings = sum(isinstance(ast.literal_eval(p.output), str) for p in published[:8])
        assert strings > 0
        assert reported == pytest.approx(1 - strings / 8)
