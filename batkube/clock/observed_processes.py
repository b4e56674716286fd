"""The observed processes: those that were named, and all that they start.

The kernel is asked for new threads and children only if there may be some: if a process or thread was started on this
machine (`births`) since all were known, or if an observed one has ended (its children then have another parent).
"""

import os
from pathlib import Path

from batkube.clock.births import Births
from batkube.clock.threads import Thread, ThreadEnded

_TICKS = os.sysconf("SC_CLK_TCK")


class ObservedProcess:
    """One process and its threads.

    Its task folder is kept open, so that a later process with the same id is not mistaken for it.
    """

    def __init__(self, pid: int) -> None:
        """Open the files of process ``pid``. Raises ThreadEnded if there is no such process."""
        self.pid = pid
        self.threads: dict[int, Thread] = {}
        try:
            self._tasks = os.open(f"/proc/{pid}/task", os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, ProcessLookupError):
            raise ThreadEnded from None

    def refresh(self) -> bool:
        """Bring ``threads`` up to date, and tell whether there are new ones.

        Raises ThreadEnded if the process is gone.
        """
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
        """Return the seconds of processor time that it and its ended children have used; 0 if it is gone."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return 0.0
        return sum(map(int, stat.rpartition(")")[2].split()[11:15])) / _TICKS

    def close(self) -> None:
        """Close the files."""
        for thread in self.threads.values():
            thread.close()
        os.close(self._tasks)


class ProcessTree:
    """The named processes (roots) and their descendants.

    A descendant is followed until it ends, even if its parent has ended before.
    """

    def __init__(self) -> None:
        self.roots: set[int] = set()
        self.processes: dict[int, ObservedProcess] = {}
        self.generation = 0
        """A number that grows when a process comes or goes."""
        self._births = Births()
        self._threads: list[Thread] | None = None
        self._born: bytes | None = None
        """The last birth at the time when the kernel was asked for new threads and processes."""
        self._complete: bytes | None = None
        """The last birth at the time when all threads were known."""

    def add(self, pid: int) -> None:
        """Observe ``pid`` and what it starts."""
        self.roots.add(pid)
        self._follow(pid)

    def adopt(self, pid: int) -> bool:
        """Observe ``pid`` as if one of the processes had started it; tell whether it was not observed before."""
        return pid not in self.processes and self._follow(pid)

    def remove(self, pid: int) -> None:
        """Stop observing ``pid``, and the processes that only it has started."""
        self.roots.discard(pid)
        for process in self.processes.values():
            process.close()
        self.processes.clear()
        self._changed()
        for root in sorted(self.roots):
            self._follow(root)

    def ended_roots(self) -> list[int]:
        """Return the roots that do not exist any more, or that only wait for their parent to take note of their end."""
        return [pid for pid in sorted(self.roots) if not self._lives(pid)]

    def threads(self) -> list[Thread]:
        """Return all threads known by now."""
        if self._threads is None:
            self._threads = [thread for process in self.processes.values() for thread in process.threads.values()]
        return self._threads

    def complete(self) -> bool:
        """Tell whether there are no other threads than the known ones, provided that these sleep."""
        return self._complete is not None and self._births.last() == self._complete

    def refresh(self) -> bool:
        """Find new threads and children, and tell whether there are any. Drop those that have ended."""
        self._complete, self._born = None, self._births.last()
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
        self._threads = None
        return new

    def completed(self) -> None:
        """Note that all threads slept when ``refresh`` found no new one, so that none is new until one is started."""
        if self._complete is None:
            self._complete = self._born

    def incomplete(self) -> None:
        """Note that a thread has ended: it is to be dropped, and the processes it had started have another parent."""
        self._complete = None

    def close(self) -> None:
        """Close all files."""
        for pid in list(self.processes):
            self._drop(pid)
        self.roots.clear()
        self._births.close()

    def _follow(self, pid: int) -> bool:
        try:
            self.processes[pid] = ObservedProcess(pid)
        except ThreadEnded:
            return False
        self._changed()
        return True

    def _drop(self, pid: int) -> None:
        self.processes.pop(pid).close()
        self._changed()

    def _changed(self) -> None:
        self.generation += 1
        self._threads = self._born = self._complete = None

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
