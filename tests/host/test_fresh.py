"""Two models in the real host, on published and on fresh problems: one remembers the published set, one executes code."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from driver import question
from test_command import TASKS, host

from cruxeval_tasks import tracing
from cruxeval_tasks.cli import main
from cruxeval_tasks.fresh import selection
from cruxeval_tasks.judging.judge import open_pool
from cruxeval_tasks.problems import Problem, load_problems

PUBLISHED = Path(__file__).parents[2] / ".." / "shared" / "cruxeval" / "cruxeval.jsonl"

Complete = Callable[[Problem], str]


class Sets:
    """Some published problems and the fresh ones made from them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.original_path, self.fresh_path = folder / "original.jsonl", folder / "fresh.jsonl"
        lines = PUBLISHED.read_text(encoding="utf-8").splitlines(keepends=True)[::13]
        self.original_path.write_text("".join(lines), encoding="utf-8")
        made = CliRunner().invoke(main, ["fresh", "--problems", str(self.original_path), "-o", str(self.fresh_path)])
        assert made.exit_code == 0, made.output
        self.original, self.fresh = load_problems(self.original_path), load_problems(self.fresh_path)

    def log(self, direction: str, name: str, path: Path, complete: Complete) -> str:
        """Run the host on one set, and return the file in which it logs the samples."""
        script = self.folder / f"{name}.json"
        script.write_text(json.dumps({question(p, direction): complete(p) for p in load_problems(path)}))
        out = self.folder / name
        host(
            "run", "--model", "scripted", "--model_args", f"script={script}", "--tasks", f"cruxeval_{direction}",
            "--include_path", str(TASKS), "--metadata", json.dumps({"problems": str(path)}),
            "--log_samples", "--output_path", str(out),
        )  # fmt: skip
        (log,) = out.rglob(f"samples_cruxeval_{direction}_*.jsonl")
        return str(log)

    def gap(self, direction: str, name: str, complete: Complete) -> dict[str, Any]:
        logs = [
            self.log(direction, f"{name}_{direction}_{path.stem}", path, complete)
            for path in (self.original_path, self.fresh_path)
        ]
        result = CliRunner().invoke(main, ["compare", *logs, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> Sets:
    if not PUBLISHED.exists():
        pytest.skip(f"needs the 800 published problems in {PUBLISHED}")
    return Sets(tmp_path_factory.mktemp("sets"))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["o", "i"])
def test_a_model_that_remembers_the_published_problems(direction: str, sets: Sets) -> None:
    known = {p.code: p for p in sets.original}

    def remember(p: Problem) -> str:
        return f"assert f({known[p.code].input}) == {known[p.code].output}\n[/ANSWER]"

    found = sets.gap(direction, "memory", remember)
    assert found["functions"] == len(sets.fresh) >= 50
    assert found["pass_at_1"] == {"original": 100, "fresh": 0}
    assert found["gap"]["value"] == 100
    assert found["gap"]["low"] > 90


@pytest.mark.slow
def test_a_model_that_executes_the_code(sets: Sets) -> None:
    """It is given code and input alone, and runs them in the judge's confined workers."""
    with closing(open_pool(selection.LIMITS, workers=2)[0]) as pool:

        def execute(p: Problem) -> str:
            request = tracing.untraced_request(p.code, p.input)
            assert request is not None
            (reply,) = pool.run([request])
            return f"assert f({p.input}) == {selection.literal(reply.body)}\n[/ANSWER]"

        found = sets.gap("o", "executor", execute)
    assert found["functions"] == len(sets.fresh) >= 50
    assert found["pass_at_1"] == {"original": 100, "fresh": 100}
    assert found["gap"]["value"] == 0
    assert found["noise"] is True
