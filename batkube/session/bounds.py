"""The built-in policies on the input of a run, as something to compare its figures with (``--bounds``)."""

import logging
from dataclasses import replace
from pathlib import Path

from batkube.results.figures import Figures
from batkube.schedulers.under_test import choose
from batkube.session.composition import play
from batkube.session.inputs import Inputs
from batkube.session.results_folder import BOUNDS
from batkube.session.simulators import EMBEDDED
from batkube.settings import FINISHED, Clock, Determinism, RunSettings

log = logging.getLogger(__name__)

POLICIES = ("fifo", "easy")


async def reference_figures(settings: RunSettings, inputs: Inputs) -> dict[str, Figures]:
    """Play each policy in the built-in simulator, as fast as that goes; the figures of those that came to an end.

    Raises the errors of inputs (``BAD_INPUTS``) where the built-in simulator cannot play them.
    """
    found = {}
    names = inputs.scheduler.names
    for policy in POLICIES:
        chosen = replace(inputs, scheduler=choose(policy, names=names))
        session = await play(_settings(settings, policy, names), chosen, quiet=True)
        if session.exit_code != FINISHED or session.run.figures is None:
            log.warning("--bounds: %s did not finish: %s", policy, session.run.reason)
            continue
        found[policy] = session.run.figures
    return found


def _settings(settings: RunSettings, policy: str, names: tuple[str, ...]) -> RunSettings:
    out: Path = settings.out / BOUNDS / policy
    return settings.model_copy(
        update={
            "out": out,
            "scheduler": policy,
            "scheduler_names": names,
            "scheduler_command": None,
            "scheduler_binary": None,
            "scheduler_config": None,
            "simulator": EMBEDDED,
            "clock": Clock.AUTO,
            "determinism": Determinism.STRICT,
            "record": None,
            "parquet": False,
            "batsim_out": None,
            "bounds": False,
            "step": type(settings.step)(
                on_deadlock=settings.step.on_deadlock, keep_finished=settings.step.keep_finished
            ),
        }
    )
