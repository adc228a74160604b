"""Confinement of a worker process: what it can still do after `confine` is compute and answer on one descriptor.

Linux only, on x86_64 and aarch64, through `ctypes`: no library does all of this from the standard library alone, and
nothing here may need a package (the worker starts without site-packages). Sources of the numbers: the kernel's
`asm/unistd.h`, `linux/landlock.h`, `linux/seccomp.h`, `linux/prctl.h`, `linux/capability.h`.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import signal
import struct
import sys
from collections.abc import Collection

LAYERS = ("rlimits", "privileges", "landlock", "seccomp")
"""Names of the layers, in the order in which `confine` puts them up."""

_NOBODY = 65534

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 4, 22, 24
_PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 38, 47
_CAP_KILL, _CAP_SETGID, _CAP_SETUID, _CAP_SETPCAP = 5, 6, 7, 8


class ConfinementError(Exception):
    """A layer could not be put up. The message names the layer and what is missing."""


# --- system calls ----------------------------------------------------------------------------------------------------


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, *arguments: int) -> int:
    """Return 0 or the errno of `prctl(option, …)`."""
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return ctypes.get_errno() if _libc().prctl(option, *padded) < 0 else 0


def _syscall(number: int, *arguments: object) -> int:
    """Return the result of a system call that libc has no name for, or raise OSError."""
    result = int(_libc().syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


# --- rlimits ---------------------------------------------------------------------------------------------------------


def _limit_resources(memory_bytes: int, may_fork: bool) -> str:
    limits = {
        "RLIMIT_AS": memory_bytes,
        "RLIMIT_CORE": 0,
        "RLIMIT_FSIZE": 0,
        "RLIMIT_NOFILE": 32,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
    }
    if not may_fork:  # a second lock on the door: binds every user but root
        limits["RLIMIT_NPROC"] = 0
    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        try:
            resource.setrlimit(kind, (value, value))
        except (OSError, ValueError) as error:
            raise ConfinementError(f"rlimits: {name} cannot be set: {error}") from error
    return f"{memory_bytes >> 20} MiB of address space, no core, no file growth"


# --- privileges ------------------------------------------------------------------------------------------------------


def _drop_privileges(parent: int) -> str:
    said = "unprivileged user"
    if os.geteuid() == 0:
        if _becomes_nobody():
            said = f"root dropped for user {_NOBODY}"
        else:
            said = "root without capabilities (the standard library is readable by root alone, or the user is fixed)"
    for capability in range(64):
        if _prctl(_PR_CAPBSET_DROP, capability):
            break  # past the last one, or not ours to drop: without execve and with no_new_privs nothing comes back
    _prctl(_PR_CAP_AMBIENT, 4)  # PR_CAP_AMBIENT_CLEAR_ALL
    header = struct.pack("=Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    if _libc().capset(header, bytes(24)) < 0:
        raise ConfinementError(f"privileges: capset: {os.strerror(ctypes.get_errno())}")
    _prctl(_PR_SET_DUMPABLE, 0)
    die_with_parent(parent)  # last, since a change of credentials clears it
    return said


def _becomes_nobody() -> bool:
    """Give up root for a user that owns nothing, if that user could still import the standard library."""
    try:
        with open("/proc/self/status") as status:
            effective = next(int(line.split()[1], 16) for line in status if line.startswith("CapEff"))
    except (OSError, StopIteration):
        return False
    # Without CAP_KILL our parent could not stop a worker of another user.
    if any(not effective >> needed & 1 for needed in (_CAP_KILL, _CAP_SETGID, _CAP_SETUID)):
        return False
    groups = os.getgroups()
    folders = _library_folders()  # found now: to a user who may not enter them they would seem not to be there
    try:
        os.setgroups([])
        os.setegid(_NOBODY)
        os.seteuid(_NOBODY)
        readable = _can_read(folders)
    except OSError:  # in a user namespace the number may have no meaning
        readable = False
    os.seteuid(0)
    os.setegid(0)
    if not readable:
        with contextlib.suppress(OSError):
            os.setgroups(groups)
        return False
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    return True


def _can_read(folders: list[str]) -> bool:
    try:
        for folder in folders:
            with os.scandir(folder) as entries:
                sample = [entry.path for entry in entries if entry.is_file()][:3]
            for path in sample:
                with open(path, "rb"):
                    pass
    except OSError:
        return False
    return True


def die_with_parent(parent: int) -> None:
    """Ask the kernel for SIGKILL when the parent dies, and leave at once where it is dead already."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


