"""A pytest plugin that measures branch coverage inside the judge's workers, for `make coverage`.

A worker can write no file and ends by SIGKILL, so coverage.py cannot run in it. Instead each is started with a tracer in
front of its program, which sends every new step from line to line over an inherited pipe at once. What came is left
beside coverage.py's own data, for `coverage combine`.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import pytest
from coverage import CoverageData

from cruxeval_tasks.judging import pool

# Steps are numbered as in coverage.py: negative for the way into a function and out of it.
_TRACER = """
import os, sys

def trace(frame, event, arg, known=set()):
    path, first = frame.f_code.co_filename, frame.f_code.co_firstlineno
    if not path.startswith({package!r}):
        return None
    last = -first

    def step(frame, event, arg):
        nonlocal last
        if event in ("line", "return"):
            now = frame.f_lineno if event == "line" else -first
            if (path, last, now) not in known:
                known.add((path, last, now))
                os.write({pipe}, f"{{last}} {{now}} {{path}}\\n".encode())
            last = now
        return step

    return step

sys.settrace(trace)
"""


class Steps:
    """Takes in what the workers of this process send."""

    def __init__(self) -> None:
        self.taken: dict[str, set[tuple[int, int]]] = defaultdict(set)
        reading, self.writing = os.pipe()
        self._reader = threading.Thread(target=self._read, args=(os.fdopen(reading, "rb"),), daemon=True)
        self._reader.start()

    def _read(self, lines: Any) -> None:
        for line in lines:
            # Hostile code of a test may have written to whatever it found open.
            if step := re.fullmatch(rb"(-?\d+) (-?\d+) (/.*\.py)\n", line):
                self.taken[step[3].decode()].add((int(step[1]), int(step[2])))

    def popen(self, *args: Any, pass_fds: tuple[int, ...], **kwargs: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(*args, pass_fds=(*pass_fds, self.writing), **kwargs)

    def save(self) -> None:
        os.close(self.writing)
        self._reader.join(10)  # a worker that somebody still holds keeps the pipe open
        data = CoverageData(suffix="workers")
        data.add_arcs(self.taken)
        data.write()


def pytest_configure(config: pytest.Config) -> None:
    steps = Steps()
    package = os.path.join(pool._PACKAGE_ROOT, "cruxeval_tasks")
    pool._BOOTSTRAP = _TRACER.format(package=package, pipe=steps.writing) + pool._BOOTSTRAP
    pool.subprocess = SimpleNamespace(  # type: ignore[assignment]
        Popen=steps.popen, DEVNULL=subprocess.DEVNULL, PIPE=subprocess.PIPE
    )
    config.add_cleanup(steps.save)
