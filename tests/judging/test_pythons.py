"""The 800 gold answers pass in both directions on every Python that the package supports.

Interpreters are looked for as `python3.X` on the path, under pyenv, and in CRUXEVAL_PYTHONS (paths, separated by `:`).
Judging needs the standard library alone, so they need no packages.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROBLEMS = ROOT.parent / "shared" / "cruxeval" / "cruxeval.jsonl"

PROGRAM = """
import collections, json, sys
from cruxeval_tasks.judging.judge import Check, Judge

rows = [json.loads(line) for line in open(sys.argv[1])]
checks = [Check("output", row["code"], row["output"], row["output"]) for row in rows]
checks += [Check("input", row["code"], row["output"], "f(" + row["input"] + ")") for row in rows]
wrong = [Check("output", row["code"], row["output"], "('no', " + row["output"] + ")") for row in rows[:20]]
wrong += [Check("input", "def f(*a): return object", row["output"], "f(" + row["input"] + ")") for row in rows[:20]]
with Judge(workers=2) as judge:
    verdicts = judge.judge(checks + wrong)
print(json.dumps({
    "version": list(sys.version_info[:2]),
    "gold": collections.Counter(v.status.value for v in verdicts[:len(checks)]),
    "wrong": collections.Counter(v.status.value for v in verdicts[len(checks):]),
}))
"""


def interpreter(version: str) -> str | None:
    named = [path for path in os.environ.get("CRUXEVAL_PYTHONS", "").split(":") if path]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*named, shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
    if version == "{}.{}".format(*sys.version_info):
        found.append(sys.executable)
    for path in found:
        if path is None:
            continue
        asked = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
        )
        if asked.stdout.strip() == version:
            return path
    return None


@pytest.mark.parametrize("version", ["3.10", "3.11", "3.12", "3.13"])
def test_all_gold_answers_pass(version: str) -> None:
    if not PROBLEMS.exists():
        pytest.skip("../shared/cruxeval/cruxeval.jsonl is absent")
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [python, "-c", PROGRAM, str(PROBLEMS)], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["version"] == list(map(int, version.split(".")))
    assert said["gold"] == {"passed": 1600}
    assert said["wrong"] == {"wrong": 40}