# --- Landlock --------------------------------------------------------------------------------------------------------

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FS_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_FOREIGN = ("site-packages", "dist-packages")


def landlock_abi() -> int:
    """Return the kernel's Landlock ABI version, 0 where it has none or it is switched off."""
    try:
        return _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except (OSError, AttributeError):
        return 0


def _library_folders() -> list[str]:
    """The folders of the standard library on `sys.path` (the worker has no site-packages)."""
    return [path for path in sys.path if path and os.path.isdir(path)]


def _restrict_files() -> str:
    abi = landlock_abi()
    if abi == 0:
        raise ConfinementError("landlock: the kernel offers none (Linux 5.13 or newer with Landlock switched on)")
    handled = _FS_RIGHTS[min(abi, 5)]
    network = 0b11 if abi >= 4 else 0  # bind and connect
    scoped = 0b11 if abi >= 6 else 0  # abstract sockets and signals
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    attributes = struct.pack("=QQQ", handled, network, scoped)[:size]
    try:
        ruleset = _syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), ctypes.c_uint32(0))
        for folder in _library_folders():
            # Names may be listed, contents read only of what is the library's own: packages can lie inside its folder.
            _allow(ruleset, folder, _READ_DIR)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name not in _FOREIGN:
                        _allow(ruleset, entry.path, _READ_FILE | (_READ_DIR if entry.is_dir() else 0))
        for archive in sys.path:
            if archive.endswith(".zip") and os.path.isfile(archive):
                _allow(ruleset, archive, _READ_FILE)
        _syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
        os.close(ruleset)
    except OSError as error:
        raise ConfinementError(f"landlock: {error}") from error
    return f"ABI {abi}, reads of the standard library only"


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # a dangling link in the library, say: stays forbidden
        return
    try:
        _syscall(
            _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), struct.pack("=Qi", rights, beneath), ctypes.c_uint32(0)
        )
    finally:
        os.close(beneath)


# --- seccomp ---------------------------------------------------------------------------------------------------------

# name: (x86_64, aarch64); None where the architecture has no such call
_NUMBERS: dict[str, tuple[int | None, int | None]] = {
    # the worker's channel, and files that Landlock lets it open
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67),
    "lseek": (8, 62), "open": (2, None), "openat": (257, 56), "getdents64": (217, 61), "fstat": (5, 80),
    "stat": (4, None), "lstat": (6, None), "newfstatat": (262, 79), "statx": (332, 291), "access": (21, None),
    "faccessat": (269, 48), "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78),
    "getcwd": (79, 17), "fcntl": (72, 25), "dup": (32, 23),
    # memory
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233),
    "brk": (12, 214),
    # signals to itself, timers, clocks
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "setitimer": (38, 103), "getitimer": (36, 102), "restart_syscall": (219, 128), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "gettimeofday": (96, 169),
    "select": (23, None), "pselect6": (270, 72),  # how Python 3.10 sleeps
    "time": (201, None), "times": (100, 153), "getrusage": (98, 165),
    # who and where
    "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "uname": (63, 160), "sysinfo": (99, 179),
    "sched_getaffinity": (204, 123), "sched_yield": (24, 124), "getrandom": (318, 278), "futex": (202, 98),
    "set_robust_list": (273, 99), "rseq": (334, 293), "set_tid_address": (218, 96), "arch_prctl": (158, None),
    "exit": (60, 93), "exit_group": (231, 94),
    # only the fork server: one child at a time, which then goes over to the shorter list
    "fork": (57, None), "clone": (56, 220), "wait4": (61, 260), "pipe2": (293, 59), "prlimit64": (302, 261),
    "prctl": (157, 167),
    # answered with ENOSYS, so that libc falls back to the older call whose arguments a filter can see
    "clone3": (435, 435),
}  # fmt: skip
_FORK_SERVER_ONLY = ("fork", "clone", "wait4", "pipe2", "prlimit64", "prctl")

