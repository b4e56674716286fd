"""A watcher for an idle CPU: a process that the kernel runs only if the observed processes leave their CPU idle.

The process has the policy SCHED_IDLE (man 7 sched). Asked while the observed processes work, it answers as soon as all
threads on that CPU sleep, so nobody need look again and again. The answer proves nothing: on a busy CPU it comes now
and then all the same, or late.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

_PROGRAM = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.read(0, 64):
    os.write(1, b"!")
"""


class IdleCpu:
    """A process that answers when a CPU is idle. It ends with this process, however that ends."""

    def __init__(self, cpu: int, told: Callable[[], None]) -> None:
        """Start the process; ``told`` is called after each answer. Raises OSError if no process can be started."""
        self._told = told
        self._asked = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(cpu)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._question, self._answer = self._process.stdin.fileno(), self._process.stdout.fileno()

    def ask(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ask the process to answer when the CPU is idle, if it is not asked yet; ``loop`` is the running one."""
        if loop is not self._loop:
            self._leave()
            loop.add_reader(self._answer, self._on_answer)
            self._loop = loop
        if not self._asked and self._process.returncode is None:
            self._asked = True
            with suppress(BrokenPipeError):  # somebody has ended it
                os.write(self._question, b"?")

    def close(self) -> None:
        """End the process."""
        self._leave()
        self._process.kill()
        self._process.communicate()

    def _on_answer(self) -> None:
        self._asked = False
        if os.read(self._answer, 64):
            self._told()
        else:
            self._leave()
            self._process.wait()

    def _leave(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._answer)
        self._loop = None


def only_cpu(pid: int) -> int | None:
    """Return the one CPU that a process may use; None if it may use several, or if the system does not tell."""
    try:
        cpus = os.sched_getaffinity(pid)
    except (AttributeError, OSError):  # Linux has it
        return None
    return next(iter(cpus)) if len(cpus) == 1 else None
