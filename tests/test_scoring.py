"""Scores of runs whose score is known beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from runs import PUBLISHED, SMOKE, completions, gold, official, write_rows, wrong

from cruxeval_tasks.completions import read_run
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.judge import Judge, Status
from cruxeval_tasks.matching import Matcher
from cruxeval_tasks.passk import pass_at_k
from cruxeval_tasks.problems import Problem
from cruxeval_tasks.scoring import SCHEMA, Score, results, score_run

N = len(SMOKE)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


def scored(judge: Judge, path: Path, problems: Path | None = None) -> Score:
    run = read_run(path)
    return score_run(run, Matcher(judge, None if problems is None else str(problems)).match(run), judge)


def prose(problem: Problem) -> str:
    return "I do not know what this function is for."


def raising(problem: Problem) -> str:
    return f"assert f({', '.join('0' * 20)}) == {problem.output}"


class TestScore:
    def test_rates_pass_at_k_and_statuses(self, judge: Judge, tmp_path: Path) -> None:
        path = completions(tmp_path / "a_output.jsonl", gold, wrong, prose, prose, wrong)
        score = scored(judge, path)
        assert set(score.rates.values()) == {Fraction(1, 5)}
        assert score.statuses == {Status.WRONG: 2 * N, Status.NO_ANSWER: 2 * N, Status.PASSED: N}
        assert score.answered.value == pytest.approx(3 / 5)
        assert score.usual_k() == [1, 5]
        for k in (1, 2, 3, 5):
            assert score.pass_at(k).value == pytest.approx(pass_at_k(5, 1, k))
        with pytest.raises(UserError, match="pass@6 needs 6 samples of each problem, and there are 5"):
            score.pass_at(6)

    def test_exceptions_are_counted_by_name(self, judge: Judge, tmp_path: Path) -> None:
        score = scored(judge, completions(tmp_path / "a_input.jsonl", gold, raising))
        assert score.statuses == {Status.PASSED: N, Status.RAISED: N}
        assert score.exceptions == {"TypeError": N}
        assert score.isolation is not None
        assert set(score.isolation) == {"rlimits", "privileges", "landlock", "seccomp"}

    def test_where_nothing_is_executed_nothing_is_said_of_isolation(self, tmp_path: Path) -> None:
        with Judge() as fresh:
            assert scored(fresh, completions(tmp_path / "a_output.jsonl", gold, wrong)).isolation is None

    def test_fewer_samples_of_a_problem_weigh_no_less(self, judge: Judge, tmp_path: Path) -> None:
        rows = [{"id": p.id, "completions": [gold(p)] if p is SMOKE[0] else [wrong(p), gold(p)]} for p in SMOKE]
        score = scored(judge, write_rows(tmp_path / "a_output.jsonl", rows))
        assert score.pass_at(1).value == pytest.approx((1 + (N - 1) / 2) / N)
        assert score.usual_k() == [1]
        assert score.warnings == (f"1 of {N} problems have fewer than 2 samples (the fewest 1)",)
        with pytest.raises(UserError, match="pass@2 needs 2 samples of each problem, and there is 1"):
            score.pass_at(2)

    def test_progress_tells_every_problem_and_changes_no_verdict(self, judge: Judge, tmp_path: Path) -> None:
        run = read_run(completions(tmp_path / "a_input.jsonl", gold, raising, prose))
        matched = Matcher(judge).match(run)
        steps: list[int] = []
        watched = score_run(run, matched, judge, progress=steps.append)
        assert len(steps) > 1
        assert sum(steps) == N
        assert watched.verdicts == score_run(run, matched, judge).verdicts

    @pytest.mark.parametrize(("complete", "doubt"), [(prose, True), (gold, False)])
    def test_a_low_share_of_answers_is_pointed_out(
        self, judge: Judge, tmp_path: Path, complete: Callable[[Problem], str], doubt: bool
    ) -> None:
        score = scored(judge, completions(tmp_path / "a_output.jsonl", complete))
        assert any(f"no well-formed answer in {N} of {N}" in warning for warning in score.warnings) is doubt


class TestDirection:
    def test_of_the_file_name(self, judge: Judge, tmp_path: Path) -> None:
        assert scored(judge, completions(tmp_path / "a_output.jsonl", gold)).direction == "output"

    def test_unknown(self, judge: Judge, tmp_path: Path) -> None:
        run = read_run(completions(tmp_path / "a.jsonl", gold))
        matched = Matcher(judge).match(run)
        with pytest.raises(UserError, match="say --direction output or --direction input"):
            score_run(run, matched, judge)
        assert score_run(run, matched, judge, "input").pass_at(1).value == 1.0

    def test_the_option_goes_before_the_name_but_not_before_the_content(self, judge: Judge, tmp_path: Path) -> None:
        run = read_run(completions(tmp_path / "a_output.jsonl", gold))
        assert score_run(run, Matcher(judge).match(run), judge, "input").direction == "input"
        rows = [{"id": p.id, "completion": gold(p), "direction": "output"} for p in SMOKE]
        run = read_run(write_rows(tmp_path / "b.jsonl", rows))
        with pytest.raises(UserError, match="is a run of output prediction"):
            score_run(run, Matcher(judge).match(run), judge, "input")

    def test_answers_in_the_other_direction_are_pointed_out(self, judge: Judge, tmp_path: Path) -> None:
        path = tmp_path / "generations.json"
        path.write_text(json.dumps({p.id: [f"f({p.input})"] for p in SMOKE}))
        run = read_run(path)
        matched = Matcher(judge).match(run)
        assert score_run(run, matched, judge, "input").warnings == ()
        assert "was this input prediction?" in score_run(run, matched, judge, "output").warnings[0]

    def test_completions_in_a_file_of_answers_are_pointed_out(self, judge: Judge, tmp_path: Path) -> None:
        path = tmp_path / "generations.json"
        path.write_text(json.dumps({p.id: [gold(p)] for p in SMOKE}))
        run = read_run(path)
        score = score_run(run, Matcher(judge).match(run), judge, "output")
        assert score.pass_at(1).value == 0.0  # as they stand, they are assertions and no values
        assert f"{N} of {N} answers are no expressions" in score.warnings[0]


class TestResultsFile:
    def test_it_has_the_authors_keys_and_every_verdict(self, judge: Judge, tmp_path: Path) -> None:
        score = scored(judge, completions(tmp_path / "a_output.jsonl", gold, wrong, prose, gold, gold))
        body = json.loads(json.dumps(results(score, [1, 2])))
        assert body["schema"] == SCHEMA
        assert list(body["raw_generations"]) == [p.id for p in SMOKE]
        one = SMOKE[0]
        assert body["raw_generations"][one.id] == [
            one.output, "'no function here returns this'", "", one.output, one.output
        ]  # fmt: skip
        assert body["raw_scored_generations"][one.id] == [True, False, False, True, True]
        assert body["pass_at_1"] == pytest.approx(60.0)
        assert body["pass_at_5"] == pytest.approx(100.0)
        assert body["pass_at_k"].keys() == {"1", "2"}
        assert [v["status"] for v in body["verdicts"][one.id]] == ["passed", "wrong", "no_answer", "passed", "passed"]
        assert body["verdicts"][one.id][1]["obtained"] == "'no function here returns this'"
        assert body["direction"] == "output"
        assert body["problems"]["scored"] == body["problems"]["of"] == N

    def test_fewer_than_five_samples_have_no_pass_at_5(self, judge: Judge, tmp_path: Path) -> None:
        score = scored(judge, completions(tmp_path / "a_output.jsonl", gold))
        assert "pass_at_5" not in results(score, [1])

    @pytest.mark.parametrize("direction", ["output", "input"])
    def test_scored_again_it_gives_the_same(self, judge: Judge, tmp_path: Path, direction: str) -> None:
        first = scored(judge, completions(tmp_path / f"a_{direction}.jsonl", gold, wrong, prose, raising))
        path = tmp_path / "again.json"  # the direction is in the file now
        path.write_text(json.dumps(results(first, [1])))
        again = scored(judge, path)
        assert again.run.format == "scored"
        assert again.verdicts == first.verdicts
        assert again.run.stated == pytest.approx(100 * first.pass_at(1).value)


STATED = [  # the file, and pass@1 on the leaderboard
    ("claude-3-opus-20240229+cot_temp0.2_output.json", 82.0),
    ("codellama-7b_temp0.2_output.json", 34.2),
    ("gpt-4-0613_temp0.2_output.json", 68.7),
    ("phi-2_temp0.2_output.json", 33.5),
]


@pytest.mark.parametrize(("name", "stated"), STATED)
def test_an_official_output_file_gets_the_published_figure(judge: Judge, name: str, stated: float) -> None:
    score = scored(judge, official(name), PUBLISHED)
    assert len(score.verdicts) == 800
    assert round(100 * score.pass_at(1).value, 1) == stated
    # Of 213,461 distinct published answers, the rules here and the authors' differ on about 60.
    differing = [
        key
        for key, each in json.loads(official(name).read_text())["raw_scored_generations"].items()
        if each != [v.passed for v in score.verdicts[key]]
    ]
    assert len(differing) <= 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fixed"),
    # pass@1 over the authors' verdicts with all samples in the denominator; the leaderboard has 75.7 and 75.6
    [("gpt-4-turbo-2024-04-09+cot_temp0.2_input.json", 68.8), ("gpt-4o+cot_temp0.2_input.json", 66.2)],
)
def test_rejected_answers_stay_in_the_denominator(judge: Judge, name: str, fixed: float) -> None:
    score = scored(judge, official(name), PUBLISHED)
    assert score.samples == (3, 3)
    assert round(100 * score.pass_at(1).value, 1) == fixed
    assert score.run.stated is not None
    assert score.run.stated > 75
