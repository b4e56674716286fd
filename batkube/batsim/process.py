"""Batsim as a process of ours: started with the right options, watched, ended, never left behind."""

import asyncio
import ctypes
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

from batkube.batsim.endpoint import Endpoint
from batkube.batsim.errors import SimulatorDied, SimulatorError
from batkube.batsim.messages import Message, SimulationEnds

GRACE = 5.0
"""Real seconds between SIGTERM and SIGKILL."""
FAREWELL = 30.0
"""Real seconds that Batsim has for writing its files after the last message."""
LAST_LINES = 10
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class BatsimOptions:
    """What Batsim 4 is told on its command line."""

    platform: Path
    workloads: Sequence[Path] = ()
    export_prefix: Path = Path("out")
    """Its output files are called so, and ``_jobs.csv`` and the like behind."""
    external_events: Sequence[Path] = ()
    master_host: str | None = None
    roles: Sequence[str] = ()
    """``HOST[,HOST]:ROLE``."""
    compute_sharing: bool = False
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    profile_reuse: bool = False
    forward_profiles: bool = False
    forward_unknown_events: bool = False
    mmax: int | None = None
    further: Sequence[str] = ()
    """Options that batkube does not know."""

    def arguments(self, address: str) -> list[str]:
        """The arguments for a Batsim that shall call at ``address``."""
        arguments = ["-p", str(self.platform.absolute())]
        for path in self.workloads:
            arguments += ["-w", str(path.absolute())]
        for path in self.external_events:
            arguments += ["--events", str(path.absolute())]
        arguments += ["-e", str(self.export_prefix.absolute()), "-s", address]
        if self.master_host is not None:
            arguments += ["-m", self.master_host]
        for role in self.roles:
            arguments += ["-r", role]
        if self.mmax is not None:
            arguments += ["--mmax", str(self.mmax)]
        for wanted, option in (
            (self.compute_sharing, "--enable-compute-sharing"),
            (self.dynamic_jobs, "--enable-dynamic-jobs"),
            (self.acknowledge_dynamic_jobs, "--acknowledge-dynamic-jobs"),
            (self.profile_reuse, "--enable-profile-reuse"),
            (self.forward_profiles, "--forward-profiles-on-submission"),
            (self.forward_unknown_events, "--forward-unknown-events"),
        ):
            if wanted:
                arguments.append(option)
        return arguments + list(self.further)


def find_batsim(binary: Path | None = None) -> Path:
    """The program: ``binary``, else ``batsim`` on PATH. Raises SimulatorError."""
    found = shutil.which(str(binary or "batsim"))
    if found is None:
        where = f"{binary} is no program" if binary else "there is no batsim on PATH"
        raise SimulatorError(f"cannot start Batsim: {where} (https://batsim.readthedocs.io tells how to get it)")
    return Path(found)


class BatsimProcess:
    """A Simulator: a Batsim that we have started, with the socket it calls at."""

    def __init__(self, process: asyncio.subprocess.Process, endpoint: Endpoint, errors: IO[bytes]) -> None:
        self.endpoint = endpoint
        self._process = process
        self._errors = errors
        self._ending = False
        self._over = False

    @classmethod
    async def start(
        cls,
        options: BatsimOptions,
        *,
        command: Sequence[str | Path] | None = None,
        address: str = "tcp://127.0.0.1:*",
    ) -> "BatsimProcess":
        """Start Batsim. ``command``: the program and its first arguments, ``find_batsim()`` if not given.

        It ends when we end, even by SIGKILL (Linux). Raises SimulatorError.
        """
        program = [str(part) for part in command or [find_batsim()]]
        endpoint = Endpoint(address)
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        try:
            process = await asyncio.create_subprocess_exec(
                *program,
                *options.arguments(endpoint.address),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )
        except BaseException as error:
            errors.close()
            await endpoint.close()
            if isinstance(error, OSError):
                raise SimulatorError(f"cannot start {program[0]}: {error.strerror}") from None
            raise
        return cls(process, endpoint, errors)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.returncode

    async def receive(self) -> Message:
        """The next message. Raises SimulatorDied as soon as the process has ended."""
        if self._over:
            raise SimulatorError("the simulation is over")
        message = asyncio.ensure_future(self.endpoint.receive())
        death = asyncio.ensure_future(self._process.wait())
        try:
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
        await self.endpoint.send(reply)
        self._over = self._ending

    def last_lines(self) -> str:
        """The end of what it wrote on its standard error output: its critical messages, if there are any."""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 65536))
        lines = [line for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
        critical = [line for line in lines if "CRITICAL" in line or "Deadlock" in line]
        return "\n".join((critical or lines)[-LAST_LINES:])

    async def close(self) -> None:
        """End it and all it started. A simulation that is over has time to write its files first."""
        try:
            if self._over:
                await self._ends_within(FAREWELL)
            self._signal(signal.SIGTERM)
            await self._ends_within(GRACE)
        finally:
            self._signal(signal.SIGKILL)
            await self._process.wait()
            await self.endpoint.close()
            self._errors.close()

    async def _ends_within(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._process.wait(), seconds)
        except TimeoutError:
            return

    def _signal(self, number: signal.Signals) -> None:
        # The leader's pid stays the session's as long as any of its processes lives.
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            return


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
