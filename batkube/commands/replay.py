"""``batkube replay``: a recorded Batsim speaks again; does the bridge, with this scheduler, say what was recorded?"""

import logging
import tempfile
from pathlib import Path

from rich.console import Console

from batkube.batsim.errors import SimulatorError
from batkube.batsim.recorded_batsim import RecordedBatsim
from batkube.batsim.recording import RecordingError, read_recording
from batkube.commands import event_loop
from batkube.commands.errors import tell
from batkube.schedulers.process import SchedulerError
from batkube.session.composition import play
from batkube.session.inputs import BAD_INPUTS, read_inputs
from batkube.settings import BAD_INPUT, FAILED, FINISHED, ReplaySettings, RunSettings


def main(settings: ReplaySettings) -> int:
    """Replay; 0 where all decisions are the recorded ones, 1 where not, 2 for bad input."""
    logging.basicConfig(level=logging.WARNING, format="batkube: %(message)s")
    try:
        recorded = RecordedBatsim(read_recording(settings.recording), tolerance=settings.tolerance)
        if settings.out is not None:
            return _replay(settings.run(settings.out), recorded)
        with tempfile.TemporaryDirectory(prefix="batkube-replay-") as folder:
            return _replay(settings.run(Path(folder)), recorded)
    except (*BAD_INPUTS, RecordingError) as error:
        tell(error)
        return BAD_INPUT
    except (SimulatorError, SchedulerError) as error:
        tell(error)
        return FAILED


def _replay(settings: RunSettings, recorded: RecordedBatsim) -> int:
    console = Console(emoji=False, highlight=False, soft_wrap=True)
    session = event_loop.run(play(settings, read_inputs(settings), quiet=True, recorded=recorded))
    if recorded.difference is not None:
        console.print(f"different after {recorded.compared} answers: {recorded.difference}", markup=False)
        return FAILED
    if session.exit_code == FINISHED or recorded.ends_early is not None:
        note = f" ({recorded.ends_early})" if recorded.ends_early else ""
        console.print(f"the same: {recorded.compared} answers{note}", markup=False)
        return FINISHED
    tell(str(session.run.reason), whole=True)
    return session.exit_code
