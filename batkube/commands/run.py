"""``batkube run``: API server, simulator, scheduler under test and results in one command."""

import logging

from rich.console import Console

from batkube.batsim.farewell import dismiss_callers
from batkube.batsim.simulator import SimulatorError
from batkube.commands import event_loop
from batkube.commands.errors import tell, told
from batkube.commands.summary import summary, unwell
from batkube.results.run import Run
from batkube.schedulers.process import SchedulerError
from batkube.session.bounds import reference_figures
from batkube.session.composition import play
from batkube.session.inputs import BAD_INPUTS, Inputs, read_inputs
from batkube.settings import BAD_INPUT, FAILED, FINISHED, RunSettings


def main(settings: RunSettings, *, verbosity: int = 0, summarize: bool = True) -> int:
    """Run; the exit code. ``verbosity``: -1 quiet, 0, 1 verbose."""
    logging.basicConfig(
        level={-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}[verbosity],
        format="batkube: %(message)s",
    )
    inputs = None
    try:
        inputs = read_inputs(settings)
        session = event_loop.run(play(settings, inputs, quiet=verbosity < 0))
    except BAD_INPUTS as error:
        tell(error)
        if (
            inputs is None
            and "://" in settings.simulator
            and (done := event_loop.run(dismiss_callers(settings.simulator)))
        ):
            tell(done.value)
        return BAD_INPUT
    except (SimulatorError, SchedulerError) as error:
        tell(error)
        return FAILED
    if settings.bounds and session.exit_code == FINISHED:
        _add_bounds(settings, inputs, session.run)
    if summarize:
        summary(session.run, session.simulation, Console(emoji=False, highlight=False, quiet=verbosity < 0))
    if session.run.reason:
        tell(session.run.reason, whole=True)
    if why := unwell(session.run):
        tell(why)
        if settings.strict and session.exit_code == FINISHED:
            return FAILED
    return session.exit_code


def _add_bounds(settings: RunSettings, inputs: Inputs, run: Run) -> None:
    """Play the built-in policies on the same input, and write their figures beside those of the run."""
    try:
        run.bounds = event_loop.run(reference_figures(settings, inputs))
    except BAD_INPUTS as error:
        tell(f"--bounds: {told(error)}")
    run.write(settings.out / "run.json")
