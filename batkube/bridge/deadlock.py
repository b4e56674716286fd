"""The end of a run in which nothing can ever happen again, though jobs wait."""

from collections.abc import Collection, Sequence

from batkube.bridge.errors import Stuck
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import Job
from batkube.bridge.step_settings import OnDeadlock

EXPLAINED_JOBS = 5
"""The most jobs that an error explains."""


def give_up(control: JobControl, unserved: Collection[str], on_deadlock: OnDeadlock) -> None:
    """Reject the waiting jobs that stand in the way of the others. ``unserved``: the schedulers that do not run.

    Those that waited for nodes which nobody has created are rejected first, as they are at once where nobody can.
    Raises Stuck, which explains the jobs, if the run is to fail.
    """
    if too_large := control.too_large():
        for job, why in too_large:
            control.reject(job, f"no node has come for it: {why}")
        return
    jobs = control.waiting()
    if on_deadlock is OnDeadlock.FAIL:
        raise Stuck(_explain_all(control, jobs, unserved))
    # The jobs that the scheduler has spoken of stand in the way of the others (first in, first out). If it has
    # spoken of none, none of them will ever be placed.
    blamed = [job for job in jobs if _is_refused(control, job)]
    for job in blamed or jobs:
        control.reject(job, f"nothing can happen any more; {_explain(control, job, unserved)}")


def _is_refused(control: JobControl, job: Job) -> bool:
    """Tell whether its scheduler has said of one of the pods that it cannot place it."""
    return bool(job.held) or any(control.pods[name].waited_for for name in job.pods)


def _explain(control: JobControl, job: Job, unserved: Collection[str]) -> str:
    """Say why the job still waits: which scheduler should have placed it, and the last that was said of it."""
    if job.scheduler in unserved:
        return f"job {job.id}: no scheduler named {job.scheduler} is running"
    if job.held:
        return f"job {job.id}: {next(iter(job.held.values()))}"
    records = [control.pods[name] for name in job.pods if name not in job.nodes]
    said = next((record.waited_for for record in records if record.waited_for), "")
    pods = records[0].pod if len(records) == 1 else f"{len(records)} of {len(job.pods)} pods"
    what = f'last said: "{said}"' if said else "said nothing of it"
    return f"job {job.id}: {pods} unbound; {job.scheduler} {what}"


def _explain_all(control: JobControl, jobs: Sequence[Job], unserved: Collection[str]) -> str:
    lines = [_explain(control, job, unserved) for job in jobs[:EXPLAINED_JOBS]]
    if len(jobs) > EXPLAINED_JOBS:
        lines.append(f"and {len(jobs) - EXPLAINED_JOBS} more")
    return f"nothing can happen any more, and {len(jobs)} jobs wait:\n  " + "\n  ".join(lines)
