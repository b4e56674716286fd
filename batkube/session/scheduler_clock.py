"""The clock of the scheduler under test: on which one it lives, and how programs are started on it."""

import logging
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import IO

from batkube.bridge.errors import InputError
from batkube.bridge.step_settings import QuiescenceMeans
from batkube.clock.launch import Mode, launch
from batkube.clock.launch import choose as choose_mode
from batkube.clock.probe import means_for
from batkube.clock.simulated import SimulatedClock
from batkube.schedulers.process import Launch, LaunchedProcess
from batkube.schedulers.programs import LaunchProgram
from batkube.settings import Clock, RunSettings

log = logging.getLogger(__name__)
NO_CLOCK = "programs live on the simulated clock, which cannot be given to them here"

MODES: dict[Clock, Mode] = {
    Clock.AUTO: "auto",
    Clock.ONCE: "once",
    Clock.TREE: "tree",
    Clock.REAL: "real",
    Clock.PACED: "real",
}


def clock_mode(settings: RunSettings, command: Sequence[str], beside: Sequence[Sequence[str]] = ()) -> Mode:
    """Choose the clock that the scheduler lives on. Raises InputError where it cannot live on the one asked for.

    ``beside``: the commands of programs beside it, which live on the same, in the same way. ``command`` is empty for a
    policy inside batkube.
    """
    clock, quiescence = settings.clock, settings.step.quiescence
    commands = [words for words in (command, *beside) if words]
    if quiescence is not QuiescenceMeans.AUTO or not commands or MODES[clock] == "real":
        return "real"
    modes = [choose_mode(words[0], MODES[clock]) for words in commands]
    mode = min(modes, key=("real", "tree", "once").index)
    means = means_for("tree" if mode == "real" else mode)
    if mode != "real" and means.works:
        return mode
    if clock is not Clock.AUTO:
        raise InputError(f"--clock {clock.value}: {means.reason}")
    if beside:
        raise InputError(f"--program: {NO_CLOCK}: {means.reason}")
    log.warning("the scheduler keeps the real clock: %s", means.reason)
    return "real"


def launcher(clock: SimulatedClock | None, mode: Mode, seed: int | None, folder: Path | None = None) -> Launch:
    """Return a function that starts programs on ``clock``; ``seed`` as for ``launch``; they run in ``folder``."""

    async def start(command: Sequence[str], env: Mapping[str, str], output: IO[bytes]) -> LaunchedProcess:
        return await launch(command, env=env, stdout=output, clock=clock, mode=mode, seed=seed, cwd=folder)

    return start


def program_launcher(clock: SimulatedClock, mode: Mode, seed: int | None) -> LaunchProgram:
    """Return the same for programs beside the scheduler: each start has random bytes of its own.

    Two programs with the same would take the same names, where they draw one. Those that Go has not built, such as
    scripts, are punctual: they sleep until they have something to do. Go's own timers tick, as a scheduler's do.
    """

    async def start(
        command: Sequence[str], env: Mapping[str, str], output: IO[bytes], folder: Path | None, which: str
    ) -> LaunchedProcess:
        own = None if seed is None else int.from_bytes(blake2b(f"{seed}/{which}".encode(), digest_size=6).digest())
        punctual = choose_mode(command[0], "auto") == "tree"
        return await launch(
            command, env=env, stdout=output, clock=clock, mode=mode, seed=own, cwd=folder, punctual=punctual
        )

    return start
