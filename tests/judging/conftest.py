"""What the tests of the judge share."""

from __future__ import annotations

import ctypes
import os
import platform
import sys

import pytest


@pytest.fixture(scope="session")
def isolation() -> None:
    """Skip where the machine cannot isolate answers. Asked of the kernel, since the code under test might be wrong."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        pytest.skip(f"isolation is for Linux on x86_64 and aarch64, not {sys.platform} on {platform.machine()}")
    if ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) < 1:  # landlock_create_ruleset: its version
        pytest.skip("this kernel offers no Landlock")
    if not os.path.exists("/proc/sys/kernel/seccomp/actions_avail"):
        pytest.skip("this kernel offers no seccomp filters")
