"""Batsim as a process of ours: started with the right options, watched, ended, never left behind."""

import asyncio
import ctypes
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NoReturn

from batkube.batsim.command_line import UNKNOWN_VERSION, BatsimInputs, BatsimVersion, arguments, find_batsim
from batkube.batsim.endpoint import Endpoint
from batkube.batsim.errors import SimulatorDied, SimulatorError
from batkube.batsim.farewell import Conversation
from batkube.batsim.messages import Message, SimulationEnds
from batkube.batsim.options import NO_OPTIONS, BatsimOptions

log = logging.getLogger(__name__)

SILENCE = 60.0
"""Real seconds after which the user is told that Batsim sends nothing.

SimGrid's solver does not come to an end with some overlaps of parallel tasks.
"""
GRACE = 5.0
"""Real seconds between SIGTERM and SIGKILL."""
FAREWELL = 30.0
"""Real seconds that Batsim has for writing its files after the last message."""
LAST_LINES = 10
LAST_BYTES = 65536
SERIOUS = ("/CRITICAL]", "/ERROR]", "Deadlock", "terminate called", "what(): ")
"""The marks of the log lines that say why a Batsim ended; its log has many others."""
_PR_SET_PDEATHSIG = 1


class BatsimProcess:
    """A Simulator: a Batsim that we have started, with the socket it calls at."""

    def __init__(self, process: asyncio.subprocess.Process, endpoint: Endpoint, log: IO[bytes]) -> None:
        self._conversation = Conversation(endpoint)
        self._process = process
        self._log = log
        self._ending = False
        self._over = False
        self._given_up = False
        """True if it was waited for after the simulation, and did not end."""

    @classmethod
    async def start(
        cls,
        inputs: BatsimInputs,
        options: BatsimOptions = NO_OPTIONS,
        *,
        command: Sequence[str | Path] | None = None,
        version: BatsimVersion = UNKNOWN_VERSION,
        address: str = "tcp://127.0.0.1:*",
        log: Path | None = None,
    ) -> "BatsimProcess":
        """Start Batsim. ``command``: the program and its first arguments, ``find_batsim()`` if not given.

        ``log``: the file for all that it writes on its standard outputs. It ends when we end, even by SIGKILL (Linux).
        Raises SimulatorError.
        """
        program = [str(part) for part in command or [find_batsim()]]
        endpoint = Endpoint(address)
        output: IO[bytes] = log.open("w+b") if log else tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        try:
            process = await asyncio.create_subprocess_exec(
                *program,
                *arguments(inputs, options, endpoint.address, major=version.major or 4),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )
        except BaseException as error:
            output.close()
            await endpoint.close()
            if isinstance(error, OSError):
                raise SimulatorError(f"cannot start {program[0]}: {error.strerror}") from None
            raise
        return cls(process, endpoint, output)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint at which it calls."""
        return self._conversation.endpoint

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while it runs; negative for a signal."""
        return self._process.returncode

    async def receive(self) -> Message:
        """Return the next message. Raises SimulatorDied as soon as the process has ended."""
        if self._over:
            raise SimulatorError("the simulation is over")
        message = asyncio.ensure_future(self._conversation.receive())
        death = asyncio.ensure_future(self._process.wait())
        try:
            done, _ = await asyncio.wait([message, death], return_when=asyncio.FIRST_COMPLETED, timeout=SILENCE)
            if not done:
                log.warning("Batsim has said nothing for %g s: it computes, or computes without end", SILENCE)
                await asyncio.wait([message, death], return_when=asyncio.FIRST_COMPLETED)
            if message.done() and not isinstance(message.exception(), SimulatorDied):
                received = message.result()
                self._ending = any(isinstance(event, SimulationEnds) for event in received.events)
                return received
            # The closed connection may be seen before the end of the process.
            raise SimulatorDied("Batsim", await death, self.last_lines())
        finally:
            for task in (message, death):
                task.cancel()
            await asyncio.gather(message, death, return_exceptions=True)

    async def until_dead(self) -> NoReturn:
        """Raise SimulatorDied as soon as the process ends before the simulation has."""
        exit_code = await self._process.wait()
        if self._over:
            await asyncio.Event().wait()
        raise SimulatorDied("Batsim", exit_code, self.last_lines())

    async def send(self, reply: Message) -> None:
        """Answer the message received last."""
        await self._conversation.send(reply)
        self._over = self._ending

    def last_lines(self) -> str:
        """Return the end of its output: its critical messages, if there are any."""
        end = os.fstat(self._log.fileno()).st_size
        # Read without seeking: the process writes at this file's position.
        text = os.pread(self._log.fileno(), LAST_BYTES, max(0, end - LAST_BYTES))
        lines = [line for line in text.decode(errors="replace").splitlines() if line.strip()]
        critical = [line for line in lines if any(word in line for word in SERIOUS)]
        return "\n".join((critical or lines)[-LAST_LINES:])

    async def finish(self) -> str | None:
        """Wait for its own end after the last message; return what is wrong with that, None if nothing is."""
        await self._ends_within(FAREWELL)
        self._given_up = self.exit_code is None
        if self.exit_code is None:
            return f"Batsim did not end within {FAREWELL:g} s after the simulation, and was stopped"
        if self.exit_code:
            return str(SimulatorDied("Batsim", self.exit_code, self.last_lines(), when="after the simulation"))
        return None

    async def close(self) -> None:
        """End it and all it started. It has time to write its files first, unless it is computing."""
        try:
            if not self._over and self.exit_code is None and self._conversation.waits_for_us:
                await self._conversation.dismiss()
                await self._ends_within(GRACE)
            if self._over and not self._given_up:
                await self._ends_within(FAREWELL)
            self._signal(signal.SIGTERM)
            await self._ends_within(GRACE)
        finally:
            self._signal(signal.SIGKILL)
            await self._process.wait()
            await self._conversation.close()
            self._log.close()

    async def _ends_within(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return

    def _signal(self, number: signal.Signals) -> None:
        # The leader's pid remains the session's as long as any of its processes lives.
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
