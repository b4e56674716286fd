"""Start a program on the simulated clock."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Literal

from batkube.clock import randomness, vdso
from batkube.clock.child_process import ChildProcess
from batkube.clock.elf import is_go_program
from batkube.clock.ptrace import HeldProcess, TraceError, let_parent_trace
from batkube.clock.simulated import SimulatedClock
from batkube.clock.steady import steady
from batkube.clock.tree import Helper, missing

Mode = Literal["auto", "once", "tree", "real"]
"""The ways to start a program.

``once``: the program is given the clock at its start and then left alone, which is enough for Go programs. ``tree``:
the program and all it starts are given the clock, and a helper takes over their waits, which fits all programs.
``real``: the program keeps the real clock. ``auto``: once for Go programs, tree for others if there is a helper, else
real.
"""


Environment = Mapping[str, str] | None
Output = IO[bytes] | int | None


class LaunchError(OSError):
    """The program cannot be started, or not in this mode. The text says which and why."""


async def launch(
    argv: Sequence[str],
    *,
    env: Environment = None,
    stdout: Output = None,
    cwd: Path | None = None,
    clock: SimulatedClock | None = None,
    mode: Mode = "auto",
    seed: int | None = 0,
    punctual: bool = False,
) -> ChildProcess:
    """Run a program, on ``clock`` if it is given. Its output should go to a file: a full pipe would stop it.

    ``env`` is its whole environment, by default ours. On ``clock``, the random bytes that it is given follow from
    ``seed``, and the kernel's other choices are made ``steady``; with None both stay as they are. ``punctual``: its
    waits are appointments (``SimulatedClock.next_appointment``), if a helper takes them over. Raises LaunchError.
    """
    if shutil.which(argv[0]) is None:
        raise LaunchError(f"cannot start {argv[0]}: no such program")
    chosen = "real" if clock is None else choose(argv[0], mode)
    reason = missing() if chosen == "tree" else vdso.missing()
    if reason and chosen != "real":
        raise LaunchError(f"cannot give {argv[0]} the simulated clock: {reason}")
    try:
        if clock is None or chosen == "real":
            return ChildProcess(argv, env=env, stdout=stdout, cwd=cwd)
        if chosen == "tree":
            return _in_tree(argv, env, stdout, cwd, clock, seed, punctual=punctual)
        return _once(argv, env, stdout, cwd, clock, seed)
    except TraceError as error:
        raise LaunchError(f"cannot give {argv[0]} the simulated clock: {error.strerror or error}") from None
    except OSError as error:
        raise LaunchError(f"cannot start {argv[0]}: {error.strerror or error}") from None


def _once(
    argv: Sequence[str], env: Environment, stdout: Output, cwd: Path | None, clock: SimulatedClock, seed: int | None
) -> ChildProcess:
    def prepare() -> None:
        if seed is not None:
            steady()
        let_parent_trace()

    process = ChildProcess(argv, env=env, stdout=stdout, cwd=cwd, before_exec=prepare)
    try:
        with HeldProcess(process.pid) as held:
            vdso.install(held, clock.page.path)
            if seed is not None:
                randomness.install(held, seed)
    except BaseException:
        process.kill()
        raise
    return process


def _in_tree(
    argv: Sequence[str],
    env: Environment,
    stdout: Output,
    cwd: Path | None,
    clock: SimulatedClock,
    seed: int | None,
    *,
    punctual: bool,
) -> ChildProcess:
    helper = Helper()
    process = None
    try:
        command = helper.command(clock.page.path, list(argv), seed)
        prepare = steady if seed is not None else None
        process = ChildProcess(
            command, env=env, stdout=stdout, cwd=cwd, pass_fds=helper.descriptors, before_exec=prepare
        )
        if not helper.started():
            raise TraceError("its helper could not hold it (ptrace, seccomp), its output says more")
    except BaseException:
        if process is not None:
            process.kill()
        helper.close()
        raise
    clock.take_over(helper, punctual=punctual)
    return process


def choose(program: str, mode: Mode) -> Literal["once", "tree", "real"]:
    """Return the mode for a program (a path, or a name on PATH), with ``auto`` decided."""
    if mode != "auto":
        return mode
    if vdso.missing():
        return "real"
    found = shutil.which(program)
    if found is not None and is_go_program(Path(found)):
        return "once"
    return "real" if missing() else "tree"
