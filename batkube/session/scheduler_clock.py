"""The clock of the scheduler under test: on which one it lives, and how programs are started on it."""

import logging
from collections.abc import Mapping, Sequence
from typing import IO

from batkube.bridge.errors import InputError
from batkube.bridge.step_settings import QuiescenceMeans
from batkube.clock.launch import Mode, launch
from batkube.clock.launch import choose as choose_mode
from batkube.clock.probe import means_for
from batkube.clock.simulated import SimulatedClock
from batkube.schedulers.process import Launch, LaunchedProcess
from batkube.settings import Clock, RunSettings

log = logging.getLogger(__name__)

MODES: dict[Clock, Mode] = {
    Clock.AUTO: "auto",
    Clock.ONCE: "once",
    Clock.TREE: "tree",
    Clock.REAL: "real",
    Clock.PACED: "real",
}


def clock_mode(settings: RunSettings, command: Sequence[str]) -> Mode:
    """Choose the clock that the scheduler lives on. Raises InputError where it cannot live on the one asked for."""
    clock, quiescence = settings.clock, settings.step.quiescence
    if quiescence is not QuiescenceMeans.AUTO or not command or MODES[clock] == "real":
        return "real"
    mode = choose_mode(command[0], MODES[clock])
    means = means_for("tree" if mode == "real" else mode)
    if mode != "real" and means.works:
        return mode
    if clock is not Clock.AUTO:
        raise InputError(f"--clock {clock.value}: {means.reason}")
    log.warning("the scheduler keeps the real clock: %s", means.reason)
    return "real"


def launcher(clock: SimulatedClock | None, mode: Mode, seed: int | None) -> Launch:
    """Return a function that starts programs on ``clock``; ``seed`` as for ``launch``."""

    async def start(command: Sequence[str], env: Mapping[str, str], output: IO[bytes]) -> LaunchedProcess:
        return await launch(command, env=env, stdout=output, clock=clock, mode=mode, seed=seed)

    return start
