"""Programs beside the scheduler under test: started in their order, watched, and started again where that is wanted.

Nothing here reads a real clock: a program that ends is noted when somebody asks (``take_note``), and one that waits to
be started again is started at its date (``start_due``).
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from batkube.back_off import wait_before
from batkube.schedulers.process import LaunchedProcess, SchedulerError, SchedulerProcess
from batkube.schedulers.program_settings import Restart

LaunchProgram = Callable[[Sequence[str], Mapping[str, str], IO[bytes], Path | None, str], Awaitable[LaunchedProcess]]
"""Starts a command with an environment, an output and a folder; the text is another one at each start of each program,
and what is random for it follows from that. Raises OSError."""


class ProgramFailed(Exception):
    """A program has ended with an error, and nobody wants it to be started again. The text says what that means."""


@dataclass
class Program:
    """A program, and what has become of it."""

    name: str
    command: list[str]
    restart: Restart
    log: Path
    folder: Path | None = None
    starts: int = 0
    process: SchedulerProcess | None = None
    """Its process; None while it does not run."""
    started: float = 0.0
    backoff: float = 0.0
    due: float | None = None
    """The date of its next start, if there is to be one."""


@dataclass(frozen=True)
class Ended:
    """The end of a program."""

    name: str
    how: str
    """``exited with code 3; its last words: ...``."""
    exit_code: int
    again_in: float | None
    """Seconds until it is started again; None: it is not."""


@dataclass
class Programs:
    """All programs of a run. ``date``: the present on their clock."""

    programs: list[Program]
    environment: Mapping[str, str]
    """The variables that their environment has besides ours."""
    launch: LaunchProgram
    date: Callable[[], float]
    observe: Callable[[int], None]
    """Called with the process id of each that is started."""
    forget: Callable[[int], None]
    """Called with the process id of each that has ended."""
    settle: Callable[[], None] = lambda: None
    """Called before each start: lets the clock show a definite time."""
    on_end: Callable[[Ended], None] = lambda ended: None
    on_start: Callable[[str, int], None] = lambda name, number: None
    """Called with the name of a program that is started while the simulation goes on, and the number of the start."""
    _sessions: dict[int, int] = field(default_factory=dict)
    """The rank of each program by the process id of each of its starts, which its descendants have as their session."""

    async def start_next(self) -> bool:
        """Start the next of those that have no date, in their order; False if there is none. Raises SchedulerError."""
        following = next((each for each in self.programs if each.due is None and not each.starts), None)
        if following is not None:
            await self._start(following)
        return following is not None

    async def stop(self) -> None:
        """End all."""
        await asyncio.gather(*(program.process.stop() for program in self.programs if program.process))

    def rank(self, pid: int) -> int:
        """Return the place of the program that a process belongs to, from 1 on; 0 for all others."""
        try:
            return self._sessions.get(os.getsid(pid), 0)
        except ProcessLookupError:
            return 0

    @property
    def next_date(self) -> float | None:
        """The date of the next start; None if none is to come."""
        return min((program.due for program in self.programs if program.due is not None), default=None)

    async def take_note(self) -> bool:
        """Note which programs have ended; False if none has. Those that are due at once are started again.

        Raises ProgramFailed, and SchedulerError.
        """
        ended = [each for each in self.programs if each.process is not None and each.process.exit_code is not None]
        for program in ended:
            await self._end(program)
        return bool(ended)

    async def start_due(self) -> bool:
        """Start those whose date has come; False if there are none. Raises SchedulerError."""
        due = [each for each in self.programs if each.due is not None and each.due <= self.date()]
        for program in due:
            await self._start(program)
        return bool(due)

    async def _end(self, program: Program) -> None:
        process, program.process = program.process, None
        assert process is not None
        code, how = process.exit_code, process.how_it_ended()
        assert code is not None
        await process.stop()  # and what it has left behind
        self.forget(process.pid)
        wanted = program.restart is Restart.ALWAYS or (program.restart is Restart.ON_FAILURE and code != 0)
        if not wanted:
            self.on_end(Ended(program.name, how, code, None))
            if code != 0:
                raise ProgramFailed(
                    f"the program {program.name} {how}. What it would have done is missing from here on, so the run "
                    f"ends; 'restart: on-failure' (--program '{program.name}:on-failure=...') starts it again"
                )
            return
        program.backoff = wait_before(program.starts - 1, self.date() - program.started, program.backoff)
        self.on_end(Ended(program.name, how, code, program.backoff))
        program.due = self.date() + program.backoff
        if not program.backoff:
            await self._start(program)

    async def _start(self, program: Program) -> None:
        late, program.due = program.due is not None or program.starts > 0, None
        program.started = self.date()
        program.starts += 1
        environment, which = {**os.environ, **self.environment}, f"{program.name}/{program.starts}"
        self.settle()
        try:
            with program.log.open("ab" if program.starts > 1 else "wb") as output:
                process = await self.launch(program.command, environment, output, program.folder, which)
        except OSError as error:
            raise SchedulerError(f"cannot start the program {program.name}: {error}") from None
        program.process = SchedulerProcess(program.name, process, program.log)
        self._sessions[process.pid] = self.programs.index(program) + 1
        self.observe(process.pid)
        if late:
            self.on_start(program.name, program.starts)
