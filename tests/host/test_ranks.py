"""Two processes under `accelerate launch`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cruxeval_tasks
from cruxeval_tasks.problems import Problem

pytest.importorskip("torch", reason="several ranks need torch")
pytest.importorskip("accelerate", reason="several ranks need accelerate")

HERE = Path(__file__).parent


def test_each_problem_counts_once_and_has_its_ten_samples(tmp_path: Path, smoke: list[Problem]) -> None:
    """An odd number of problems makes the host pad the second rank: its last problem gets twenty completions.

    With three problems that rank has no other, from which the number of samples could be read.
    """
    limit = 3
    out = tmp_path / "results.json"
    paths = [str(HERE), str(Path(cruxeval_tasks.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
         "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no", "--main_process_port", "0",
         str(HERE / "two_ranks.py"), "cruxeval_o_n10", str(limit), str(out)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(out.read_text())
    assert found["ranks"] == 2
    samples = {s["doc"]["id"]: s for s in found["samples"]}
    assert len(found["samples"]) == limit
    assert sorted(samples) == sorted(p.id for p in smoke[:limit])
    assert sorted(len(s["resps"][0]) for s in found["samples"]) == [10] * (limit - 1) + [20]
    for sample in found["samples"]:
        assert len(sample["filtered_resps"][0]) == 10
        assert sample["pass@1"] == 0.5
    assert found["results"]["pass@1,answer"] == 0.5
    assert found["results"]["pass@10,answer"] == 1.0
