"""One million checks through one judge: memory, descriptors and processes must stay flat.

    python benchmarks/soak.py [--checks 1000000] [--workers 2]

Mostly literal arguments to a shared worker, with literals, forks, exceptions and answers that never end among them.
Prints the resident memory of the judge's process and of its workers every tenth of the way.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from cruxeval_tasks.judging.judge import Check, Judge, Status

CODES = [
    "def f(x):\n    return [x, str(x), {x: x * 2}]",
    "def f(x):\n    s = []\n    for i in range(x % 50):\n        s.append(i * x)\n    return s",
    "def f(x):\n    return ''.join(chr(97 + (x + i) % 26) for i in range(20))",
    "def f(x):\n    return {i: i % 3 for i in range(x % 20)}",
]
SPIN = "def f(x):\n    while True:\n        x += 1"


def check(n: int) -> tuple[Check, Status]:
    """The n-th check and the status that it must get."""
    if n % 20_000 == 1:
        return Check("input", SPIN, "1", f"f({n})"), Status.TIMEOUT
    if n % 500 == 2:
        return Check("input", "def f(x):\n    return x", str(n), f"f({n} + 0)"), Status.PASSED  # in a fork
    if n % 5 == 3:
        return Check("output", "def f(x):\n    return x", str(n), f"{n}"), Status.PASSED  # nothing runs
    if n % 7 == 4:
        return Check("input", "def f(x, y):\n    return x // y", "0", f"f({n}, 0)"), Status.RAISED
    return Check("input", CODES[n % len(CODES)], "'no such value'", f"f({n})"), Status.WRONG


def resident(pid: int) -> int:
    """Resident memory of a process in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checks", type=int, default=1_000_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    batch = 10_000
    start = time.perf_counter()
    with Judge(workers=options.workers) as judge:
        for done in range(0, options.checks, batch):
            pairs = [check(n) for n in range(done, min(done + batch, options.checks))]
            for verdict, (judged, expected) in zip(judge.judge([c for c, _ in pairs]), pairs, strict=True):
                assert verdict.status is expected, (judged, verdict)
            if (done + batch) % max(batch, options.checks // 10) == 0:
                assert judge.started
                workers = [w.process.pid for place in judge._open()[0]._places for w in place.values()]
                print(
                    f"{done + batch:>9,} checks, {time.perf_counter() - start:6.1f} s: judge {resident(os.getpid()):,} KiB, "
                    f"workers {sorted(map(resident, workers))} KiB, {len(os.listdir('/proc/self/fd'))} descriptors",
                    flush=True,
                )


if __name__ == "__main__":
    main()
