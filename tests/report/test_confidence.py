from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from runs import SMOKE, completions, gold, host_row, write_rows

from cruxeval_tasks.completions import read_run
from cruxeval_tasks.judging.judge import Judge
from cruxeval_tasks.matching import Matcher
from cruxeval_tasks.problems import Problem
from cruxeval_tasks.report.confidence import cut_off, doubts, particulars
from cruxeval_tasks.scoring import Score, score_run

N = len(SMOKE)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


def scored(judge: Judge, path: Path) -> Score:
    run = read_run(path)
    return score_run(run, Matcher(judge).match(run), judge)


def open_list(problem: Problem) -> str:
    return f"assert f({problem.input}) == [1, 2, 3, "


def open_string(problem: Problem) -> str:
    return f"assert f({problem.input}) == 'aaaa"


def open_reasoning(problem: Problem) -> str:
    return "<think>Let me see. First"


def broken_but_ended(problem: Problem) -> str:
    return f"assert f({problem.input}) == [1, 2\n[/ANSWER]\nThat is all."


def no_answer(problem: Problem) -> str:
    return "I do not know."


@pytest.mark.parametrize(
    ("complete", "cut"),
    [(gold, 0), (no_answer, 0), (broken_but_ended, 0), (open_list, N), (open_string, N), (open_reasoning, N)],
)
def test_cut_off(judge: Judge, tmp_path: Path, complete: object, cut: int) -> None:
    score = scored(judge, completions(tmp_path / "a_output.jsonl", gold, complete))  # type: ignore[arg-type]
    assert cut_off(score) == cut
    said = [doubt.text for doubt in doubts(score) if "are cut off" in doubt.text]
    assert len(said) == (1 if cut else 0)
    assert all(f"{cut} of {2 * N} samples" in text for text in said)


def test_a_low_share_of_answers_is_a_grave_doubt(judge: Judge, tmp_path: Path) -> None:
    found = doubts(scored(judge, completions(tmp_path / "a_output.jsonl", gold, no_answer)))
    assert any(doubt.grave and doubt.text.startswith("answered: 50.0 %") for doubt in found)
    found = doubts(scored(judge, completions(tmp_path / "b_output.jsonl", gold, gold)))
    assert not any(doubt.text.startswith("answered") for doubt in found)


def test_particulars_name_settings_digest_and_isolation(judge: Judge, tmp_path: Path) -> None:
    rows = [host_row(problem, [gold(problem)], "input") for problem in SMOKE]
    facts = dict(particulars(scored(judge, write_rows(tmp_path / "samples_x.jsonl", rows))))
    assert "temperature: 0.2" in facts["Sampling settings"]
    assert facts["Problem-set digest"].endswith(" (the bundled problems)")
    assert facts["Isolation: seccomp"] != "MISSING"
    assert facts["Predicted"] == "input"
