"""``batkube run``: API server, simulator, scheduler under test and results in one command."""

import logging

from rich.console import Console

from batkube.batsim.farewell import dismiss_callers
from batkube.batsim.simulator import SimulatorError
from batkube.commands import event_loop
from batkube.commands.summary import summary, unwell
from batkube.results.run import Run
from batkube.schedulers.process import SchedulerError
from batkube.session.bounds import reference_figures
from batkube.session.composition import play
from batkube.session.inputs import BAD_INPUTS, Inputs, read_inputs
from batkube.settings import BAD_INPUT, FAILED, FINISHED, RunSettings


def main(settings: RunSettings, *, verbosity: int = 0, summarize: bool = True) -> int:
    """Run; the exit code. ``verbosity``: -1 quiet, 0, 1 verbose."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    logging.basicConfig(
        level={-1: logging.ERROR, 0: logging.WARNING, 1: logging.INFO}[verbosity],
        format="batkube: %(message)s",
    )
    inputs = None
    try:
        inputs = read_inputs(settings)
        session = event_loop.run(play(settings, inputs, quiet=verbosity < 0))
    except BAD_INPUTS as error:
        errors.print(f"batkube: {error}", markup=False)
        if (
            inputs is None
            and "://" in settings.simulator
            and (done := event_loop.run(dismiss_callers(settings.simulator)))
        ):
            errors.print(f"batkube: {done.value}", markup=False)
        return BAD_INPUT
    except (SimulatorError, SchedulerError) as error:
        errors.print(f"batkube: {error}", markup=False)
        return FAILED
    if settings.bounds and session.exit_code == FINISHED:
        _add_bounds(settings, inputs, session.run, errors)
    if summarize:
        summary(session.run, session.simulation, Console(highlight=False, quiet=verbosity < 0))
    if session.run.reason:
        errors.print(f"batkube: {session.run.reason}", markup=False)
    if told := unwell(session.run):
        errors.print(f"batkube: {told}", markup=False, style="bold yellow")
        if settings.strict and session.exit_code == FINISHED:
            return FAILED
    return session.exit_code


def _add_bounds(settings: RunSettings, inputs: Inputs, run: Run, errors: Console) -> None:
    """Play the built-in policies on the same input, and write their figures beside those of the run."""
    try:
        run.bounds = event_loop.run(reference_figures(settings, inputs))
    except BAD_INPUTS as error:
        errors.print(f"batkube: --bounds: {error}", markup=False)
    run.write(settings.out / "run.json")
