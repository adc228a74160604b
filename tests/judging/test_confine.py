"""Each layer of the confinement: with it the attempt fails, without it the same attempt goes through."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cruxeval_tasks.judging import confine
from cruxeval_tasks.judging.confine import LAYERS, filter_program
from cruxeval_tasks.judging.judge import Check, Judge, Status
from cruxeval_tasks.judging.pool import IsolationError, Limits, Pool, Reply, Request, WorkerError

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


@pytest.mark.parametrize("plain", [True, False])
def test_the_standard_files_are_all_null(plain: bool) -> None:
    code = "def f(numbers):\n    import os\n    return [os.readlink(f'/proc/self/fd/{n}') for n in numbers]"
    assert attempt(code, [0, 1, 2], ["privileges"], plain=plain) == Reply("value", [os.devnull] * 3)


def test_only_the_channel_is_inherited(tmp_path: Path) -> None:
    code = "def f(x):\n    import os\n    return sorted(os.listdir('/proc/self/fd'), key=int)"
    with open(tmp_path / "held", "w") as held:
        os.set_inheritable(held.fileno(), True)
        reply = attempt(code, 1, ["privileges"], plain=True)
    assert reply.kind == "value"
    assert len(reply.body) <= 5, reply.body  # the three standard ones, the channel, and the folder being listed


# --- what a worker says of itself ---


def script(folder: Path, command: str) -> str:
    """A stand-in for the interpreter, that prepares something and becomes it."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\n{command} "$@"\n')
    path.chmod(0o755)
    return str(path)


LIMITS = """
def f(names):
    import resource
    return {name: resource.getrlimit(getattr(resource, name))[0] for name in names}
"""


@pytest.mark.parametrize("plain", [True, False])
def test_limits(plain: bool) -> None:
    unlimited = resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY
    expected = {name: 0 for name in ("RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE")}
    expected |= {"RLIMIT_AS": 2 * 2**30} if unlimited else {}
    processes = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    # A fork server must fork; its child has the limit on time.
    expected |= {"RLIMIT_NPROC": 0} if plain else {"RLIMIT_NPROC": processes, "RLIMIT_CPU": 5 + 2}
    assert attempt(LIMITS, list(expected), ["rlimits"], plain=plain) == Reply("value", expected)
    (descriptors,) = attempt(LIMITS, ["RLIMIT_NOFILE"], ["rlimits"], plain=plain).body.values()
    assert 10 <= descriptors <= 64


def test_a_limit_is_never_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", script(tmp_path, f"ulimit -n 9; exec {sys.executable}"))
    assert attempt(LIMITS, ["RLIMIT_NOFILE"], ["rlimits"]) == Reply("value", {"RLIMIT_NOFILE": 9})


STATUS = """
def f(name):
    return next(line.split()[1:] for line in open('/proc/self/status') if line.startswith(name + ':'))
"""
DUMPABLE = "def f(x):\n    import ctypes\n    return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)"  # PR_GET_DUMPABLE
IDS = "def f(x):\n    import os\n    return os.getresuid(), os.getresgid(), os.getgroups()"


@pytest.mark.parametrize("plain", [True, False])
def test_privileges_never_come_back_and_memory_is_not_dumped(plain: bool) -> None:
    for layers in ([], ["privileges"]):
        assert attempt(STATUS, "NoNewPrivs", layers, plain=plain) == Reply("value", ["1"])
        assert attempt(DUMPABLE, 1, layers, plain=plain) == Reply("value", 0 if layers else 1)


ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root has something to give up")
SYSTEM_PYTHON = "/usr/bin/python3"  # whose library everybody can read


@pytest.fixture
def system_python(monkeypatch: pytest.MonkeyPatch) -> None:
    version = "import sys; sys.exit(sys.version_info < (3, 10))"
    if not os.access(SYSTEM_PYTHON, os.X_OK) or subprocess.run([SYSTEM_PYTHON, "-c", version]).returncode:
        pytest.skip(f"needs {SYSTEM_PYTHON}, version 3.10 or newer")
    monkeypatch.setattr(sys, "executable", SYSTEM_PYTHON)


@ROOT_ONLY
@pytest.mark.usefixtures("system_python")
def test_root_becomes_nobody() -> None:
    nobody = (65534,) * 3
    assert attempt(IDS, 1, ["privileges"]) == Reply("value", (nobody, nobody, []))
    pool = Pool(1, Limits(), LAYERS)
    assert pool.start()["privileges"] == "root dropped for user 65534"
    assert pool.run([Request("def f(x):\n    return x", "f(1)", F, True, 100)]) == [Reply("value", 1)]
    pool.close()


