"""A process of ours that the event loop looks after, without a thread and without the loop's child watcher.

The loop's own subprocesses cannot be used: to hold a process at its exec, nobody else may wait for it.
"""

import asyncio
import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

LOOK_EVERY = 0.05
"""Real seconds between two looks at a process, if the system does not announce its end."""

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def end_with_parent(number: signal.Signals) -> None:
    """Let this process be sent ``number`` when its parent ends, however that ends. To be called in the child."""
    prctl = getattr(_libc, "prctl", None)  # Linux has it
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, number)


class ChildProcess:
    """A process that leads its own session. It is killed when this process ends, however that ends."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdout: IO[bytes] | int | None = None,
        cwd: Path | None = None,
        pass_fds: Sequence[int] = (),
        before_exec: Callable[[], None] | None = None,
    ) -> None:
        """Start ``argv`` inside a running event loop. Standard error goes to the same place as ``stdout``.

        ``before_exec`` runs in the child. Raises OSError if the program cannot be run.
        """

        def prepare() -> None:
            end_with_parent(signal.SIGKILL)
            if before_exec is not None:
                before_exec()

        self._loop = asyncio.get_running_loop()
        self._popen = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            env=None if env is None else dict(env),
            cwd=cwd,
            pass_fds=pass_fds,
            start_new_session=True,
            preexec_fn=prepare,
        )
        self._ended = self._loop.create_future()
        try:
            self._pidfd = os.pidfd_open(self._popen.pid)
        except (AttributeError, OSError):  # Linux has it since 5.3
            self._look_for_end()
        else:
            self._loop.add_reader(self._pidfd, self._on_end)

    @property
    def pid(self) -> int:
        """The process id, which is also the id of its session."""
        return self._popen.pid

    @property
    def returncode(self) -> int | None:
        """The exit code; negative for a signal; None while it runs."""
        return self._popen.poll()

    async def wait(self) -> int:
        """Wait for its end, and return the exit code."""
        return int(await asyncio.shield(self._ended))

    def terminate(self) -> None:
        """Ask the process, and all in its session, to end."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process, and all in its session."""
        self._signal(signal.SIGKILL)

    async def stop(self, patience: float = 5.0) -> int:
        """Call ``terminate`` and, after ``patience`` real seconds, ``kill``.

        Wait for the end, and return the exit code.
        """
        self.terminate()
        with suppress(TimeoutError):
            await asyncio.wait_for(self.wait(), patience)
        self.kill()
        return await self.wait()

    def _signal(self, number: signal.Signals) -> None:
        # The number remains the session's as long as any of its processes lives.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _look_for_end(self) -> None:
        if self._popen.poll() is None:
            self._loop.call_later(LOOK_EVERY, self._look_for_end)
        elif not self._ended.done():
            self._ended.set_result(self._popen.returncode)

    def _on_end(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        if not self._ended.done():
            self._ended.set_result(self._popen.wait())
