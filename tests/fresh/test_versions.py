"""The same seed gives the same file on every supported Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cruxeval_tasks

HERE = Path(__file__).parent
ROOT = Path(cruxeval_tasks.__file__).parents[1]
PUBLISHED = HERE.parents[1] / ".." / "shared" / "cruxeval" / "cruxeval.jsonl"
OTHERS = [version for version in ("3.10", "3.11", "3.12", "3.13") if version != "{}.{}".format(*sys.version_info[:2])]


def interpreter(version: str) -> str:
    """Return a Python of this version that runs, or skip."""
    homes = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    for path in [*map(str, homes), shutil.which(f"python{version}")]:
        if path and subprocess.run([path, "-c", ""], capture_output=True).returncode == 0:
            return path
    pytest.skip(f"no Python {version} on this machine")


def made(python: str, problems: Path) -> bytes:
    done = subprocess.run(
        [python, str(HERE / "make_fresh.py"), str(problems), "7", "2"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every 25th published problem where they are there, else of the bundled ones every third."""
    path = tmp_path_factory.mktemp("versions") / "problems.jsonl"
    if PUBLISHED.exists():
        lines = PUBLISHED.read_text(encoding="utf-8").splitlines(keepends=True)[::25]
    else:
        smoke = Path(cruxeval_tasks.__file__).with_name("smoke.jsonl")
        lines = smoke.read_text(encoding="utf-8").splitlines(keepends=True)[::3]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def here(problems: Path) -> bytes:
    return made(sys.executable, problems)


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS)
def test_same_bytes(version: str, problems: Path, here: bytes) -> None:
    python = interpreter(version)
    assert here.count(b"\n") >= 30
    assert made(python, problems) == here
