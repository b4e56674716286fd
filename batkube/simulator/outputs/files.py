"""The files that Batsim writes, for an embedded simulation."""

from pathlib import Path

from batkube.batsim.outputs import (
    write_consumed_energy_csv,
    write_jobs_csv,
    write_machine_states_csv,
    write_pstate_changes_csv,
    write_schedule_csv,
)
from batkube.simulator.embedded import EmbeddedSimulator


def write_files(simulator: EmbeddedSimulator, prefix: Path) -> None:
    """Write the files, named as Batsim names them after its option ``-e``: PREFIX_jobs.csv and so on."""

    def path(name: str) -> Path:
        return prefix.with_name(f"{prefix.name}_{name}")

    records, books = simulator.records, simulator.books
    write_jobs_csv(path("jobs.csv"), records)
    write_schedule_csv(path("schedule.csv"), records, nb_machines=simulator.nb_machines, totals=books.totals)
    if books.states.trace:
        write_machine_states_csv(path("machine_states.csv"), books.states.rows)
    if books.energy is not None:
        write_consumed_energy_csv(path("consumed_energy.csv"), books.consumed_energy)
        write_pstate_changes_csv(path("pstate_changes.csv"), books.pstate_changes)
