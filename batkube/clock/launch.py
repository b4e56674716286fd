"""Start a program on the simulated clock."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from batkube.clock import vdso
from batkube.clock.elf import is_go_program
from batkube.clock.process import Process
from batkube.clock.ptrace import HeldProcess, TraceError, let_parent_trace
from batkube.clock.simulated import SimulatedClock

Mode = Literal["auto", "once", "real"]
"""``once``: the program is given the clock at its start and then left alone, which is enough for Go programs.
``real``: it keeps the real clock. ``auto``: once for Go programs, else real."""


class LaunchError(OSError):
    """The program cannot be started, or not in this mode. The text says which and why."""


async def launch(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    stdout: IO[bytes] | int | None = None,
    cwd: Path | None = None,
    clock: SimulatedClock | None = None,
    mode: Mode = "auto",
) -> Process:
    """Run a program, on ``clock`` if it is given; its output should go to a file, for a full pipe would stop it.

    ``env`` is its whole environment, by default ours. Raises LaunchError.
    """
    chosen = choose(argv[0], mode) if clock is not None else "real"
    try:
        if chosen == "real" or clock is None:
            return Process(argv, env=env, stdout=stdout, cwd=cwd)
        process = Process(argv, env=env, stdout=stdout, cwd=cwd, before_exec=let_parent_trace)
    except OSError as error:
        raise LaunchError(f"cannot start {argv[0]}: {error.strerror or error}") from None
    try:
        with HeldProcess(process.pid) as held:
            vdso.install(held, clock.page.path)
    except TraceError as error:
        process.kill()
        await process.wait()
        raise LaunchError(f"cannot give {argv[0]} the simulated clock: {error.strerror or error}") from None
    return process


def choose(program: str, mode: Mode) -> Literal["once", "real"]:
    """What ``auto`` means for a program (a path, or a name on PATH)."""
    if mode != "auto":
        return mode
    found = shutil.which(program)
    return "once" if found is not None and is_go_program(Path(found)) else "real"
