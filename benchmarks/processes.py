"""Programs that a benchmark starts, and what they use: processor time and memory, from /proc (Linux)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

_TICKS = os.sysconf("SC_CLK_TCK")


class StartError(RuntimeError):
    """A program cannot be started or ended at once. The text says which, and shows the end of its log."""


class Program:
    """One started program with a log of its own; a context manager that ends it."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self.name = Path(command[0]).name
        self._log = log
        with log.open("wb") as output:
            try:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
                )
            except OSError as error:
                raise StartError(f"{command[0]}: {error.strerror}") from None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def check(self) -> None:
        """Raise StartError if it has ended."""
        if self._process.poll() is not None:
            tail = "\n".join(self._log.read_text(errors="replace").splitlines()[-5:])
            raise StartError(f"{self.name} ended with exit code {self._process.returncode}:\n{tail}")

    def processor_seconds(self) -> float:
        """User and system time so far, of the program and its descendants."""
        return sum(processor_seconds(pid) for pid in family(self.pid))

    def peak_bytes(self) -> int:
        """The most memory that was resident, of the program and its descendants (sum of their peaks)."""
        return sum(_memory(pid, "VmHWM") for pid in family(self.pid))

    def resident_bytes(self) -> int:
        """The memory that is resident now, of the program and its descendants."""
        return sum(_memory(pid, "VmRSS") for pid in family(self.pid))

    def stop(self) -> None:
        """Ask it to end; after ten seconds end it."""
        if self._process.poll() is None:
            os.killpg(self.pid, signal.SIGTERM)
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
                self._process.wait()

    def __enter__(self) -> "Program":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Processes that want a core each."""
    started = [subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def settle(programs: Sequence[Program], *, below: float = 0.1, timeout: float = 15.0) -> None:
    """Wait, at most ``timeout`` seconds, until the programs together use less than ``below`` of one core."""
    end = time.monotonic() + timeout
    used = sum(program.processor_seconds() for program in programs)
    while time.monotonic() < end:
        time.sleep(1)
        before, used = used, sum(program.processor_seconds() for program in programs)
        if used - before < below:
            return


def family(pid: int) -> list[int]:
    """The process and its descendants."""
    members = [pid]
    for member in members:
        for children in Path(f"/proc/{member}/task").glob("*/children"):
            try:
                members += map(int, children.read_text().split())
            except OSError:
                continue
    return members


def processor_seconds(pid: int) -> float:
    """User and system time of one process so far; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _memory(pid: int, entry: str) -> int:
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{entry}:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
