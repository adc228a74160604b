"""The commands that read completions: score, compare, show, leaderboard."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from runs import SMOKE, completions, cruxeval, gold, host_row, official, write_rows, wrong

from cruxeval_tasks.cli import common, main
from cruxeval_tasks.judging.judge import IsolationError
from cruxeval_tasks.problems import Problem

N = len(SMOKE)


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRUXEVAL_PROBLEMS", raising=False)
    monkeypatch.setenv("COLUMNS", "80")


def prose(problem: Problem) -> str:
    return "I do not know."


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return completions(tmp_path / "good_output.jsonl", gold)


@pytest.fixture
def half(tmp_path: Path) -> Path:
    return completions(tmp_path / "half_output.jsonl", gold, wrong)


class TestScore:
    def test_one_file(self, half: Path) -> None:
        out = cruxeval("score", half).stdout
        assert out.startswith(f"half_output.jsonl: output prediction, {N} problems, 2 samples of each\n")
        assert re.search(r"^pass@1 +50\.0 +\d+\.\d–\d+\.\d", out, re.MULTILINE)
        assert re.search(rf"^wrong +{N} +50\.0", out, re.MULTILINE)
        assert "Nothing was executed" in out

    @pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
    def test_a_terminal_without_utf_8_gets_escapes(self, half: Path, encoding: str) -> None:
        result = CliRunner(charset=encoding).invoke(main, ["score", str(half)])
        assert result.exit_code == 0, result.exception
        assert re.search(r"^pass@1 .* 50\.0 .* \d+\.\d\\u2013\d+\.\d", result.output, re.MULTILINE)

    def test_several_files_have_a_row_each(self, good: Path, half: Path) -> None:
        out = cruxeval("score", good, half).stdout
        assert re.search(rf"^good_output\.jsonl +output +{N}×1 +100\.0 \(", out, re.MULTILINE)
        assert re.search(rf"^half_output\.jsonl +output +{N}×2 +50\.0 \(", out, re.MULTILINE)

    def test_long_names_are_numbered(self, tmp_path: Path) -> None:
        paths = [completions(tmp_path / f"{letter * 60}_output.jsonl", gold) for letter in "ab"]
        out = cruxeval("score", *paths).stdout
        assert f"1  {'a' * 60}_output.jsonl\n2  {'b' * 60}_output.jsonl\n" in out
        assert re.search(rf"^2 +output +{N}×1 +100\.0 \(", out, re.MULTILINE)
        assert max(map(len, out.splitlines())) <= 80

    def test_json(self, half: Path, tmp_path: Path) -> None:
        result = cruxeval("score", "--json", "-k", "1,2", half, tmp_path / "none.jsonl", status=1)
        body = json.loads(result.stdout)
        (run,) = body["runs"]
        assert run["pass_at_k"]["1"]["value"] == pytest.approx(50.0)
        assert run["pass_at_k"]["2"]["value"] == pytest.approx(100.0)
        assert run["pass_at_k"]["1"]["low"] < 50 < run["pass_at_k"]["1"]["high"]
        assert run["statuses"] == {"passed": N, "wrong": N}
        assert len(body["errors"]) == 1
        assert "there is no such file" in body["errors"][0]

    def test_a_bad_file_stops_no_good_one(self, good: Path, tmp_path: Path) -> None:
        bad = tmp_path / "bad.json"
        bad.write_text("{")
        result = cruxeval("score", bad, good, status=1)
        assert result.stderr.startswith(f"Error: {bad}, line 1: not JSON")
        assert "100.0" in result.stdout

    @pytest.mark.parametrize("k", ["0", "-1", "x", "1,,5", ""])
    def test_k_must_be_numbers(self, good: Path, k: str) -> None:
        assert "whole numbers from 1 on" in cruxeval("score", "-k", k, good, status=2).stderr

    def test_k_above_n_is_refused(self, good: Path) -> None:
        assert "pass@5 needs 5 samples of each problem, and there is 1" in cruxeval("score", "-k5", good, status=1).stderr

    def test_missing_problems_need_partial(self, tmp_path: Path) -> None:
        path = completions(tmp_path / "a_output.jsonl", gold, problems=SMOKE[:7])
        assert f"{N - 7} of the {N} problems" in cruxeval("score", path, status=1).stderr
        out = cruxeval("score", "--partial", path).stdout
        assert f"7 of {N} problems" in out
        assert "Note: " in out

    def test_a_cut_off_line_is_noted(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "a_output.jsonl", [{"id": p.id, "completion": gold(p)} for p in SMOKE], end='{"i')
        assert f"Note: line {N + 1}, the last, is cut off" in cruxeval("score", path).stdout

    def test_stated_scores_stand_beside_ours(self, tmp_path: Path) -> None:
        rows = [host_row(p, [gold(p)], **{"pass@1": 0.0}) for p in SMOKE]
        out = cruxeval("score", write_rows(tmp_path / "a.jsonl", rows)).stdout
        assert re.search(r"^pass@1 +100\.0 ", out, re.MULTILINE)
        assert re.search(r"^pass@1 stated in the file +0\.0", out, re.MULTILINE)

    def test_without_isolation_execution_is_refused_by_name(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given: list[bool] = []

        class Missing:
            started = False

            def __init__(self, *, allow_unisolated: bool) -> None:
                given.append(allow_unisolated)

            def judge(self, checks: object) -> object:
                raise IsolationError("landlock: the kernel offers none. Say --allow-unisolated")

            def close(self) -> None:
                pass

        monkeypatch.setattr("cruxeval_tasks.judging.judge.Judge", Missing)
        path = completions(tmp_path / "a_input.jsonl", gold)
        assert "Error: landlock: " in cruxeval("score", path, status=1).stderr
        cruxeval("score", "--allow-unisolated", path, status=1)
        assert given == [False, True]


class TestOutput:
    def test_a_file_for_each_input(self, good: Path, half: Path, tmp_path: Path) -> None:
        folder = tmp_path / "new" / "results"
        out = cruxeval("score", "-o", folder, good, half).stdout
        assert sorted(path.name for path in folder.iterdir()) == ["good_output.results.json", "half_output.results.json"]
        assert "Wrote " in out
        again = json.loads(cruxeval("score", "--json", *folder.iterdir()).stdout)["runs"]
        assert sorted(run["pass_at_k"]["1"]["value"] for run in again) == pytest.approx([50.0, 100.0])

    def test_inputs_of_one_name_do_not_collide(self, tmp_path: Path) -> None:
        paths = []
        for name in ("a_output", "b_output"):
            (tmp_path / name).mkdir()
            paths.append(completions(tmp_path / name / "generations.jsonl", gold))
        cruxeval("score", "-o", tmp_path / "out", *paths)
        names = sorted(path.name for path in (tmp_path / "out").iterdir())
        assert names == ["a_output_generations.results.json", "b_output_generations.results.json"]

    def test_one_input_one_file(self, good: Path, tmp_path: Path) -> None:
        target = tmp_path / "r.json"
        cruxeval("score", "-o", target, good)
        assert json.loads(target.read_text())["pass_at_1"] == 100.0
        assert stat.S_IMODE(target.stat().st_mode) & 0o600 == 0o600
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    def test_inputs_are_never_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "generations_output.json"
        path.write_text(json.dumps({p.id: [p.output] for p in SMOKE}))
        before = path.read_bytes()
        link = tmp_path / "link.json"
        link.symlink_to(path)
        for target in (path, link):
            assert "is an input" in cruxeval("score", "-o", target, path, status=1).stderr
        assert path.read_bytes() == before
        folder = tmp_path / "folder"
        folder.mkdir()
        first = folder / "x_output.results.json"
        first.write_bytes(before)
        other = tmp_path / "x_output.json"
        other.write_bytes(before)
        assert "is an input" in cruxeval("score", "-o", folder, other, first, status=1).stderr

    def test_several_inputs_need_a_folder(self, good: Path, half: Path, tmp_path: Path) -> None:
        assert "name a folder" in cruxeval("score", "-o", tmp_path / "r.json", good, half, status=2).stderr

    def test_show_takes_one_file(self, good: Path, half: Path) -> None:
        assert "show takes one file" in cruxeval("show", good, half, status=2).stderr

    @pytest.mark.parametrize("command", ["score", "leaderboard", "report"])
    def test_a_file_that_is_named_twice_is_not_counted_twice(self, command: str, good: Path, tmp_path: Path) -> None:
        link = tmp_path / "other.json"
        link.symlink_to(good)
        for again in (good, good.parent / "." / good.name, link):
            assert "named twice" in cruxeval(command, good, again, status=2).stderr

    def test_where_nothing_can_be_written(self, good: Path) -> None:
        result = cruxeval("score", "-o", good / "below" / "r.json", good, status=1)
        assert "cannot be written" in result.stderr
        assert "pass@1" not in result.stdout  # it is said before anything is judged


class TestCompare:
    def test_a_clear_difference(self, good: Path, half: Path) -> None:
        out = cruxeval("compare", half, good).stdout
        assert re.search(r"^B − A +\+50\.0 +\+", out, re.MULTILINE)
        assert "B is better: equal runs would rarely differ by as much (p < 0.0001)." in out
        assert f"B is better on {N} of {N} problems, worse on 0, the same on 0." in out

    def test_noise(self, good: Path, tmp_path: Path) -> None:
        other = completions(tmp_path / "other_output.jsonl", lambda p: wrong(p) if p is SMOKE[0] else gold(p))
        out = " ".join(cruxeval("compare", other, good).stdout.split())
        assert "Noise: a difference as large would often come by chance between equal runs (p = 1)." in out

    def test_the_same_file(self, half: Path) -> None:
        assert "The two pass on every problem at the same rate." in cruxeval("compare", half, half).stdout

    def test_json(self, good: Path, half: Path) -> None:
        body = json.loads(cruxeval("compare", "--json", half, good).stdout)
        assert body["difference"]["value"] == pytest.approx(50.0)
        assert body["noise"] is False
        assert body["p_value"] == pytest.approx(2 / 2**N)
        assert body["gained"] == {p.id: [0.5, 1.0] for p in SMOKE}
        assert body["lost"] == {}

    def test_what_cannot_be_compared(self, good: Path, tmp_path: Path) -> None:
        other = completions(tmp_path / "other_input.jsonl", gold)
        assert "nothing to compare" in cruxeval("compare", good, other, status=1).stderr


class TestShow:
    def test_a_wrong_output_shows_what_f_returns(self, half: Path) -> None:
        out = cruxeval("show", half, SMOKE[3].id).stdout
        assert out.startswith(f"{SMOKE[3].id}, output prediction\n")
        assert "def f(" in out
        assert f"f returns {SMOKE[3].output}" in out
        assert "sample 1 of 2 ─" in out
        assert "Verdict: passed" in out
        assert "the answer is 'no function here returns this'" in out
        assert f"f returns     {SMOKE[3].output}" in out

    def test_a_wrong_input_shows_what_the_call_returns(self, tmp_path: Path) -> None:
        problem = {"id": "p_0", "code": "def f(x):\n    return x + 1", "input": "1", "output": "2"}
        problems = write_rows(tmp_path / "problems.jsonl", [problem])
        path = write_rows(tmp_path / "a_input.jsonl", [{"id": "p_0", "completion": "assert f(40) == 2"}])
        out = cruxeval("show", "--problems", problems, path, "0").stdout
        assert "Answer:  f(40)" in out
        assert re.search(r"this call returns 41\n +asked for was +2", out)

    def test_the_number_is_enough(self, half: Path) -> None:
        assert cruxeval("show", half, "3").stdout == cruxeval("show", half, SMOKE[3].id).stdout

    def test_an_unknown_id(self, half: Path) -> None:
        assert "no problem 'nonsense'" in cruxeval("show", half, "nonsense", status=1).stderr

    def test_equal_samples_are_shown_once(self, tmp_path: Path) -> None:
        path = completions(tmp_path / "a_output.jsonl", gold, wrong, gold, gold)
        out = cruxeval("show", path, 0).stdout
        assert "sample 1, 3–4 of 4" in out
        assert out.count("Verdict: ") == 2

    def test_the_list(self, half: Path, tmp_path: Path) -> None:
        out = cruxeval("show", half).stdout
        assert re.search(rf"^{SMOKE[0].id} +1/2 +1 passed, 1", out, re.MULTILINE)
        assert f"{N} of {N} problems." in out
        mixed = completions(tmp_path / "a_output.jsonl", lambda p: prose(p) if p is SMOKE[5] else gold(p))
        out = cruxeval("show", "--status", "no_answer", mixed).stdout
        assert f"1 of {N} problems." in out
        assert SMOKE[5].id in out
        assert "one of passed, wrong," in cruxeval("show", "--status", "nonsense", mixed, status=2).stderr

    def test_json(self, half: Path) -> None:
        body = json.loads(cruxeval("show", "--json", half, 3).stdout)
        assert list(body) == [SMOKE[3].id]
        assert [sample["status"] for sample in body[SMOKE[3].id]["samples"]] == ["passed", "wrong"]

    def test_a_long_completion_is_cut_unless_asked(self, tmp_path: Path) -> None:
        path = completions(tmp_path / "a_output.jsonl", lambda p: "x" * 9000 + f"\n[ANSWER]\n{gold(p)}\n[/ANSWER]")
        out = cruxeval("show", path, 0).stdout
        assert "characters left out; --full shows them" in out
        assert len(out) < 6000
        assert len(cruxeval("show", "--full", path, 0).stdout) > 9000

    def test_the_prompt(self, tmp_path: Path) -> None:
        path = write_rows(tmp_path / "a.jsonl", [host_row(p, [gold(p)]) for p in SMOKE])
        assert "[/PYTHON]" not in cruxeval("show", path, 0).stdout
        assert "[/PYTHON]" in cruxeval("show", "--prompt", path, 0).stdout


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x1b[31m[red]markup[/red] \u202egnp.exe\u2066 \x00\x9b31m \ud800 \u200b"


def test_model_text_cannot_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a_output.jsonl"
    path.write_text("".join(json.dumps({"id": p.id, "completion": HOSTILE + gold(p)}) + "\n" for p in SMOKE))
    for arguments in (["show", path, 0], ["show", path], ["show", "--json", path, 0], ["score", path]):
        out = cruxeval(*arguments).stdout
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]", out)
    out = cruxeval("show", path, 0).stdout
    assert "[red]markup[/red]" in out
    assert "\\x1b[2J" in out
    assert "\\u202e" in out


def test_file_names_cannot_either(tmp_path: Path) -> None:
    path = completions(tmp_path / "[bold]\x1b[31m_output.jsonl", gold)
    out = cruxeval("score", path).stdout
    assert out.startswith("[bold]\\x1b[31m_output.jsonl: ")
    assert "\x1b" not in cruxeval("score", tmp_path / "\x1b[31m", status=1).stderr


class TestLeaderboard:
    def test_the_published_scores(self) -> None:
        out = cruxeval("leaderboard").stdout
        assert out.index("Output prediction") < out.index("Input prediction")
        assert re.search(r"gpt-4o\+cot \(n=3\) \* +66\.2", out)
        assert "gpt-4o+cot (n=3), input: 75.6" in " ".join(out.split())
        assert "Output" not in cruxeval("leaderboard", "--direction", "input").stdout.split("\n\n")[0]

    def test_a_run_among_them(self) -> None:
        path = official("phi-2_temp0.2_output.json")
        problems = path.parents[1] / "cruxeval" / "cruxeval.jsonl"
        out = cruxeval("leaderboard", "--problems", problems, path).stdout
        rows = [line for line in out.splitlines() if "phi-2" in line]
        assert any("▶ phi-2_temp0.2_output.json" in row and "33.5" in row for row in rows)
        assert "Input prediction" not in out
        body = json.loads(cruxeval("leaderboard", "--json", "--problems", problems, path).stdout)
        assert [row["model"] for row in body["output"]].count("phi-2") == 1
        assert sum(row["run"] is not None for row in body["output"]) == 1

    def test_another_problem_set_is_not_placed(self, good: Path) -> None:
        assert "the published scores are for the 800 published problems" in cruxeval("leaderboard", good, status=1).stderr


@pytest.mark.parametrize("text", ["plain", "tab\tand\nline", "Umlaut äöü, 漢字, emoji 🙂, combining é"])
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert common.visible(text) == text


def test_labels_are_as_short_as_tells_them_apart() -> None:
    paths: list[Any] = ["/x/a/g.json", "/x/b/g.json", "/y/b/h.json"]
    assert common.labels(paths) == ["a/g.json", "b/g.json", "h.json"]
    assert common.labels(["a.json", "a.json"]) == ["a.json", "a.json"]


def test_a_sum_of_floats_is_written_as_the_number_that_it_stands_for() -> None:
    assert 35.94999999999998 < 35.95
    assert common.tenths(35.94999999999998) == common.tenths(35.95) == "36.0"
    assert common.tenths(35.94) == "35.9"