@ROOT_ONLY
@pytest.mark.usefixtures("system_python")
@pytest.mark.parametrize("capability", ["kill", "setgid", "setuid"])
def test_root_without_what_it_takes_stays_root(
    capability: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a worker could not be stopped by a judge without CAP_KILL, or not become nobody for good."""
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv of util-linux")
    lacking = f"exec setpriv --inh-caps=-{capability} --bounding-set=-{capability} {SYSTEM_PYTHON}"
    monkeypatch.setattr(sys, "executable", script(tmp_path, lacking))
    reply = attempt(IDS, 1, ["privileges"])
    assert reply == Reply("value", (os.getresuid(), os.getresgid(), os.getgroups()))
    assert set(attempt(CAPABILITIES, 1, ["privileges"]).body) == {"0" * 16}


@ROOT_ONLY
def test_root_stays_root_where_nobody_could_read_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = Path(os.__file__).parent
    (tmp_path / library.parent.name).symlink_to(library.parent)
    tmp_path.chmod(0o700)
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    reply = attempt(IDS, 1, all_but("seccomp"))
    assert reply == Reply("value", (os.getresuid(), os.getresgid(), os.getgroups()))


@ROOT_ONLY
def test_root_that_cannot_become_nobody_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    groups: list[list[int]] = []
    before = os.getresuid(), os.getresgid()

    def refuse(user: int) -> None:
        if user != 0:  # in a user namespace the number may have no meaning
            raise OSError(errno.EINVAL, "no such user here")

    monkeypatch.setattr(os, "setgroups", groups.append)
    monkeypatch.setattr(os, "setegid", refuse)
    monkeypatch.setattr(os, "getgroups", lambda: [4, 24])
    assert confine._becomes_nobody() is False
    assert groups == [[], [4, 24]]
    assert (os.getresuid(), os.getresgid()) == before


def test_without_proc_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(path: str) -> None:
        raise FileNotFoundError(path)

    monkeypatch.setattr(confine, "open", missing, raising=False)
    monkeypatch.setattr(os, "setgroups", lambda groups: pytest.fail("given up"))
    assert confine._becomes_nobody() is False


def test_a_worker_whose_library_cannot_be_read_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One codec is missing, as if it could not be opened; and a module that not every interpreter has."""
    real = Path(os.__file__).parent
    library = tmp_path / real.parent.name / real.name
    (library / "encodings").mkdir(parents=True)
    for entry in [*real.iterdir(), *(real / "encodings").glob("*.py")]:
        place = library / entry.relative_to(real)
        if not place.exists() and entry.name not in ("shift_jis.py", "lzma.py"):
            place.symlink_to(entry)
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    with pytest.raises(IsolationError, match="library cannot be read"):
        Pool(1, Limits(), LAYERS).start()


def test_a_worker_whose_judge_is_gone_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # the judge that it is told of; its parent is another
    for layers in (LAYERS, ()):
        with pytest.raises(WorkerError, match=r"exit status 1\): it said nothing"):
            Pool(1, Limits(), layers).start()


# --- the rules for files, for every version of the kernel's interface, without putting them up ---


def rules_for(abi: int, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[int, ...], dict[str, int]]:
    """What `_restrict_files` asks of the kernel: the attributes of the rule set, and rights by path."""
    attributes: list[tuple[int, ...]] = []
    rules: dict[str, int] = {}
    restricted = []

    def syscall(number: int, *arguments: Any) -> int:
        plain = [getattr(argument, "value", argument) for argument in arguments]
        if plain == [None, 0, 1]:  # LANDLOCK_CREATE_RULESET_VERSION
            return abi
        if number == 444:
            data, size, flags = plain
            assert (len(data), flags) == (size, 0)
            attributes.append(struct.unpack(f"={size // 8}Q", data))
            return os.open(os.devnull, os.O_RDONLY)
        if number == 445:
            _, kind, rule, flags = plain
            rights, beneath = struct.unpack("=Qi", rule)
            assert (kind, flags) == (1, 0)  # LANDLOCK_RULE_PATH_BENEATH
            rules[os.readlink(f"/proc/self/fd/{beneath}")] = rights
            return 0
        assert number == 446
        assert plain[1] == 0
        restricted.append(plain[0])
        return 0

    monkeypatch.setattr(confine, "_syscall", syscall)
    before = len(os.listdir("/proc/self/fd"))
    assert confine._restrict_files() == f"ABI {abi}, reads of the standard library only"
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(restricted) == 1
    (only,) = attributes
    return only, rules


@pytest.mark.parametrize(
    ("abi", "rights", "fields"),
    # linux/landlock.h: TRUNCATE is the 15th right and came with ABI 3, REFER the 14th with 2, IOCTL_DEV the 16th with 5;
    # two rights of the network with 4; two scopes with 6. A kernel refuses a field or a right that it does not know.
    [(1, 13, 1), (2, 14, 1), (3, 15, 1), (4, 15, 2), (5, 16, 2), (6, 16, 3), (7, 16, 3), (99, 16, 3)],
)
def test_all_that_the_kernel_can_refuse_is_refused(
    abi: int, rights: int, fields: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    attributes, rules = rules_for(abi, monkeypatch)
    assert attributes == (2**rights - 1, 3, 3)[:fields]
    assert rules == {str(tmp_path): 8}


def test_what_may_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "lib"
    for name in ("encodings", "site-packages", "dist-packages"):
        (library / name).mkdir(parents=True)
    (library / "os.py").touch()
    (library / "gone.so").symlink_to(tmp_path / "nowhere")
    (tmp_path / "lib.zip").touch()
    (tmp_path / "beside.py").touch()
    places = ["", str(library), str(tmp_path / "lib.zip"), str(tmp_path / "none.zip"), str(tmp_path / "beside.py")]
    monkeypatch.setattr(sys, "path", places)
    _, rules = rules_for(3, monkeypatch)
    read_file, read_folder = 4, 8  # linux/landlock.h
    assert rules == {
        str(library): read_folder,
        str(library / "encodings"): read_file | read_folder,
        str(library / "os.py"): read_file,
        str(tmp_path / "lib.zip"): read_file,
    }


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


def test_a_kernel_without_landlock(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(number: int, *arguments: object) -> int:
        raise OSError(errno.EOPNOTSUPP, "switched off")

    monkeypatch.setattr(confine, "_syscall", refuse)
    assert confine.landlock_abi() == 0
    with pytest.raises(confine.ConfinementError, match=r"^landlock: .*5\.13"):
        confine._restrict_files()
    monkeypatch.setattr(confine, "landlock_abi", lambda: 3)
    with pytest.raises(confine.ConfinementError, match=r"^landlock: .*switched off"):
        confine._restrict_files()


class Refusing:
    """A C library whose calls all fail."""

    def __getattr__(self, name: str) -> Any:
        def fail(*arguments: object) -> int:
            ctypes.set_errno(errno.EPERM)
            return -1

        return fail


def test_a_kernel_that_refuses_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confine, "_libc", Refusing)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # so that nothing is given up before the refusal
    reason = os.strerror(errno.EPERM)
    with pytest.raises(confine.ConfinementError, match=f"^seccomp: .*{reason}"):
        confine.forbid_system_calls(False)
    with pytest.raises(confine.ConfinementError, match=f"^privileges: capset: {reason}"):
        confine._drop_privileges(os.getppid())
    with pytest.raises(confine.ConfinementError, match=f"^privileges: no_new_privs: {reason}"):
        confine.confine(os.getppid(), 2**30, False, ["privileges"])
    with pytest.raises(PermissionError):
        confine._syscall(0)


def test_limits_that_cannot_be_set_or_do_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[int, tuple[int, int]] = {}
    names = ("RLIMIT_AS", "RLIMIT_CORE", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_MEMLOCK")  # macOS has no MSGQUEUE
    fake = SimpleNamespace(
        RLIM_INFINITY=-1,
        getrlimit=lambda kind: (0, 16 if kind == 3 else -1),
        setrlimit=given.__setitem__,
        **{name: number for number, name in enumerate(names)},
    )
    monkeypatch.setattr(confine, "resource", fake)
    confine._limit_resources(2**30, True)
    assert given == {0: (2**30, 2**30), 1: (0, 0), 2: (0, 0), 3: (16, 16), 4: (0, 0)}

    def refuse(kind: int, limits: tuple[int, int]) -> None:
        raise ValueError("not allowed")

    fake.setrlimit = refuse
    with pytest.raises(confine.ConfinementError, match=r"^rlimits: RLIMIT_AS cannot be set: not allowed"):
        confine._limit_resources(2**30, True)


def test_other_systems_have_rlimits_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(confine, "_limit_resources", lambda memory, may_fork: f"{memory} {may_fork}")
    with pytest.raises(confine.ConfinementError, match=r"^privileges: .*darwin"):
        confine.confine(os.getppid(), 5, False, LAYERS)
    assert confine.confine(os.getppid(), 5, False, ["rlimits"]) == {"rlimits": "5 False"}


@pytest.mark.parametrize("facility", ["landlock", "seccomp"])
def test_a_worker_names_what_it_lacks(facility: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = Path(__file__).with_name("without.py")
    run = "import os, sys; os.execv(sys.argv[3], sys.argv[3:])"
    worker = f"exec {sys.executable} {without} {facility} '{run}' {sys.executable}"
    monkeypatch.setattr(sys, "executable", script(tmp_path, worker))
    with pytest.raises(IsolationError, match=f"^{facility}: the kernel"):
        Pool(1, Limits(), LAYERS).start()
    check = Check("input", "def f(x):\n    return x", "1", "f(1)")
    with Judge(workers=1) as judge, pytest.raises(IsolationError, match=rf"\({facility}: .*allow_unisolated"):
        judge.judge([check])
    with Judge(workers=1, allow_unisolated=True) as judge:
        assert judge.judge([check])[0].passed
        assert list(judge.isolation) == all_but(facility)


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
