"""`cruxeval fresh`, and `cruxeval compare` of runs on published and on fresh problems."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs import cruxeval

from cruxeval_tasks.problems import Problem, load_problems, smoke_problems

pytestmark = pytest.mark.slow

ORIGINALS = list(smoke_problems())[:12]


@pytest.fixture(autouse=True)
def _surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRUXEVAL_PROBLEMS", raising=False)
    monkeypatch.setenv("COLUMNS", "100")


def write(path: Path, problems: list[Problem]) -> Path:
    rows = [{"id": p.id, "code": p.code, "input": p.input, "output": p.output} for p in problems]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


CONSTANT = Problem("constant", "def f(x):\n    x = 1\n    return x", "5", "1")


class Made:
    """A fresh set, made once for all tests."""

    def __init__(self, folder: Path) -> None:
        self.problems = write(folder / "originals.jsonl", [*ORIGINALS, CONSTANT])
        self.path = folder / "new" / "fresh.jsonl"
        self.report_path = folder / "report.json"
        self.result = cruxeval("fresh", "--problems", self.problems, "-o", self.path, "--report", self.report_path)
        self.fresh = list(load_problems(self.path))
        self.report = json.loads(self.report_path.read_text())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("made"))


class TestFresh:
    def test_writes_a_problem_set_that_loads(self, made: Made) -> None:
        origins = {problem.id.partition("+")[0] for problem in made.fresh}
        assert len(made.fresh) == len(origins) >= 10
        assert origins <= {problem.id for problem in ORIGINALS}

    def test_says_how_the_two_sets_compare(self, made: Made) -> None:
        out = made.result.stdout
        n = len(made.fresh)
        assert out.startswith(f"{n} fresh problems of {n} of the 13 functions in {made.problems}: wrote {made.path}\n")
        for name in ("output characters", "input characters", "executed lines", "executed statements"):
            assert re.search(rf"^{name} +original( +[\d.]+){{5}}\n +fresh( +[\d.]+){{5}}$", out, re.MULTILINE), name
        assert re.search(r"^str +\d+ +\d+$", out, re.MULTILINE)
        assert re.search(r"Overlap of executed lines .*: mean [01]\.\d+, smallest", out)

    def test_lists_the_functions_without_and_why(self, made: Made) -> None:
        line = r"^  constant: 0 found; \d+ candidates turned down:.* output is the original's"
        assert re.search(line, made.result.stderr, re.MULTILINE)
        assert {"constant"} <= {each["id"] for each in made.report["not_found"]}

    def test_the_report_has_the_figures_of_the_files(self, made: Made) -> None:
        report = made.report
        kept = {problem.id.partition("+")[0] for problem in made.fresh}
        lengths = {
            "original": [len(p.output) for p in ORIGINALS if p.id in kept],
            "fresh": [len(p.output) for p in made.fresh],
        }
        for side, expected in lengths.items():
            spread = report["distributions"]["output_characters"][side]
            assert spread["mean"] == round(sum(expected) / len(expected), 2)
            assert spread["max"] == max(expected)
            assert sum(length <= spread["median"] for length in expected) >= len(expected) / 2
            assert sum(length < spread["median"] for length in expected) <= len(expected) / 2
            assert sum(report["value_types"][side].values()) == len(expected)
        assert [pair["id"] for pair in report["pairs"]] == [problem.id for problem in made.fresh]
        assert report["kept"] == len(kept)
        assert report["fresh_digest"] == load_problems(made.path).digest
        assert report["original_digest"] == load_problems(made.problems).digest

    def test_json_is_the_report_and_the_seed_decides(self, made: Made, tmp_path: Path) -> None:
        again = tmp_path / "again.jsonl"
        result = cruxeval("fresh", "--problems", made.problems, "-o", again, "--json")
        assert json.loads(result.stdout) == made.report
        assert again.read_bytes() == made.path.read_bytes()
        cruxeval("fresh", "--problems", made.problems, "-o", again, "--seed", 1)
        assert again.read_bytes() != made.path.read_bytes()

    def test_several_of_each(self, tmp_path: Path) -> None:
        problems = write(tmp_path / "p.jsonl", ORIGINALS[:2])
        cruxeval("fresh", "--problems", problems, "-o", tmp_path / "f.jsonl", "--per-problem", 3)
        ids = [problem.id for problem in load_problems(tmp_path / "f.jsonl")]
        assert ids == [f"{p.id}+fresh{n}" for p in ORIGINALS[:2] for n in (1, 2, 3)]

    def test_none_at_all_is_an_error_and_writes_nothing(self, tmp_path: Path) -> None:
        problems = write(tmp_path / "p.jsonl", [CONSTANT])
        result = cruxeval("fresh", "--problems", problems, "-o", tmp_path / "f.jsonl", status=1)
        assert "no fresh problem was found" in result.stderr
        assert not (tmp_path / "f.jsonl").exists()

    def test_mistakes(self, tmp_path: Path) -> None:
        problems = write(tmp_path / "p.jsonl", ORIGINALS[:1])
        assert "is an input" in cruxeval("fresh", "--problems", problems, "-o", problems, status=1).output
        assert "a directory; name a file" in cruxeval("fresh", "--problems", problems, "-o", tmp_path, status=1).output
        assert "no such file" in cruxeval("fresh", "--problems", tmp_path / "none", status=1).output
        assert cruxeval("fresh", "--per-problem", 0, status=2)
        assert load_problems(problems).problems == (ORIGINALS[0],)


def run(path: Path, problems: list[Problem], *complete: Callable[[Problem], str]) -> Path:
    rows = [{"id": p.id, "completions": [c(p) for c in complete]} for p in problems]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


BY_ID = {problem.id: problem for problem in ORIGINALS}


def right(p: Problem) -> str:
    return f"assert f({p.input}) == {p.output}"


def remembered(p: Problem) -> str:
    return right(BY_ID[p.id.partition("+")[0]])


def wrong(p: Problem) -> str:
    return "assert f(no, such, thing) == 'no function here returns this'"


Complete = Callable[[Problem], str]


@pytest.mark.parametrize("direction", ["input", "output"])
class TestGap:
    def gap(
        self, made: Made, folder: Path, direction: str, on_original: Complete, on_fresh: Complete
    ) -> dict[str, Any]:
        a = run(folder / "a.jsonl", ORIGINALS, on_original)
        b = run(folder / "b.jsonl", made.fresh, on_fresh)
        result = cruxeval(
            "compare", a, b, "--json", "--direction", direction,
            "--problems", made.problems, "--fresh-problems", made.path, "--partial",
        )  # fmt: skip
        return json.loads(result.stdout)  # type: ignore[no-any-return]

    def test_of_a_memory(self, direction: str, made: Made, tmp_path: Path) -> None:
        found = self.gap(made, tmp_path, direction, remembered, remembered)
        assert found["pass_at_1"] == {"original": 100, "fresh": 0}
        assert found["gap"]["value"] == 100
        assert found["gap"]["low"] > 50
        assert found["noise"] is False

    def test_of_a_reasoner(self, direction: str, made: Made, tmp_path: Path) -> None:
        found = self.gap(made, tmp_path, direction, right, right)
        assert found["pass_at_1"] == {"original": 100, "fresh": 100}
        assert found["gap"]["value"] == 0
        assert found["gap"]["low"] < 0 < found["gap"]["high"]
        assert found["noise"] is True
        assert found["without_fresh"] == len(ORIGINALS) - len(made.fresh)

    def test_that_is_negative(self, direction: str, made: Made, tmp_path: Path) -> None:
        found = self.gap(made, tmp_path, direction, wrong, right)
        assert found["gap"]["value"] == -100
        assert found["noise"] is False


def test_the_order_of_the_two_runs_does_not_matter_and_the_text_says_what_is_what(made: Made, tmp_path: Path) -> None:
    a = run(tmp_path / "a_output.jsonl", made.fresh, remembered)
    b = run(tmp_path / "b_output.jsonl", ORIGINALS, right)
    result = cruxeval(
        "compare", a, b, "--problems", made.path, "--fresh-problems", made.problems, "--partial",
    )  # fmt: skip
    assert "Published inputs (b_output.jsonl) against fresh ones (a_output.jsonl): output prediction" in result.stdout
    assert re.search(r"^published +100\.0", result.stdout, re.MULTILINE)
    assert re.search(r"^fresh +0\.0", result.stdout, re.MULTILINE)
    assert re.search(r"^gap +\+100\.0 +\+\d+\.\d to \+100\.0 \(paired\)", result.stdout, re.MULTILINE)
    assert "does not hold on inputs that nobody has published" in result.stdout


def test_several_fresh_problems_of_a_function_count_as_one(tmp_path: Path) -> None:
    original = Problem("p", "def f(x):\n    return x + 1", "1", "2")
    fresh = [Problem(f"p+fresh{n}", original.code, str(n + 10), str(n + 11)) for n in (1, 2, 3, 4)]
    first, second = write(tmp_path / "p.jsonl", [original]), write(tmp_path / "f.jsonl", fresh)
    a = run(tmp_path / "a_output.jsonl", [original], right)
    b = run(tmp_path / "b_output.jsonl", fresh, lambda p: right(p) if p.input == "11" else "assert f(0) == 7")
    found = json.loads(cruxeval("compare", a, b, "--problems", first, "--fresh-problems", second, "--json").stdout)
    assert found["functions"] == 1
    assert found["pass_at_1"] == {"original": 100, "fresh": 25}


def test_another_function_under_the_id_is_an_error(tmp_path: Path) -> None:
    original = Problem("p", "def f(x):\n    return x + 1", "1", "2")
    fresh = Problem("p+fresh1", "def f(x):\n    return x + 2", "1", "3")
    first, second = write(tmp_path / "p.jsonl", [original]), write(tmp_path / "f.jsonl", [fresh])
    a = run(tmp_path / "a_output.jsonl", [original], right)
    b = run(tmp_path / "b_output.jsonl", [fresh], right)
    result = cruxeval("compare", a, b, "--problems", first, "--fresh-problems", second, status=1)
    assert "p+fresh1" in result.stderr
    assert "has another function than p" in result.stderr
