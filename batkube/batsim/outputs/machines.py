"""``machine_states.csv``, ``consumed_energy.csv`` and ``pstate_changes.csv``: the machines over time.

https://batsim.readthedocs.io/en/latest/output-machine-states.html, output-energy.html and output-pstate-changes.html
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

StatesRow = tuple[float, Sequence[int]]
"""A date, and how many machines sleep, switch on, switch off, are idle and compute."""
EnergyRow = tuple[float, float, str, float]
"""A date, joules of all machines so far, the kind (``s``, ``e`` or ``p``), least watts of all in their pstates."""
PstateRow = tuple[float, str, int]
"""A date, an interval set of machines, and their pstate; below 0 while they switch."""


def write_machine_states_csv(path: Path, rows: Iterable[StatesRow]) -> None:
    """Write a row for each start and end of a job and each switch."""
    header = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n"
    _write(path, header, (f"{date:g},{a},{b},{c},{d},{e}\n" for date, (a, b, c, d, e) in rows))


def write_consumed_energy_csv(path: Path, rows: Iterable[EnergyRow]) -> None:
    """Write a row for each start and end of a job and each switch, with the mean watts since the row before."""

    def lines() -> Iterable[str]:
        last_date = last_joules = 0.0
        for date, joules, what, least in rows:
            passed = date - last_date
            watts = f"{(joules - last_joules) / passed:.6f}" if passed > 0 else "NA"
            yield f"{date:.6f},{joules:.6f},{what},{least:.6f},{watts}\n"
            last_date, last_joules = date, joules

    _write(path, "time,energy,event_type,wattmin,epower\n", lines())


def write_pstate_changes_csv(path: Path, rows: Iterable[PstateRow]) -> None:
    """Write a row for each group of machines that begins to switch, and that has switched."""
    _write(path, "time,machine_id,new_pstate\n", (f"{date:g},{hosts},{pstate}\n" for date, hosts, pstate in rows))


def _write(path: Path, header: str, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(header)
        file.writelines(lines)