# Values that the given argument may have; the call is refused otherwise.
_ARGUMENTS: dict[str, tuple[int, tuple[int, ...]]] = {
    "fcntl": (1, (0, 1, 2, 3, 1030)),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC
    "prlimit64": (0, (0,)),  # this process
    "prctl": (0, (_PR_SET_PDEATHSIG, _PR_SET_SECCOMP)),
    "clone": (0, (0x11, 0x01200011)),  # fork as musl and glibc call it: SIGCHLD, and where the child's id is kept
}

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _RETURN = 0x20, 0x15, 0x35, 0x06


def filter_program(machine: str, may_fork: bool) -> list[tuple[int, int, int, int]]:
    """Return the seccomp filter for `machine` as BPF instructions (code, jump if true, jump if false, operand).

    What is not listed fails with EPERM; another architecture's calls end the process.

    Raises:
        ConfinementError: The architecture is none that this filter was written for.
    """
    if machine not in _ARCHITECTURES:
        raise ConfinementError(f"seccomp: no filter for the architecture {machine} (x86_64 and aarch64 have one)")
    column, audit = _ARCHITECTURES[machine]
    program = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    if machine == "x86_64":  # the x32 interface shares the architecture's number
        program += [(_JUMP_GREATER_EQUAL, 0, 1, 0x40000000), (_RETURN, 0, 0, _KILL)]
    for name, numbers in _NUMBERS.items():
        number = numbers[column]
        if number is None or (name in _FORK_SERVER_ONLY and not may_fork):
            continue
        if name == "clone3":
            program += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
        elif name in _ARGUMENTS:
            index, values = _ARGUMENTS[name]
            body = [(_LOAD, 0, 0, 16 + 8 * index)]  # the low half: both architectures are little-endian
            for value in values:
                body += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
            body += [(_RETURN, 0, 0, _ERRNO | errno.EPERM)]
            program += [(_JUMP_EQUAL, 0, len(body), number), *body]
        else:
            program += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    return [*program, (_RETURN, 0, 0, _ERRNO | errno.EPERM)]


class _SockFprog(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def forbid_system_calls(may_fork: bool) -> str:
    """Install the filter on this process and all that it forks. A filter cannot be taken off, only added to."""
    program = filter_program(os.uname().machine, may_fork)
    code = b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
    pointer = _SockFprog(len(program), code)
    if _libc().prctl(_PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(pointer), 0, 0) < 0:
        raise ConfinementError(f"seccomp: the kernel refuses a filter: {os.strerror(ctypes.get_errno())}")
    return f"filter of {len(program)} instructions"


# --- all of it -------------------------------------------------------------------------------------------------------


def confine(parent: int, memory_bytes: int, may_fork: bool, layers: Collection[str]) -> dict[str, str]:
    """Put up `layers` on this process and return what each of them came to, in words.

    Args:
        parent: Process id of the judge, whose death ends this process.
        memory_bytes: Limit on the address space.
        may_fork: Whether this process is a fork server; its children call `forbid_system_calls(False)` themselves.
        layers: Those of `LAYERS` to put up.

    Raises:
        ConfinementError: A layer cannot be had here.
    """
    put_up: dict[str, str] = {}
    if "rlimits" in layers:
        put_up["rlimits"] = _limit_resources(memory_bytes, may_fork)
    if sys.platform != "linux":
        missing = [layer for layer in layers if layer != "rlimits"]
        if missing:
            raise ConfinementError(f"{missing[0]}: only Linux has it, and this is {sys.platform}")
        return put_up
    if code := _prctl(_PR_SET_NO_NEW_PRIVS, 1):  # the layers below it ask for this
        raise ConfinementError(f"privileges: no_new_privs: {os.strerror(code)}")
    if "privileges" in layers:
        put_up["privileges"] = _drop_privileges(parent)
    else:
        die_with_parent(parent)
    if "landlock" in layers:
        put_up["landlock"] = _restrict_files()
    if "seccomp" in layers:
        put_up["seccomp"] = forbid_system_calls(may_fork)
    return put_up
