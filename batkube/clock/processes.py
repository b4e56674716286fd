"""The processes that are observed: those named, and all that they start."""

import os
from collections.abc import Iterator
from pathlib import Path

from batkube.clock.threads import Thread, ThreadEnded

_TICKS = os.sysconf("SC_CLK_TCK")


class Process:
    """One process and its threads.

    Its task folder is kept open, so that a later process with the same id is not meant.
    """

    def __init__(self, pid: int) -> None:
        """Raises ThreadEnded where there is no such process."""
        self.pid = pid
        self.threads: dict[int, Thread] = {}
        try:
            self._tasks = os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, ProcessLookupError):
            raise ThreadEnded from None

    def refresh(self) -> bool:
        """Bring ``threads`` up to date; whether there are new ones. Raises ThreadEnded when the process is gone."""
        try:
            now = [int(tid) for tid in os.listdir(self._tasks)]  # noqa: PTH208
        except (FileNotFoundError, ProcessLookupError):
            raise ThreadEnded from None
        if not now:
            raise ThreadEnded
        if len(now) == len(self.threads) and all(tid in self.threads for tid in now):
            return False
        for tid in [tid for tid in self.threads if tid not in now]:
            self.threads.pop(tid).close()
        new = False
        for tid in now:
            if tid not in self.threads:
                try:
                    self.threads[tid] = Thread(self.pid, tid)
                except ThreadEnded:
                    continue
                new = True
        return new

    def processor_time(self) -> float:
        """Seconds of processor time that it and those of its children that have ended have used; 0 when it is gone."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return 0.0
        return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / _TICKS

    def close(self) -> None:
        """Let go of the files."""
        for thread in self.threads.values():
            thread.close()
        os.close(self._tasks)


class ProcessTree:
    """Roots and their descendants. A descendant is followed until it ends, also when its parent has ended before it."""

    def __init__(self) -> None:
        self.roots: set[int] = set()
        self.processes: dict[int, Process] = {}
        self.generation = 0
        """Grows when a process comes or goes."""

    def add(self, pid: int) -> None:
        """Observe ``pid`` and what it starts."""
        self.roots.add(pid)
        self._follow(pid)

    def adopt(self, pid: int) -> bool:
        """Observe ``pid`` as if one of the processes had started it; whether it was not observed before."""
        return pid not in self.processes and self._follow(pid)

    def remove(self, pid: int) -> None:
        """Do not observe ``pid`` any more, nor what only it has started."""
        self.roots.discard(pid)
        for process in self.processes.values():
            process.close()
        self.processes.clear()
        self.generation += 1
        for root in sorted(self.roots):
            self._follow(root)

    def ended_roots(self) -> list[int]:
        """Roots that there are no more, or that are only waiting for their parent to notice."""
        return [pid for pid in sorted(self.roots) if not self._lives(pid)]

    def threads(self) -> Iterator[Thread]:
        """All threads known by now."""
        for process in self.processes.values():
            yield from process.threads.values()

    def refresh(self) -> bool:
        """Find new threads and children; whether there are any. Ended ones are dropped."""
        new = False
        for pid, process in list(self.processes.items()):
            try:
                new |= process.refresh()
                children = [child for thread in process.threads.values() for child in thread.children()]
            except ThreadEnded:
                self._drop(pid)
                continue
            for child in children:
                if child not in self.processes:
                    new |= self._follow(child)
        return new

    def close(self) -> None:
        """Let go of everything."""
        for pid in list(self.processes):
            self._drop(pid)
        self.roots.clear()

    def _follow(self, pid: int) -> bool:
        try:
            self.processes[pid] = Process(pid)
        except ThreadEnded:
            return False
        self.generation += 1
        return True

    def _drop(self, pid: int) -> None:
        self.processes.pop(pid).close()
        self.generation += 1

    def _lives(self, pid: int) -> bool:
        process = self.processes.get(pid)
        if process is None:
            return False
        leader = process.threads.get(pid)
        if leader is None:
            return True
        try:
            return leader.state() not in "ZX" or len(process.threads) > 1
        except ThreadEnded:
            return False
