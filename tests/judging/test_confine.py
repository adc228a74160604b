"""Each layer of the confinement: with it the attempt fails, without it the same attempt goes through."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from cruxeval_tasks.judging import confine
from cruxeval_tasks.judging.confine import LAYERS, filter_program
from cruxeval_tasks.judging.judge import Check, Judge, Status
from cruxeval_tasks.judging.pool import Limits, Pool, Reply, Request

ROOT = Path(__file__).parents[2]
F = frozenset({"f"})  # what a call of `f` uses of the problem's module


def attempt(code: str, argument: Any, layers: Collection[str] = LAYERS, *, plain: bool = False) -> Reply:
    """Run `code` as a problem's code, in a worker with these layers."""
    pool = Pool(1, Limits(), layers)
    try:
        return pool.run([Request(code, f"f({argument!r})", F, plain, 10_000)])[0]
    finally:
        pool.close()


def all_but(*layers: str) -> list[str]:
    return [layer for layer in LAYERS if layer not in layers]


def refused(reply: Reply) -> bool:
    return reply.kind == "raised" and reply.body[0] in ("PermissionError", "OSError", "BlockingIOError")


pytestmark = pytest.mark.usefixtures("isolation")


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


SOCKET = "def f(x):\n    import socket\n    socket.socket().close()\n    return 'open'"
READ = "def f(path):\n    return open(path).read()"
WRITE = "def f(path):\n    open(path, 'w').close()\n    return 'written'"
MEMORY = "def f(size):\n    return len(bytearray(size))"
RESERVE = "def f(size):\n    import mmap\n    return len(mmap.mmap(-1, size))"  # asks for memory without touching it
KILL = "def f(pid):\n    import os\n    os.kill(pid, 9)\n    return 'sent'"
FORK = """
def f(x):
    import os
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return 'forked'
"""
DAEMON = """
def f(x):
    import os, time
    child = os.fork()
    if child == 0:
        os.setsid()
        time.sleep(60)
        os._exit(0)
    return child
"""
CAPABILITIES = """
def f(x):
    return [line.split()[1] for line in open('/proc/self/status') if line.startswith('Cap')]
"""


@pytest.mark.parametrize("plain", [True, False])
def test_a_socket_needs_seccomp_out(plain: bool) -> None:
    assert refused(attempt(SOCKET, 1, plain=plain))
    assert attempt(SOCKET, 1, all_but("seccomp"), plain=plain) == Reply("value", "open")


@pytest.mark.parametrize("plain", [True, False])
def test_a_fork_needs_seccomp_out(plain: bool) -> None:
    assert refused(attempt(FORK, 1, plain=plain))
    # RLIMIT_NPROC stands behind it in a worker that need not fork itself; it does not bind root.
    layers = all_but("seccomp", "rlimits") if plain else all_but("seccomp")
    assert attempt(FORK, 1, layers, plain=plain) == Reply("value", "forked")


def test_a_daemon_needs_seccomp_out() -> None:
    assert refused(attempt(DAEMON, 1))
    reply = attempt(DAEMON, 1, all_but("seccomp"))
    assert reply.kind == "value"
    os.kill(reply.body, signal.SIGKILL)  # raises if it had not outlived its check


@pytest.mark.parametrize("plain", [True, False])
def test_reading_outside_the_library_needs_landlock_out(tmp_path: Path, plain: bool) -> None:
    secret = tmp_path / "secret"
    secret.write_text("data")
    for folder in (secret, *tmp_path.parents[: len(tmp_path.parts) - 2], tmp_path):
        folder.chmod(0o755)  # so that file modes are not what refuses
    assert refused(attempt(READ, str(secret), plain=plain))
    assert attempt(READ, str(secret), all_but("landlock"), plain=plain) == Reply("value", "data")


def test_site_packages_are_not_the_library() -> None:
    inside = os.path.dirname(pytest.__file__)
    reply = attempt("def f(path):\n    import os\n    return os.open(path, 0)", os.path.join(inside, "__init__.py"))
    assert refused(reply)


