"""``batkube run --repeat``: the same run several times. Do all give the same bytes?

Each is a process of its own, so that nothing of one reaches the next, and what differs between processes by chance
(the order of Python's sets, say) is found out.
"""

import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType

from pydantic import BaseModel
from rich.console import Console

from batkube.clock.child_process import end_with_parent
from batkube.commands import compare
from batkube.commands.crash_report import exit_with
from batkube.commands.summary import summary
from batkube.results.comparison import COMPARED, Difference, Fingerprint, differences
from batkube.results.run import Run, Status
from batkube.settings import BAD_INPUT, FAILED, FINISHED, RunSettings


class Repetition(BaseModel):
    """One of the runs."""

    folder: Path
    status: Status
    reason: str | None
    fingerprint: Fingerprint


class Repetitions(BaseModel):
    """``repeat.json``."""

    agree: bool
    """True if all runs gave the same bytes."""
    runs: list[Repetition]
    differences: list[Difference]
    """The places where the first run parts from others, one of each kind."""


def main(settings: RunSettings, count: int, *, verbosity: int = 0) -> int:
    """Run ``count`` times: the first into the folder of the settings, as always, the others into 2, 3 ... below it.

    The exit code: 0 where all finished and agree, 1 where not, 2 for bad input, 130 or 143 after Ctrl-C or SIGTERM.
    """
    console = Console(emoji=False, highlight=False, soft_wrap=True, quiet=verbosity < 0)
    folders = [settings.out, *(settings.out / str(number) for number in range(2, count + 1))]
    one_by_one = _OneByOne()
    played: list[Path] = []
    failed = False
    for folder in folders:
        console.print(f"run {len(played) + 1} of {count}, results go to {folder}", markup=False)
        exit_code = one_by_one.run(settings_for(settings, folder), verbosity)
        if exit_code == BAD_INPUT:
            return BAD_INPUT
        failed = failed or exit_code != FINISHED
        if not (folder / "run.json").exists():  # it could not start, and has said why
            break
        played.append(folder)
        if one_by_one.interrupted:
            break
    agree = _conclude(settings.out, played, console) if played else False
    if one_by_one.interrupted:
        return 128 + one_by_one.number
    return FINISHED if agree and not failed else FAILED


def settings_for(settings: RunSettings, folder: Path) -> RunSettings:
    """Return the settings of one of the runs. Each but the first keeps its exchange (--record) in its own folder."""
    record = settings.record
    if record is not None and folder != settings.out:
        record = folder / record.name
    return settings.model_copy(update={"out": folder, "record": record})


def _conclude(out: Path, folders: list[Path], console: Console) -> bool:
    """Say whether the runs agree, and write it down."""
    runs = [Run.read(folder / "run.json") for folder in folders]
    prints = [Fingerprint.of(folder) for folder in folders]
    found = differences(folders, prints)
    record = Repetitions(
        agree=not found,
        runs=[
            Repetition(folder=folder, status=run.status, reason=run.reason, fingerprint=fingerprint)
            for folder, run, fingerprint in zip(folders, runs, prints, strict=True)
        ],
        differences=found,
    )
    (out / "repeat.json").write_text(record.model_dump_json(indent=2) + "\n")
    summary(runs[0], None, console)
    compare.show(folders, runs, prints, found, console)
    return record.agree


class _OneByOne:
    """Starts runs, each in a process of its own; Ctrl-C and SIGTERM end the one that is going on, and the last."""

    def __init__(self) -> None:
        self.interrupted = False
        self.number: int = signal.SIGINT
        """The signal that has come."""
        self._process: subprocess.Popen[bytes] | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def run(self, settings: RunSettings, verbosity: int) -> int:
        """Run to the end; the exit code."""
        for name in ("run.json", *COMPARED):  # what an earlier run has left there must not be taken for this one's
            (settings.out / name).unlink(missing_ok=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "batkube.commands.repeat", str(verbosity)],
            stdin=subprocess.PIPE,
            process_group=0,  # Ctrl-C on a terminal reaches this process alone, which passes it on
        )
        if self.interrupted:
            self._process.send_signal(self.number)
        self._process.communicate(settings.model_dump_json(exclude_unset=True).encode())
        return self._process.returncode

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.interrupted, self.number = True, number
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(number)


def _one() -> int:
    """Play one of the runs: its settings come as JSON."""
    from batkube.commands import run

    end_with_parent(signal.SIGTERM)
    settings = RunSettings.model_validate_json(sys.stdin.buffer.read())
    return run.main(settings, verbosity=int(sys.argv[1]), summarize=False)


if __name__ == "__main__":
    exit_with(_one)
