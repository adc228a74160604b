"""Which problems a run is scored on: never silently fewer, never silently others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from runs import PUBLISHED, SMOKE, completions, gold, host_row, write_rows

from cruxeval_tasks.completions import Run, read_run
from cruxeval_tasks.errors import UserError
from cruxeval_tasks.judging.judge import Judge
from cruxeval_tasks.matching import Matcher
from cruxeval_tasks.problems import PUBLISHED_DIGEST, SMOKE_DIGEST, Problem, load_problems

OWN = [
    Problem("own_0", "def f(x):\n    return x + 1", "1", "2"),
    Problem("own_1", "def f(x):\n    return x * 2", "4", "8"),
]


@pytest.fixture(autouse=True)
def _no_problems_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRUXEVAL_PROBLEMS", raising=False)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge() as judge:
        yield judge


def problem_file(path: Path, problems: list[Problem]) -> str:
    return str(write_rows(path, [p.__dict__ for p in problems]))


def log(path: Path, problems: list[Problem]) -> Run:
    return read_run(write_rows(path, [host_row(p, [gold(p)]) for p in problems]))


class TestLookedUp:
    def test_the_bundled_problems_are_known_by_their_ids(self, judge: Judge, tmp_path: Path) -> None:
        matched = Matcher(judge).match(read_run(completions(tmp_path / "a_output.jsonl", gold)))
        assert (list(matched.problems), matched.digest, matched.total) == (SMOKE, SMOKE_DIGEST, len(SMOKE))
        assert matched.warnings == ()

    def test_a_named_set(self, judge: Judge, tmp_path: Path) -> None:
        path = problem_file(tmp_path / "own.jsonl", OWN)
        run = read_run(completions(tmp_path / "a_output.jsonl", gold, problems=OWN[::-1]))
        matched = Matcher(judge, path).match(run)
        assert list(matched.problems) == OWN  # in the set's order
        assert matched.source == path

    def test_a_set_from_the_environment(
        self, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CRUXEVAL_PROBLEMS", problem_file(tmp_path / "own.jsonl", OWN))
        run = read_run(completions(tmp_path / "a_output.jsonl", gold, problems=OWN))
        assert list(Matcher(judge).match(run).problems) == OWN

    def test_unknown_ids_are_an_error_even_for_a_part(self, judge: Judge, tmp_path: Path) -> None:
        path = problem_file(tmp_path / "own.jsonl", OWN)
        rows = [{"id": "own_0", "completion": "2"}, *({"id": f"x{n}", "completion": "2"} for n in range(7))]
        run = read_run(write_rows(tmp_path / "a_output.jsonl", rows))
        message = r"7 of its 8 problem ids are not in the problem set .*: x0, x1, x2, x3, x4 and 2 more"
        with pytest.raises(UserError, match=message):
            Matcher(judge, path, partial=True).match(run)

    def test_missing_problems_are_an_error_unless_a_part_is_meant(self, judge: Judge, tmp_path: Path) -> None:
        path = problem_file(tmp_path / "own.jsonl", OWN)
        run = read_run(completions(tmp_path / "a_output.jsonl", gold, problems=OWN[1:]))
        with pytest.raises(UserError, match=r"1 of the 2 problems of .* are missing: own_0.*--partial"):
            Matcher(judge, path).match(run)
        matched = Matcher(judge, path, partial=True).match(run)
        assert (list(matched.problems), matched.total) == (OWN[1:], 2)
        assert matched.warnings == (f"1 of the 2 problems of {path} are missing: own_0",)

    def test_a_problem_that_is_missing_with_a_cut_off_line_says_so(self, judge: Judge, tmp_path: Path) -> None:
        path = problem_file(tmp_path / "own.jsonl", OWN)
        rows = [{"id": "own_0", "completion": "2"}]
        run = read_run(write_rows(tmp_path / "a_output.jsonl", rows, end='{"id": "own_1", "compl'))
        with pytest.raises(UserError, match=r"own_1 \(line 2, the last, is cut off and was left out\)\. To score"):
            Matcher(judge, path).match(run)

    def test_a_bad_problem_set_is_a_users_error(self, judge: Judge, tmp_path: Path) -> None:
        path = problem_file(tmp_path / "own.jsonl", [Problem("own_0", OWN[0].code, "1", "3")])
        run = read_run(completions(tmp_path / "a_output.jsonl", gold, problems=OWN))
        with pytest.raises(UserError, match="the code returns 2, not the stated output 3"):
            Matcher(judge, path).match(run)

    def test_a_results_file_of_another_set(self, judge: Judge, tmp_path: Path) -> None:
        path = tmp_path / "results_output.json"
        body = {"raw_generations": {p.id: [p.output] for p in OWN}, "problems": {"digest": "0" * 64}}
        path.write_text(json.dumps(body))
        with pytest.raises(UserError, match="was scored on another problem set"):
            Matcher(judge, problem_file(tmp_path / "own.jsonl", OWN)).match(read_run(path))


class TestCarried:
    def test_a_log_is_held_against_the_named_set(self, judge: Judge, tmp_path: Path) -> None:
        path = problem_file(tmp_path / "own.jsonl", OWN)
        matched = Matcher(judge, path).match(log(tmp_path / "a.jsonl", OWN))
        assert (list(matched.problems), matched.source) == (OWN, f"as logged, the same as {path}")

    @pytest.mark.parametrize("name", ["code", "input", "output"])
    def test_a_log_of_other_problems_of_the_same_names(self, judge: Judge, tmp_path: Path, name: str) -> None:
        path = problem_file(tmp_path / "own.jsonl", OWN)
        other = Problem(**{**OWN[0].__dict__, name: getattr(OWN[1], name)})
        with pytest.raises(UserError, match=f"the {name} of own_0 is another one than in {path}"):
            Matcher(judge, path).match(log(tmp_path / "a.jsonl", [other, OWN[1]]))

    def test_a_log_of_unknown_problems_is_checked_by_running_them(self, judge: Judge, tmp_path: Path) -> None:
        matched = Matcher(judge).match(log(tmp_path / "a.jsonl", OWN))
        assert list(matched.problems) == OWN
        assert "whether these 2 problems are the whole of their set is not known" in matched.warnings[0]
        forged = Problem("own_2", OWN[0].code, "1", "3")
        with pytest.raises(UserError, match="the code returns 2, not the stated output 3"):
            Matcher(judge).match(log(tmp_path / "b.jsonl", [*OWN, forged]))

    def test_a_log_of_fresh_problems_while_the_variable_names_the_published_ones(
        self, judge: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fresh = [Problem("own_0+fresh1", OWN[0].code, "6", "7")]
        monkeypatch.setenv("CRUXEVAL_PROBLEMS", problem_file(tmp_path / "own.jsonl", OWN))
        assert list(Matcher(judge).match(log(tmp_path / "fresh_output.jsonl", fresh)).problems) == fresh
        assert list(Matcher(judge).match(log(tmp_path / "own_output.jsonl", OWN)).problems) == OWN

    def test_a_log_of_bundled_problems_lacks_some(self, judge: Judge, tmp_path: Path) -> None:
        run = log(tmp_path / "a.jsonl", SMOKE[:5])
        with pytest.raises(UserError, match="57 of the 62 problems"):
            Matcher(judge).match(run)
        assert len(Matcher(judge, partial=True).match(run).problems) == 5

    def test_a_whole_log_of_the_published_problems_is_known_by_its_digest(self, judge: Judge, tmp_path: Path) -> None:
        if not PUBLISHED.exists():
            pytest.skip(f"needs the published problems {PUBLISHED}")
        problems = list(load_problems(PUBLISHED))
        rows = [host_row(p, [gold(p)], doc_id=number) for number, p in enumerate(problems)]
        # As two ranks log them: each its own, one after the other.
        run = read_run(write_rows(tmp_path / "a.jsonl", rows[::2] + rows[1::2]))
        matched = Matcher(judge).match(run)
        assert (matched.digest, matched.total, matched.warnings) == (PUBLISHED_DIGEST, 800, ())
        assert matched.source == "as logged: the published problems, by their digest"