def test_writing_needs_landlock_out(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    for folder in tmp_path.parents[: len(tmp_path.parts) - 2]:
        folder.chmod(0o755)
    target = tmp_path / "new"
    assert refused(attempt(WRITE, str(target)))
    assert not target.exists()
    assert attempt(WRITE, str(target), all_but("landlock")) == Reply("value", "written")
    assert target.exists()


def test_killing_needs_seccomp_and_the_landlock_scope_out(victim: subprocess.Popen[bytes]) -> None:
    assert refused(attempt(KILL, victim.pid))
    assert victim.poll() is None
    assert attempt(KILL, victim.pid, all_but("seccomp", "landlock", "privileges")) == Reply("value", "sent")
    assert victim.wait(10) == -signal.SIGKILL


@pytest.mark.parametrize("plain", [True, False])
def test_ten_gigabytes_need_rlimits_out(plain: bool) -> None:
    size = 10 * 2**30
    assert attempt(MEMORY, size, plain=plain).kind == "memory"
    assert refused(attempt(RESERVE, size, plain=plain))
    assert attempt(RESERVE, size, all_but("rlimits"), plain=plain) == Reply("value", size)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to drop")
def test_capabilities_need_privileges_out() -> None:
    with_layer = attempt(CAPABILITIES, 1, ["privileges"])
    assert set(with_layer.body) == {"0" * 16}
    assert set(attempt(CAPABILITIES, 1, []).body) != {"0" * 16}


def test_codecs_load_inside() -> None:
    # sample_621 catches the LookupError that a library out of reach would give.
    code = "def f(text, name):\n    return text.encode(name)"
    with Judge(workers=1) as judge:
        (verdict,) = judge.judge([Check("input", code, "b'13:45:56'", "f('13:45:56', 'shift_jis')")])
    assert verdict.status is Status.PASSED


def test_standard_input_is_empty_and_output_goes_nowhere(capfd: pytest.CaptureFixture[str]) -> None:
    code = "def f(x):\n    import sys\n    print('out')\n    print('err', file=sys.stderr)\n    return sys.stdin.read()"
    assert attempt(code, 1) == Reply("value", "")
    assert capfd.readouterr() == ("", "")


def test_only_the_channel_is_inherited(tmp_path: Path) -> None:
    code = "def f(x):\n    import os\n    return sorted(os.listdir('/proc/self/fd'), key=int)"
    with open(tmp_path / "held", "w") as held:
        os.set_inheritable(held.fileno(), True)
        reply = attempt(code, 1, ["privileges"], plain=True)
    assert reply.kind == "value"
    assert len(reply.body) <= 5, reply.body  # the three standard ones, the channel, and the folder being listed


# --- the filter, on both architectures, without running it ---


def run_filter(machine: str, may_fork: bool, arch: int, number: int, *arguments: int) -> int:
    """A small BPF machine for the four instructions that the filter uses."""
    data = {0: number, 4: arch} | {16 + 8 * i: value for i, value in enumerate(arguments)}
    program, position, accumulator = filter_program(machine, may_fork), 0, 0
    while True:
        code, yes, no, operand = program[position]
        position += 1
        if code == 0x20:
            accumulator = data.get(operand, 0)
        elif code == 0x15:
            position += yes if accumulator == operand else no
        elif code == 0x35:
            position += yes if accumulator >= operand else no
        else:
            assert code == 0x06
            return operand


ALLOW, KILL_PROCESS, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_filter_rules(machine: str) -> None:
    arch = ARCHITECTURES[machine]
    read, clone, execve, kill, prlimit = {
        "x86_64": (0, 56, 59, 62, 302),
        "aarch64": (63, 220, 221, 129, 261),
    }[machine]
    for may_fork in (True, False):
        assert run_filter(machine, may_fork, arch, read) == ALLOW
        assert run_filter(machine, may_fork, arch, execve) == EPERM
        assert run_filter(machine, may_fork, arch, kill) == EPERM
        assert run_filter(machine, may_fork, arch, 435) == ENOSYS  # clone3
        assert run_filter(machine, may_fork, arch ^ 1, read) == KILL_PROCESS
    assert run_filter(machine, True, arch, clone, 0x01200011) == ALLOW
    assert run_filter(machine, False, arch, clone, 0x01200011) == EPERM
    assert run_filter(machine, True, arch, clone, 0x10000011) == EPERM  # CLONE_NEWUSER
    assert run_filter(machine, True, arch, prlimit, 0) == ALLOW
    assert run_filter(machine, True, arch, prlimit, 4242) == EPERM


def test_x32_calls_end_the_process() -> None:
    assert run_filter("x86_64", True, ARCHITECTURES["x86_64"], 0x40000000) == KILL_PROCESS


def test_another_architecture_is_named() -> None:
    with pytest.raises(confine.ConfinementError, match="riscv64"):
        filter_program("riscv64", False)


@pytest.mark.parametrize(
    ("column", "header", "prefix"),
    [
        (0, "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", ""),
        (1, "/usr/include/asm-generic/unistd.h", "3264_"),
    ],
)
def test_numbers_are_the_kernels(column: int, header: str, prefix: str) -> None:
    if not os.path.exists(header):
        pytest.skip(f"{header} is not installed (Debian: linux-libc-dev)")
    defined = dict(re.findall(r"#define __NR_?(\w+)\s+(\d+)", Path(header).read_text()))
    aliases = {"newfstatat": "fstatat"} if column else {}
    for name, numbers in confine._NUMBERS.items():
        known = aliases.get(name, name)
        expected = defined.get(known) or defined.get(f"{prefix}{known}")
        assert numbers[column] == (int(expected) if expected else None), name


# --- machines that lack something ---


def run_without(facility: str, program: str) -> str:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("without.py")), facility, program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


MISSING = """
from cruxeval_tasks.judging.judge import Check, IsolationError, Judge
code = "def f(x):\\n    return x + 1"
with Judge() as judge:
    print([v.status.value for v in judge.judge([Check("output", code, "2", "2"), Check("output", code, "2", "3")])])
    try:
        judge.judge([Check("input", code, "2", "f(1)")])
    except IsolationError as error:
        print(error)
with Judge(allow_unisolated=True) as judge:
    print([v.status.value for v in judge.judge([Check("input", code, "2", "f(1)"), Check("input", code, "2", "f(2)")])])
    print(sorted(judge.isolation))
"""


@pytest.mark.parametrize("facility", ["landlock", "seccomp"])
def test_without_a_facility(facility: str) -> None:
    literals, error, opted_in, layers = run_without(facility, MISSING).splitlines()
    assert literals == "['passed', 'wrong']"
    assert f"({facility}: " in error
    assert "allow_unisolated" in error
    assert opted_in == "['passed', 'wrong']"
    assert layers == str(sorted(set(LAYERS) - {facility}))


@pytest.mark.parametrize("facility", ["landlock", "seccomp"])
def test_doctor_without_a_facility(facility: str) -> None:
    program = "from cruxeval_tasks.judging.doctor import examine\nprint([f.name for f in examine() if f.ok is False])"
    assert run_without(facility, program) == f"['{facility}']\n"
