"""What this machine offers for isolating answers, found out by trying it."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass

from cruxeval_tasks.judging.confine import LAYERS, landlock_abi
from cruxeval_tasks.judging.judge import Check, Judge
from cruxeval_tasks.judging.pool import IsolationError, Limits, Pool, WorkerError

# Each of these is a problem's code that tries something and returns whether it went through.
_ATTEMPTS = {
    "read a file outside the standard library": "open({outside!r}).close()",
    "write a file": "os.close(os.open('/tmp', os.O_WRONLY | os.O_TMPFILE))",
    "open a socket": "import socket; socket.socket()",
    "start a process": "os.fork() or os._exit(0)",
    "signal another process": "os.kill(os.getppid(), 0)",
}

_TEMPLATE = """
import os
def f(x):
    try:
        {attempt}
    except OSError:
        return 'refused'
    return 'done'
"""


@dataclass(frozen=True)
class Finding:
    """One fact about the machine: `ok` is False where answers cannot be judged with it, None where it only informs."""

    name: str
    ok: bool | None
    detail: str


def examine() -> list[Finding]:
    """Return the facts that decide whether answers can be judged here, in the order in which to read them."""
    findings = [
        Finding("Python", None, f"{platform.python_version()} ({sys.executable})"),
        Finding("system", None, f"{platform.system()} {platform.release()} on {platform.machine()}"),
        Finding("user", None, "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "not root"),
        Finding("Landlock", None, f"ABI {abi}" if (abi := landlock_abi()) else "not offered by this kernel"),
    ]
    layers = [_try_layer(layer) for layer in LAYERS]
    findings += layers
    if all(finding.ok for finding in layers):
        findings.append(_try_all())
        if findings[-1].ok:
            findings += _try_breaking_out()
    return findings


def _try_layer(layer: str) -> Finding:
    try:
        return Finding(layer, True, Pool(1, Limits(), [layer]).start()[layer])
    except (IsolationError, WorkerError) as error:
        return Finding(layer, False, str(error).removeprefix(f"{layer}: "))


def _try_all() -> Finding:
    try:
        with Judge(workers=1) as judge:
            check = Check("input", "def f(x):\n    return x.encode('shift_jis')", "b'a'", "f('a')")
            verdicts = judge.judge([check, Check("input", check.code, check.output, "f('a' * 1)")])
    except (IsolationError, WorkerError) as error:
        return Finding("judging", False, str(error))
    wrong = [verdict for verdict in verdicts if not verdict.passed]
    if wrong:
        return Finding("judging", False, f"a right answer did not pass: {wrong[0].status.value} {wrong[0].reason}")
    return Finding("judging", True, "a right answer passes, in both kinds of worker")


def _try_breaking_out() -> list[Finding]:
    outside = os.path.abspath(__file__)
    findings = []
    with Judge(workers=1) as judge:
        for name, attempt in _ATTEMPTS.items():
            code = _TEMPLATE.format(attempt=attempt.format(outside=outside))
            (verdict,) = judge.judge([Check("input", code, "'refused'", "f(1)")])
            detail = "refused" if verdict.passed else f"NOT refused: {verdict.status.value} {verdict.obtained or ''}"
            findings.append(Finding(name, verdict.passed, detail))
    return findings
