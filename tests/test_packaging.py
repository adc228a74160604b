from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from host_copy import ROOT

import cruxeval_tasks

pytestmark = pytest.mark.slow

PACKAGE_FILES = {
    str(p.relative_to(ROOT))
    for p in (ROOT / "cruxeval_tasks").rglob("*")
    if p.is_file() and "__pycache__" not in p.parts
}
CONFIG_FILES = {str(p.relative_to(ROOT)) for p in (ROOT / "task_configs").rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from that sdist, as an installer would."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


def install(folder: Path, wheel: Path) -> Path:
    """Install into a new environment that sees the tests' dependencies, and return its Python."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        str(wheel),
    ]
    ran = subprocess.run(pip, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (site,) = folder.glob("lib/python*/site-packages")
    # Behind its own packages, so that the one under test is found first; its `.pth` files are not read.
    outer = Path(pytest.__file__).parents[1]
    (site / "zz_outer.pth").write_text(f"{outer}\n")
    return python


def facts(python: Path, cwd: Path) -> list[str]:
    code = (
        "import cruxeval_tasks as c; from cruxeval_tasks.problems import smoke_problems; "
        "print(c.__file__, c.TASK_CONFIGS, len(list(smoke_problems())), sep='\\n')"
    )
    ran = subprocess.run([str(python), "-c", code], cwd=cwd, env={}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_the_wheel_holds_the_package_and_the_configs_inside_it(wheel: Path) -> None:
    assert {"task_configs/cruxeval_o.yaml", "task_configs/cruxeval_i.yaml"} <= CONFIG_FILES
    assert {"cruxeval_tasks/py.typed", "cruxeval_tasks/smoke.jsonl"} <= PACKAGE_FILES
    expected = PACKAGE_FILES | {f"cruxeval_tasks/{name}" for name in CONFIG_FILES}
    with zipfile.ZipFile(wheel) as archive:
        names = {n for n in archive.namelist() if ".dist-info/" not in n}
        (scripts,) = (n for n in archive.namelist() if n.endswith("entry_points.txt"))
        assert "cruxeval = cruxeval_tasks.cli:main" in archive.read(scripts).decode()
    assert names == expected


def test_the_sdist_holds_what_is_needed_to_build_and_to_test(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {n.split("/", 1)[1] for n in archive.getnames()}
    assert names >= PACKAGE_FILES | CONFIG_FILES
    assert names >= {"pyproject.toml", "README.md", "LICENSE", "Makefile", "tests/test_packaging.py"}
    assert not [n for n in names if "__pycache__" in n or n.startswith((".venv", ".cache"))]


def test_the_version_is_stated_once(wheel: Path) -> None:
    assert wheel.name.split("-")[1] == cruxeval_tasks.__version__


def test_the_installed_wheel_works_without_the_source(wheel: Path, tmp_path: Path) -> None:
    python = install(tmp_path / "venv", wheel)
    file, configs, problems = facts(python, tmp_path)
    assert Path(file).is_relative_to(tmp_path)
    assert configs == str(Path(file).parent / "task_configs")
    assert (Path(configs) / "cruxeval_o.yaml").is_file()
    assert int(problems) > 0
    script = tmp_path / "venv" / "bin" / "cruxeval"
    command = subprocess.run([script, "path"], env={}, capture_output=True, text=True)
    assert command.stdout == configs + "\n"


def test_an_editable_install_uses_the_source(tmp_path: Path) -> None:
    # What `pip install --editable` asks the build backend for, here without a download of the backend.
    code = f"from hatchling.build import build_editable; build_editable({str(tmp_path)!r})"
    built = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    python = install(tmp_path / "venv", wheel)
    file, configs, _ = facts(python, tmp_path)
    assert Path(file).parent == ROOT / "cruxeval_tasks"
    assert configs == str(ROOT / "task_configs")
    # No second copy of the configs that would go out of date.
    assert not list(tmp_path.rglob("cruxeval_o.yaml"))
