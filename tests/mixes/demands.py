"""The demands of a mix on its jobs: how each may end."""

from typing import Any

from batkube.kube.apimachinery.quantity import Quantity
from tests.mixes.mix import Mix
from tests.mixes.outages import losses
from tests.mixes.outcome import REJECTED, End, Outcome
from tests.mixes.workloads import Load

JSON = dict[str, Any]

SUCCESS, FAILED = "COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED"
WALLTIME, KILLED = "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED"
SLACK = 0.05
"""Seconds that messages take at most."""
ROUNDING = 1e-9
"""Seconds by which the sum of a sequence may be off: whether the last part reaches an equal walltime is chance."""
PODS = 110
"""Of a node that is shared, unless its platform says otherwise."""


def faults(mix: Mix, outcome: Outcome, *, preempting: bool = False, within: float = 1e-5) -> list[str]:
    """In what the outcome is not what the mix demands.

    ``preempting``: the scheduler kills for priorities. ``within``: seconds that lengths may be off.
    """
    if outcome.error:
        return [f"the run failed: {outcome.error}"]
    found: list[str] = []
    lost = losses(mix.outages or ())
    for full, (load, job) in mix.jobs.items():
        ends = outcome.ends.get(full, [])
        if len(ends) != 1:
            found.append(f"{full} is in the results {len(ends)} times")
            continue
        (end,) = ends
        allowed = allowed_states(mix, load, job, preempting=preempting)
        if end.state not in allowed:
            found.append(f"{full} ended as {end.state}, not as {' or '.join(sorted(allowed))}")
        if end.start is not None and end.finish is not None:
            if not job["subtime"] <= end.start <= end.finish:
                found.append(f"{full} came at {job['subtime']}, began at {end.start} and ended at {end.finish}")
            if end.state == WALLTIME and abs(end.finish - end.start - job["walltime"]) > within:
                found.append(f"{full} ran for {end.finish - end.start:.6f} s and had {job['walltime']}")
            if not preempting and mix.life is None:
                found += _losses(full, end, lost, SLACK + mix.decision_time)
            length = load.profiles.lengths.get(job["profile"])
            if end.state in (SUCCESS, FAILED) and length and abs(end.finish - end.start - length) > within:
                found.append(f"{full} ran for {end.finish - end.start:.6f} s, and lasts {length}")
    others = outcome.ends.keys() - mix.jobs.keys()
    if mix.life:
        found += [f"{full} is in the results {len(outcome.ends[full])} times" for full in others
                  if len(outcome.ends[full]) > 1]  # fmt: skip
        others = {full for full in others if not full.startswith("pods!") and ".attempt" not in full}
    found += [f"{full} is in the results, and not in the mix" for full in others]
    return found


def _losses(full: str, end: End, lost: dict[int, list[float]], slack: float) -> list[str]:
    """A job is killed if, and only if, one of its hosts is lost while it runs."""
    assert end.start is not None
    assert end.finish is not None
    dates = [date for host in end.hosts or () for date in lost.get(host, [])]
    if end.state == KILLED and not any(end.start - slack <= date <= end.finish + slack for date in dates):
        return [f"{full} was killed from {end.start} to {end.finish}, and its hosts were there"]
    if end.state != KILLED and any(end.start + slack < date < end.finish - slack for date in dates):
        return [f"{full} ran on from {end.start} to {end.finish}, and a host of its was lost"]
    return []


def allowed_states(mix: Mix, load: Load, job: JSON, *, preempting: bool) -> set[str]:
    """The states in which a job may end."""
    # A life may bring nodes, and a user may let a pod ask for less.
    if job["res"] == 0 or (mix.life is None and room(mix, job) < max(job["res"], 1)):
        return {REJECTED}
    profile, walltime = job["profile"], job.get("walltime", -1)
    allowed = {FAILED if load.profiles.codes[profile] else SUCCESS}
    length = load.profiles.lengths.get(profile)
    if walltime > 0:
        sums = load.profiles.content[profile]["type"] == "composed"
        if length is None or (sums and abs(walltime - length) < ROUNDING):
            allowed.add(WALLTIME)
        elif walltime <= length:
            allowed = {WALLTIME}
    if mix.outages or preempting or mix.life:
        allowed.add(KILLED)
    if mix.life:
        allowed.add(REJECTED)  # servers may hold what it needs, or its pods were deleted
    if mix.sharing and job["res"] > 1 and len(mix.site.storages) > 1 and profile in load.profiles.storing:
        allowed.add(REJECTED)  # its pods share a host: Batsim takes the places of executors or of storages, not both
    if preempting:
        allowed.add(REJECTED)  # some of its pods were preempted before the others had a node
    return allowed


def room(mix: Mix, job: JSON) -> int:
    """Tell how many pods of the job the empty cluster has room for."""
    requirements = job.get("batkube", {})
    cpu = Quantity.parse(str(requirements.get("cpu", 1))).value
    memory = Quantity.parse(requirements.get("memory", "0")).value / 2**30
    total = 0
    for machine in mix.site.machines:
        fits = min(int(machine.cores / cpu), int(machine.memory / memory) if memory else PODS, PODS)
        total += fits if mix.sharing else min(fits, 1)
    return total
