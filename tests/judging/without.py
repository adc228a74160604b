"""Run a Python program on a machine that lacks a facility: ``python without.py landlock|seccomp CODE``.

The lack is made with a seccomp filter of this script's own, which the program and its workers inherit.
"""

import ctypes
import errno
import struct
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
PRCTL = {"x86_64": 157, "aarch64": 167}
PR_SET_SECCOMP = 22


def program(facility: str, machine: str) -> list[tuple[int, int, int, int]]:
    if facility == "landlock":  # landlock_create_ruleset, as a kernel before 5.13 answers it
        return [
            (LOAD, 0, 0, 0),
            (JUMP_EQUAL, 0, 1, 444),
            (RETURN, 0, 0, ERRNO | errno.ENOSYS),
            (RETURN, 0, 0, ALLOW),
        ]
    return [  # prctl(PR_SET_SECCOMP, …), as a kernel without CONFIG_SECCOMP_FILTER answers it
        (LOAD, 0, 0, 0),
        (JUMP_EQUAL, 0, 3, PRCTL[machine]),
        (LOAD, 0, 0, 16),
        (JUMP_EQUAL, 0, 1, PR_SET_SECCOMP),
        (RETURN, 0, 0, ERRNO | errno.EINVAL),
        (RETURN, 0, 0, ALLOW),
    ]


class Filter(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


if __name__ == "__main__":
    import os

    libc = ctypes.CDLL(None, use_errno=True)
    instructions = program(sys.argv[1], os.uname().machine)
    code = b"".join(struct.pack("=HBBI", *i) for i in instructions)
    zero = ctypes.c_ulong(0)
    if libc.prctl(38, ctypes.c_ulong(1), zero, zero, zero) != 0:
        sys.exit("no_new_privs is refused")
    if libc.prctl(PR_SET_SECCOMP, ctypes.c_ulong(2), ctypes.byref(Filter(len(instructions), code)), zero, zero) != 0:
        sys.exit("this machine has no seccomp to simulate with")
    exec(compile(sys.argv[2], "<program>", "exec"), {"__name__": "__main__"})
