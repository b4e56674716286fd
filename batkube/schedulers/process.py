"""A scheduler under test as a process of ours: started, watched, ended, never left behind."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1
GRACE = 5.0
"""Real seconds between SIGTERM and SIGKILL."""


class SchedulerError(Exception):
    """The scheduler cannot be started. The text says which program and why."""


class SchedulerProcess:
    """A running scheduler, in a session of its own, its output in a file."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name = name
        """What a user calls it."""
        self.log = log
        self._process = process

    @classmethod
    async def start(
        cls, name: str, command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None
    ) -> "SchedulerProcess":
        """Run ``command`` with ``env`` added to our environment, its output going to the file ``log``.

        It ends when we end, even by SIGKILL (Linux). Raises SchedulerError.
        """
        try:
            with log.open("wb") as output:
                process = await cls._spawn(command, output, env or {})
        except OSError as error:
            raise SchedulerError(f"cannot start the scheduler {name}: {error}") from None
        return cls(name, process, log)

    @staticmethod
    async def _spawn(command: Sequence[str], output: IO[bytes], env: Mapping[str, str]) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, **env},
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )

    @property
    def pid(self) -> int:
        """The process id of the program started; descendants are its own."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait for its end; the exit code."""
        return await self._process.wait()

    def how_it_ended(self) -> str:
        """``exited with code 3`` or ``was killed by SIGKILL``, and its last words."""
        code = self.exit_code
        if code is None:
            return "is running"
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with code {code}"
        words = self.last_words()
        return f"{how}; its last words: {words}" if words else f"{how}, without a word"

    def last_words(self, length: int = 200) -> str:
        """The last line of its output that says something, at most ``length`` characters of it."""
        try:
            with self.log.open("rb") as output:
                output.seek(max(0, output.seek(0, os.SEEK_END) - 8192))
                lines = output.read().decode(errors="replace").splitlines()
        except OSError:
            return ""
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return last if len(last) <= length else last[: length - 3] + "..."

    async def stop(self) -> None:
        """End it and all it started: SIGTERM to its session, SIGKILL to what is left after GRACE seconds."""
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._process.wait(), GRACE)
        except TimeoutError:
            pass
        finally:
            self._signal(signal.SIGKILL)
        await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        # The leader's pid stays the session's as long as any of its processes lives.
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
