"""The host's own command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from driver import question_and_gold

import cruxeval_tasks
from cruxeval_tasks.problems import Problem

HERE = Path(__file__).parent
TASKS = Path(cruxeval_tasks.TASK_CONFIGS)
NAMES = sorted(path.stem for path in TASKS.glob("*.yaml"))


def host(*arguments: str) -> str:
    """Run the host's command with the scripted model known to it, and return what it printed."""
    paths = [str(HERE), str(Path(cruxeval_tasks.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(HERE / "lm_eval_scripted.py"), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout + done.stderr


def test_every_file_defines_the_task_or_group_of_its_name() -> None:
    assert NAMES
    for name in NAMES:
        assert re.search(rf"^(task|group): {name}$", (TASKS / f"{name}.yaml").read_text(), re.MULTILINE), name


def test_ls_shows_every_task_and_group() -> None:
    listed = host("ls", "tasks", "--include_path", str(TASKS))
    rows = {line.split("|")[1].strip() for line in listed.splitlines() if line.startswith("|")}
    assert set(NAMES) <= rows


def test_validate_accepts_every_task_and_group() -> None:
    assert "All tasks found and valid" in host("validate", "--tasks", ",".join(NAMES), "--include_path", str(TASKS))


@pytest.fixture
def script(tmp_path: Path, smoke: list[Problem]) -> Path:
    """A script that answers both directions of the smoke problems rightly."""
    path = tmp_path / "script.json"
    path.write_text(json.dumps({q: a for d in "oi" for q, a in question_and_gold(smoke, d)}))
    return path


def check_run(printed: str, output: Path, smoke: list[Problem]) -> None:
    cells = [[c.strip() for c in line.split("|")] for line in printed.splitlines() if line.startswith("|")]
    scores = [float(row[row.index("pass@1") + 2]) for row in cells if "pass@1" in row]
    assert scores == [1.0] * 3 or scores == [1.0] * 4  # the group, each direction, and maybe the group again below
    for direction in "oi":
        (log,) = output.rglob(f"samples_*cruxeval_{direction}_smoke_*.jsonl")
        samples = [json.loads(line) for line in log.read_text().splitlines()]
        assert [s["doc"]["id"] for s in samples] == [p.id for p in smoke[:5]]
        assert all(s["pass@1"] == 1.0 and s["answered"] == 1.0 for s in samples)


def test_run_with_flags(script: Path, tmp_path: Path, smoke: list[Problem]) -> None:
    printed = host(
        "run", "--model", "scripted", "--model_args", f"script={script}", "--tasks", "cruxeval_smoke",
        "--include_path", str(TASKS), "--log_samples", "--output_path", str(tmp_path / "out"), "--limit", "5",
    )  # fmt: skip
    check_run(printed, tmp_path / "out", smoke)


def test_run_with_a_config_file(script: Path, tmp_path: Path, smoke: list[Problem]) -> None:
    problems = Path(cruxeval_tasks.__file__).parent / "smoke.jsonl"
    config = tmp_path / "config.yaml"
    config.write_text(
        f"model: scripted\nmodel_args: {{script: {script}}}\ntasks: [cruxeval_o, cruxeval_i]\n"
        f"include_path: {TASKS}\nmetadata: {{problems: {problems}}}\nlimit: 2\nnum_fewshot: 1\n"
    )
    printed = host("run", "--config", str(config))
    rows = [[c.strip() for c in line.split("|")] for line in printed.splitlines() if line.startswith("|")]
    assert [float(row[row.index("pass@1") + 2]) for row in rows if "pass@1" in row] == [1.0, 1.0]
    asked = [json.loads(line)[0] for line in Path(f"{script}.asked").read_text().splitlines()]
    assert len(asked) == 4
    assert all(prompt.count("\n[PYTHON]\n") == 2 for prompt in asked)
