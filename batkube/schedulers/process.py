"""A scheduler under test as a process of ours: started, watched, ended, never left behind."""

import os
import signal
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol


class SchedulerError(Exception):
    """The scheduler cannot be started. The text says which program and why."""


class LaunchedProcess(Protocol):
    """A process, in a session of its own."""

    @property
    def pid(self) -> int:
        """The process id of the program that was started."""

    @property
    def returncode(self) -> int | None:
        """The exit code; None while it runs; negative for a signal."""

    async def wait(self) -> int:
        """Wait for its end, and return the exit code."""

    async def stop(self) -> int:
        """End it and all in its session, by force after a while. Wait for its end, and return the exit code."""


Launch = Callable[[Sequence[str], Mapping[str, str], IO[bytes]], Awaitable[LaunchedProcess]]
"""Starts a command with an environment and an output, and chooses its clock. Raises OSError."""


class SchedulerProcess:
    """A running scheduler, its output in a file."""

    def __init__(self, name: str, process: LaunchedProcess, log: Path) -> None:
        self.name = name
        """The user's name for it."""
        self.log = log
        self._process = process

    @classmethod
    async def start(
        cls, name: str, command: Sequence[str], *, log: Path, env: Mapping[str, str], launch: Launch
    ) -> "SchedulerProcess":
        """Run ``command`` with ``env`` added to our environment, its output going to the file ``log``.

        Raises SchedulerError.
        """
        try:
            with log.open("wb") as output:
                process = await launch(command, {**os.environ, **env}, output)
        except OSError as error:
            raise SchedulerError(f"cannot start the scheduler {name}: {error}") from None
        return cls(name, process, log)

    @property
    def pid(self) -> int:
        """The process id of the program that was started; its descendants have others."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while it runs; negative for a signal."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for its end, and return the exit code."""
        return await self._process.wait()

    def how_it_ended(self) -> str:
        """Return ``exited with code 3`` or ``was killed by SIGKILL``, and its last words."""
        code = self.exit_code
        if code is None:
            return "is running"
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
        words = self.last_words()
        return f"{how}; its last words: {words}" if words else f"{how}, without a word"

    def last_words(self, length: int = 200) -> str:
        """Return the last line of its output that is not empty, at most ``length`` characters of it."""
        try:
            with self.log.open("rb") as output:
                output.seek(max(0, output.seek(0, os.SEEK_END) - 8192))
                lines = output.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last if len(last) <= length else last[: length - 3] + "..."

    async def stop(self) -> None:
        """End it and all it started."""
        await self._process.stop()
