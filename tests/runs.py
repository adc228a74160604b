"""The command, and files of completions for the tests of what reads them: small ones on the bundled problems."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cruxeval_tasks.cli import main
from cruxeval_tasks.problems import Problem, smoke_problems

SHARED = Path(__file__).parents[1] / ".." / "shared"
PUBLISHED = SHARED / "cruxeval" / "cruxeval.jsonl"
OFFICIAL = SHARED / "official_results"

SMOKE = list(smoke_problems())


def cruxeval(*arguments: object, status: int = 0) -> Result:
    """Run the command in this process. It has to end with `status`, and never with a traceback."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    assert "Traceback" not in result.output
    return result


def official(name: str) -> Path:
    """One of the authors' result files, and with it the published problems."""
    path = OFFICIAL / name
    if not path.exists() or not PUBLISHED.exists():
        pytest.skip(f"needs the authors' results {path} and the published problems {PUBLISHED}")
    return path


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]], end: str = "") -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + end, encoding="utf-8")
    return path


def gold(problem: Problem) -> str:
    return f"assert f({problem.input}) == {problem.output}"


def wrong(problem: Problem) -> str:
    return f"assert f({problem.input}) == 'no function here returns this'"


def completions(path: Path, *complete: Callable[[Problem], str], problems: Sequence[Problem] = SMOKE) -> Path:
    """JSONL rows with a completion of each problem by each function; the file name says the direction."""
    return write_rows(path, [{"id": p.id, "completions": [c(p) for c in complete]} for p in problems])


def host_row(problem: Problem, texts: Sequence[str], direction: str = "output", **changes: Any) -> dict[str, Any]:
    """A row as the host logs it, without what nobody here reads."""
    call, value = (problem.input, "??") if direction == "output" else ("??", problem.output)
    doc = {"id": problem.id, "code": problem.code, "input": problem.input, "output": problem.output}
    prompt = f"[PYTHON]\n{problem.code}\nassert f({call}) == {value}\n[/PYTHON]\n[ANSWER]\n"
    return {
        "doc_id": 0,
        "doc": doc,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["[/ANSWER]"], "temperature": 0.2}}},
        "resps": [list(texts)],
        "filtered_resps": [list(texts)],
        "filter": "answer",
        "pass@1": 1.0,
        **changes,
    }
