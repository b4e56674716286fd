"""The replacement vDSO: the code that gives a process the clock page's time instead of the kernel's."""

import os
import platform
import struct
from functools import cache
from pathlib import Path

from batkube.clock.page import PAGE, SIZE
from batkube.clock.ptrace import HeldProcess, TraceError

IMAGE = Path(__file__).parent / "native" / "vdso-x86_64.so"

_AT_SYSINFO_EHDR = 33
_MMAP, _MPROTECT, _CLOSE, _OPENAT = 9, 10, 3, 257
_READ, _WRITE, _EXECUTE = 1, 2, 4
_SHARED, _PRIVATE, _FIXED, _ANONYMOUS = 1, 2, 0x10, 0x20
_AT_FDCWD = -100


@cache
def image() -> bytes:
    """Return its code, without relocations: it works wherever it is mapped, right above the two clock pages."""
    return IMAGE.read_bytes()


def missing() -> str:
    """Say why no program of this machine can be given it; empty if programs can."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return f"needs Linux on x86_64, this is {platform.system()} on {platform.machine()}"
    return ""


def install(process: HeldProcess, page: str) -> None:
    """Map the clock page (a file) and the replacement into the process, and enter it as the process's vDSO.

    Raises TraceError.
    """
    entry = process.auxiliary(_AT_SYSINFO_EHDR)
    if entry is None:
        raise TraceError("the kernel gives it no vDSO")
    path = (process.registers.rsp - PAGE) & ~15
    process.write(path, os.fsencode(page) + b"\0")
    fd = process.call(_OPENAT, _AT_FDCWD, path, os.O_RDWR | os.O_CLOEXEC)
    code = image()
    code_size = -(-len(code) // PAGE) * PAGE
    base = process.call(_MMAP, 0, SIZE + code_size, _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, 0)
    process.call(_MMAP, base, PAGE, _READ, _SHARED | _FIXED, fd, 0)
    process.call(_MMAP, base + PAGE, PAGE, _READ | _WRITE, _SHARED | _FIXED, fd, PAGE)
    process.write(base + SIZE, code)
    process.call(_MPROTECT, base + SIZE, code_size, _READ | _EXECUTE)
    process.call(_CLOSE, fd)
    process.write(entry, struct.pack("<Q", base + SIZE))
