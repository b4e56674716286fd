"""Comparison of the embedded simulator with a real Batsim: messages and files, number by number."""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from batkube.simulator.outputs.files import write_files
from tests.simulator.scripted import Recording, play

NEAR = 2e-6
"""Two units of the last decimal that Batsim prints: both sides round."""
RELATIVE = 1e-9
"""Of joules: a message between Batsim's parts slows a task down by some tens of nanoseconds."""
SHORT = 1e-3
"""Seconds."""
NOT_COMPARED = ("batsim_version", "scheduling_time", "simulation_time")


def check_alike(recording: Recording, folder: Path) -> None:
    """Play the case of a recording in exact mode, and compare all messages and files."""
    assert recording.exit_code == 0
    simulator, messages = play(recording.case, folder, exact=True)
    found = unlike(messages[1:], recording.messages)
    assert found is None, found
    write_files(simulator, folder / "out")
    for name, text in recording.outputs.items():
        ours = list(csv.reader((folder / name).read_text().splitlines()))
        theirs = list(csv.reader(text.splitlines()))
        prepare = _PREPARE.get(name, list)
        ours, theirs = prepare(ours), prepare(theirs)
        found = unlike(ours, theirs, name)
        assert found is None, found


Table = list[list[str]]


def _schedule(table: Table) -> Table:
    kept = [index for index, name in enumerate(table[0]) if name not in NOT_COMPARED]
    return [[row[index] for index in kept] for row in table]


def _energy(table: Table) -> Table:
    """Without the mean watts over no more than a millisecond, which are the noise of doubles."""
    rows = table[:1]
    last = 0.0
    for row in table[1:]:
        date = float(row[0])
        rows.append(row if date - last > SHORT else row[:-1])
        last = date
    return rows


def _jobs(table: Table) -> Table:
    """Without the stretch of jobs that took next to no time, a quotient of the noise of doubles."""
    stretch, execution = table[0].index("stretch"), table[0].index("execution_time")
    rows = [list(row) for row in table]
    for row in rows[1:]:
        if row[execution] == "0.000000":
            row[stretch] = ""
    return rows


def _six_digits(table: Table) -> Table:
    """Dates with five digits of the six that Batsim writes: the last may be rounded either way."""
    return [table[0], *([f"{float(date):.4g}", *rest] for date, *rest in table[1:])]


_PREPARE: dict[str, Callable[[Table], Table]] = {
    "out_jobs.csv": _jobs,
    "out_schedule.csv": _schedule,
    "out_consumed_energy.csv": _energy,
    "out_machine_states.csv": _six_digits,
    "out_pstate_changes.csv": _six_digits,
}


def unlike(ours: Any, theirs: Any, where: str = "") -> str | None:
    """The first place where two values differ by more than rounding."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        if ours.keys() != theirs.keys():
            return f"{where}: members {sorted(ours.keys() ^ theirs.keys())}"
        return next((found for key in ours if (found := unlike(ours[key], theirs[key], f"{where}.{key}"))), None)
    if isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} and {len(theirs)} members: {ours} and {theirs}"
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next((found for index, (a, b) in pairs if (found := unlike(a, b, f"{where}[{index}]"))), None)
    if ours == theirs:
        return None
    try:
        # A boolean is no number.
        same = math.isclose(float(str(ours)), float(str(theirs)), rel_tol=RELATIVE, abs_tol=NEAR)
    except ValueError:
        same = False
    return None if same else f"{where}: {ours!r}, Batsim {theirs!r}"
