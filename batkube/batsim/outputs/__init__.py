"""Batsim's output files: its columns, order and number formats, so that tools for Batsim read ours.

The formats are those of files that Batsim 4.2.1 wrote.
"""

from batkube.batsim.outputs.jobs import REJECTED, TIME_COLUMNS, JobRecord, write_jobs_csv
from batkube.batsim.outputs.machines import (
    EnergyRow,
    PstateRow,
    StatesRow,
    write_consumed_energy_csv,
    write_machine_states_csv,
    write_pstate_changes_csv,
)
from batkube.batsim.outputs.schedule import STATES, MachineTotals, write_schedule_csv

__all__ = [
    "REJECTED",
    "STATES",
    "TIME_COLUMNS",
    "EnergyRow",
    "JobRecord",
    "MachineTotals",
    "PstateRow",
    "StatesRow",
    "write_consumed_energy_csv",
    "write_jobs_csv",
    "write_machine_states_csv",
    "write_pstate_changes_csv",
    "write_schedule_csv",
]
