"""The page as text: what is in it, and what cannot be."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from pages import HOSTILE, HOSTILE_ID, LONG, PROBLEMS, unpacked
from runs import PUBLISHED, SMOKE, completions, gold, official, write_rows

from cruxeval_tasks.cli import main
from cruxeval_tasks.report import charts, data
from cruxeval_tasks.report.data import Pair

pytestmark = pytest.mark.slow


class _Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def html(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_one_script_runs_and_the_policy_has_its_digest(html: str) -> None:
    scripts = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert "http" not in policy[1]
    assert "*" not in policy[1]


def test_nothing_is_loaded_and_ids_are_unique(html: str) -> None:
    elements = _Elements(html).found
    for tag, attributes in elements:
        assert tag not in ("link", "iframe", "object", "embed", "img", "base")
        assert not attributes.get("src")
        assert not any(name.startswith("on") for name in attributes)
        if tag == "use":
            assert str(attributes["href"]).startswith("#")
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_every_figure_has_its_table_and_every_control_a_label(html: str) -> None:
    assert html.count("<figure") == html.count("<svg") == html.count("as a table</summary>") > 5
    labels = re.findall(r"<label.*?</label>", html, re.DOTALL)
    controls = re.findall(r"<(?:input|select)[ >]", html)
    assert len(controls) == len(labels) >= 6


def test_texts_from_files_are_escaped(html: str) -> None:
    assert "&lt;img src=x onerror=" in html  # the name of a file
    assert "<img" not in html
    assert "window.pwned" not in re.sub(r"<img src=x.*?&gt;|&lt;img.*?&gt;", "", html)


def test_data_holds_every_text_as_it_was(html: str) -> None:
    body = unpacked(html)
    assert [problem["id"] for problem in body["problems"]] == [problem.id for problem in PROBLEMS]
    for problem, entry in zip(PROBLEMS, body["problems"], strict=True):
        assert "".join(entry["code"][1::2]) == problem.code
    first = [entry["runs"][0] for entry in body["problems"]]
    for number, problem in enumerate(PROBLEMS):
        if number == 1:
            continue
        segments = first[number]["samples"][0]["text"]
        text = "".join(part if isinstance(part, str) else part[0] for part in segments)
        assert text == f"{list(HOSTILE.values())[number % len(HOSTILE)]}\n{gold(problem)}"
    assert body["problems"][-1]["id"] == HOSTILE_ID


def test_equal_samples_are_kept_once(html: str) -> None:
    samples = unpacked(html)["problems"][0]["runs"][0]["samples"]
    assert [sample["numbers"] for sample in samples] == [[1], [2, 3]]
    assert [sample["status"] for sample in samples] == ["passed", "wrong"]


def test_the_middle_of_a_long_text_is_left_out_and_counted(html: str) -> None:
    segments = unpacked(html)["problems"][1]["runs"][0]["samples"][0]["text"]
    kept = sum(
        len(part) if isinstance(part, str) else len(part[0]) if isinstance(part, list) else 0 for part in segments
    )
    left_out = sum(part for part in segments if isinstance(part, int))
    assert kept + left_out == len(LONG) + 1 + len(gold(PROBLEMS[1]))
    assert left_out > 900_000
    assert [PROBLEMS[1].output] in segments
    assert "Of 1 long texts the middle was left out" in html


def test_the_same_files_give_the_same_page(page: Path, html: str) -> None:
    files = sorted(str(path) for path in page.parent.glob("*put.jsonl"))
    again = page.with_name("again.html")
    order = [
        path
        for end in ("'>_output.jsonl", "plain_output.jsonl", "plain_input.jsonl")
        for path in files
        if path.endswith(end)
    ]
    problems = str(page.with_name("problems.jsonl"))
    result = CliRunner().invoke(main, ["report", *order, "--problems", problems, "-o", str(again)])
    assert result.exit_code == 0, result.output
    assert again.read_text(encoding="utf-8") == html


def test_eight_thousand_long_completions_stay_below_5_megabytes(tmp_path: Path) -> None:
    """800 problems, ten different completions of 1,500 characters that compress badly, as reasoning does."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(5000)]
    problems, rows = [], []
    for number in range(800):
        base = SMOKE[number % len(SMOKE)]
        problems.append({**vars(base), "id": f"p{number}"})
        texts = [f"{' '.join(chance.choices(words, k=230))}\n[ANSWER]{gold(base)}[/ANSWER]" for _ in range(10)]
        rows.append({"id": f"p{number}", "completions": texts})
    assert sum(len(text) for row in rows for text in row["completions"]) > 10_000_000
    run = write_rows(tmp_path / "run_output.jsonl", rows)
    problem_file = write_rows(tmp_path / "problems.jsonl", problems)
    out = tmp_path / "report.html"
    result = CliRunner().invoke(main, ["report", str(run), "--problems", str(problem_file), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert out.stat().st_size < 5_000_000
    body = unpacked(out.read_text(encoding="utf-8"))
    samples = body["problems"][799]["runs"][0]["samples"]
    assert len(samples) == 10
    assert all([problems[799]["output"]] in sample["text"] for sample in samples)


# --- figures ---


def test_a_published_run_is_placed_beside_its_published_score(tmp_path: Path) -> None:
    files = [official("codellama-7b_temp0.2_input.json"), official("codellama-7b_temp0.2_output.json")]
    out = tmp_path / "report.html"
    result = CliRunner().invoke(main, ["report", *map(str, files), "--problems", str(PUBLISHED), "-o", str(out)])
    assert result.exit_code == 0, result.output
    text = re.sub(r"<[^>]+>", "|", out.read_text(encoding="utf-8"))
    # The leaderboard has 35.9 and 34.2 for this model.
    assert re.search(r"\|codellama-7b\|+35\.9\|+34\.2\|", text)
    stated = [json.loads(file.read_text())["pass_at_1"] for file in files]
    row = re.search(r"\|codellama-7b_temp0\.2 ◀ run 1 and run 2\|+([0-9.]+)\|+([0-9.]+)\|", text)
    assert row is not None
    assert [float(row[1]), float(row[2])] == pytest.approx(stated, abs=0.051)


def test_a_run_on_other_problems_has_no_place(html: str) -> None:
    assert "other problems" in html
    assert "Among the published models" not in html


def test_charts_are_svg_with_the_names_escaped() -> None:
    svg = charts.places("p", data.published(), [(Pair("<b>&$x$", 50.0, 40.0), 0), (Pair("one side", None, 30.0), 1)])
    root = ElementTree.fromstring(svg)
    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "<b>&$x$: input 50.0 %, output 40.0 %" in titles
    assert "one side: output 30.0 %" in titles
    assert sum(title == "codellama-7b: input 35.9 %, output 34.2 %" for title in titles) == 1
    assert not re.search(r"#0a0[bcd]", svg)


def test_curve_is_pass_at_k(page: Path) -> None:
    # One of three passes: pass@1 1/3, pass@2 1 - C(2,2)/C(3,2) = 2/3, pass@3 1.
    text = re.sub(r"<[^>]+>", "|", page.read_text(encoding="utf-8"))
    row = re.search(r"\|pass@k %\|.*?\|run 1: [^|]*\|+33\.3 \([^|]*\|+66\.7 \([^|]*\|+100\.0 \(", text, re.DOTALL)
    assert row is not None


# --- the command ---


def test_says_where_it_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    completions(tmp_path / "a_output.jsonl", gold)
    result = CliRunner().invoke(main, ["report", "a_output.jsonl"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Wrote report.html (")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_never_writes_over_an_input(tmp_path: Path) -> None:
    path = completions(tmp_path / "a_output.jsonl", gold)
    before = path.read_bytes()
    result = CliRunner().invoke(main, ["report", str(path), "-o", str(path)])
    assert result.exit_code == 1
    assert "is an input" in result.output
    assert path.read_bytes() == before


def test_two_problems_under_one_id_are_refused(tmp_path: Path) -> None:
    first, second = [{"id": "x", "code": "def f(x):\n    return x", "input": n, "output": n} for n in "12"]
    files = []
    for name, doc in (("a", first), ("b", second)):
        row = {"doc": doc, "resps": [["assert f(1) == 1"]], "arguments": {"gen_args_0": {"arg_0": "assert f(1) == ??"}}}
        files.append(str(write_rows(tmp_path / f"{name}.jsonl", [row])))
    result = CliRunner().invoke(main, ["report", *files, "-o", str(tmp_path / "r.html")])
    assert result.exit_code == 1
    assert "x is one problem in" in result.output
    assert not (tmp_path / "r.html").exists()


def test_missing_libraries_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "matplotlib" else real(name, *rest)
    )
    result = CliRunner().invoke(main, ["report", str(completions(tmp_path / "a_output.jsonl", gold))])
    assert result.exit_code == 1
    assert result.output == (
        "Error: the report needs matplotlib, which is not installed: pip install matplotlib\n"
    )


def test_without_isolation_the_page_stands_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cruxeval_tasks.judging.pool import IsolationError

    def refuses(*_: object, **__: object) -> dict[str, int]:
        raise IsolationError("seccomp is missing here")

    monkeypatch.setattr("cruxeval_tasks.report.difficulty.executed_lines", refuses)
    out = tmp_path / "r.html"
    result = CliRunner().invoke(main, ["report", str(completions(tmp_path / "a_output.jsonl", gold)), "-o", str(out)])
    assert result.exit_code == 0, result.output
    html = out.read_text(encoding="utf-8")
    assert "Executed lines are not shown: seccomp is missing here" in html
    assert unpacked(html)["problems"][0]["executed"] is None
    assert json.dumps(unpacked(html))
