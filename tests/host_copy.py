"""A copy of the installed host without its thousands of tasks, to register with and to run."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def state_version(site: Path, version: str) -> None:
    """Give the host in a folder the metadata of this version, and no other."""
    for old in site.glob("lm_eval-*.dist-info"):
        shutil.rmtree(old)
    info = site / f"lm_eval-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: lm_eval\nVersion: {version}\n")


class HostCopy:
    """The host's code in a folder of ours. Of its tasks only its own CRUXEval is there.

    Attributes:
        site: The folder to put on the path.
        tasks: Its tasks folder.
        installed: The version of the installed host.
        version: The version that the copy's metadata states.
    """

    def __init__(self, site: Path) -> None:
        spec = importlib.util.find_spec("lm_eval")
        assert spec is not None
        assert spec.origin is not None
        source = Path(spec.origin).parent

        def ignored(folder: str, names: list[str]) -> list[str]:
            in_tasks = Path(folder) == source / "tasks"
            return [n for n in names if n == "__pycache__" or (in_tasks and not n.endswith(".py") and n != "cruxeval")]

        shutil.copytree(source, site / "lm_eval", ignore=ignored)
        self.site = site
        self.tasks = site / "lm_eval" / "tasks"
        self.installed = importlib.metadata.version("lm_eval")
        self.set_version(self.installed)

    def set_version(self, version: str) -> None:
        state_version(self.site, version)
        self.version = version

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python with this host and this package on its path, outside the source tree."""
        path = os.pathsep.join([str(self.site), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}
        return subprocess.run(
            [sys.executable, *arguments], cwd=self.site, env=environment, capture_output=True, text=True
        )

    def cruxeval(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "cruxeval_tasks", *arguments)

    def lm_eval(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "lm_eval", *arguments)
