"""The table at the end of a run, and what a user must not overlook."""

from rich.console import Console
from rich.table import Table

from batkube.bridge.simulation import Simulation
from batkube.results.run import IN_PROCESS, Run

SHOWN_BEHIND = 0.1
"""Real seconds."""


def summary(run: Run, simulation: Simulation | None, console: Console) -> None:
    """Print it. ``simulation``: the run's, where it was in this process."""
    table = Table(
        title=f"{run.status}: {run.scheduler.kind} on {run.simulator}", title_justify="left", show_header=False
    )
    jobs = run.jobs
    ends = [
        (jobs.succeeded, "succeeded"), (jobs.failed, "failed"), (jobs.walltime_reached, "reached their walltime"),
        (jobs.killed, "killed"), (jobs.rejected, "rejected"), (jobs.unfinished, "unfinished"),
        (jobs.stopped, "deleted"), (jobs.running, "running to the end"),
    ]  # fmt: skip
    table.add_row("jobs", f"{jobs.submitted}: " + ", ".join(f"{count} {what}" for count, what in ends if count))
    if simulation is not None:
        table.add_row("nodes", str(len(simulation.cluster.hosts)))
    table.add_row("simulated time", f"{run.simulated_seconds:,.3f} s")
    ran = run.figures.jobs if run.figures else 0
    over = f"over {ran} jobs" if ran == jobs.submitted else f"over the {ran} of {jobs.submitted} jobs that ran"
    if run.makespan is not None:
        table.add_row("makespan", f"{run.makespan:,.3f} s {over}")
    if run.mean_waiting_time is not None:
        table.add_row("mean waiting time", f"{run.mean_waiting_time:,.3f} s {over}")
    for policy, figures in run.bounds.items():
        if figures.makespan is not None:
            mean = figures.waiting_time.mean
            table.add_row(f"{policy} instead", f"makespan {figures.makespan:,.3f} s, mean waiting time {mean:,.3f} s")
    table.add_row("wall time", f"{run.wall_seconds:.1f} s")
    quiescence = run.quiescence
    ways = [
        (quiescence.observed, "seen"),
        (quiescence.in_process, "in process"),
        (quiescence.metrics, "told by its metrics"),
        (quiescence.quiet_period, "assumed after silence"),
    ]
    if run.decision_time.model != "pace":
        seen = ", ".join(f"{how} {count} times" for count, how in ways if count)
        table.add_row("scheduler at rest", seen or "never")
    if run.scheduler.clock != IN_PROCESS:
        table.add_row("scheduler's clock", "real" if run.scheduler.clock == "real" else "simulated")
    if run.decision_time.model != "zero":
        table.add_row("decision time", _decision_time(run))
    if run.pace.factor is not None:
        behind = f", up to {run.pace.behind:,.3f} s behind" if run.pace.behind > SHOWN_BEHIND else ""
        table.add_row("pace", f"{run.pace.factor:g} simulated s/s{behind}")
    table.add_row("repeatable", "yes" if run.repeatable else f"no: {'; '.join(run.not_repeatable)}")
    table.add_row("fingerprint", (run.events_sha256 or "")[:16])
    console.print(table)
    for name, waiting in run.unserved.items():
        console.print(f"no scheduler named {name} is running; {len(waiting)} jobs ask for it: {_some(waiting)}")
    if run.rejected:
        for job_id, why in list(run.rejected.items())[:5]:
            console.print(f"rejected {job_id}: {why}", markup=False)
        if len(run.rejected) > 5:
            console.print(f"and {len(run.rejected) - 5} more rejected; run.json has the reasons")


def unwell(run: Run) -> str | None:
    """Return what a user must not overlook of a run that came to its end: jobs that did not come to theirs."""
    jobs = run.jobs
    ends = [(jobs.rejected, "rejected"), (jobs.killed, "killed"), (jobs.unfinished, "lost: they have not ended")]
    if not any(count for count, _ in ends):
        return None
    told = ", ".join(f"{count} {what}" for count, what in ends if count)
    return f"of {jobs.submitted} jobs {told}"


def _decision_time(run: Run) -> str:
    took = run.decision_time
    if took.model == "pace":
        return "real: what the scheduler did is dated when it did it"
    what = took.model if took.model.startswith("real") else f"{took.model} s"
    return f"{what}: {took.reactions} reactions took {took.total:,.3f} s, the longest {took.longest:,.3f} s"


def _some(names: list[str], most: int = 5) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
