"""The processor time and the memory of a process and all that it started, from /proc (Linux)."""

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessUse:
    """The processor time and memory of a process so far."""

    cpu_seconds: float
    """User and system time, with that of its children."""
    peak_memory: int
    """The most bytes that were resident; of several processes the sum of their peaks."""


def process_use(pid: int) -> ProcessUse | None:
    """Return what a process and its descendants have used; None where that cannot be read."""
    cpu, memory, found = 0.0, 0, False
    for member in _family(pid):
        folder = Path(f"/proc/{member}")
        try:
            cells = (folder / "stat").read_text().rpartition(")")[2].split()
            status = (folder / "status").read_text()
        except OSError:
            continue  # it has ended meanwhile
        found = True
        cpu += sum(map(int, cells[11:15])) / _TICKS
        peak = next((line for line in status.splitlines() if line.startswith("VmHWM:")), "VmHWM: 0")
        memory += int(peak.split()[1]) * 1024
    return ProcessUse(cpu, memory) if found else None


def _family(pid: int) -> list[int]:
    """Return the process and its descendants."""
    members = [pid]
    for member in members:
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                members += map(int, children.read_text().split())
            except OSError:
                continue
    return members
