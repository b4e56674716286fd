"""The mark that Go leaves on its programs, which are ELF files."""

import mmap
from pathlib import Path

_BUILD_INFO = b"\xff Go buildinf:"
"""The bytes at the start of the section .go.buildinfo, which every Go program has since 1.13 (debug/buildinfo)."""


def is_go_program(path: Path) -> bool:
    """Tell whether the file is a 64-bit ELF program that Go has built; False also for scripts and unreadable files."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return data[:5] == b"\x7fELF\x02" and data.find(_BUILD_INFO) >= 0
    except (OSError, ValueError):
        return False
