"""The parts of a report that are words and numbers, the same in every format."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.report.quantities import NONE, core_time, count, duration, exact, percent, plain, ratio
from batkube.report.run_data import RunData
from batkube.results.figures import Figures, Spread
from batkube.results.metrics import WAIT_REASONS
from batkube.results.run import IN_PROCESS, InputFile
from batkube.results.usage import used_of_requested
from batkube.results.wait_words import (
    DEVICES,
    FEATURES,
    NODE_AFFINITY,
    NODE_NAME,
    NODE_PORTS,
    POD_AFFINITY,
    SPREAD,
    TAINTS,
    UNSCHEDULABLE,
    VOLUME_BINDING,
    VOLUME_LIMITS,
    VOLUME_RESTRICTIONS,
    VOLUME_ZONE,
)

MOST_FAILURES = 30
"""The jobs without success that are listed; ``jobs.csv`` has them all."""

WAITED_FOR = {
    "no_capacity": ("no capacity", "the whole cluster had less left than the pod asked for"),
    "fragmentation": ("fragmentation", "enough was left in all, but not on one node"),
    "constraints": ("constraints", "nodes with room were ruled out: affinity, taints, topology, ports, volumes"),
    "queue_order": ("queue order", "there was a place; others went first, or it was not tried yet"),
    "back_off": ("back-off", "there was a place; the scheduler was not to try the pod again yet"),
    "gang": ("gang", "other pods of its job had no place"),
    "gates": ("gates", "a scheduling gate, a quota or a suspension held it back"),
    "startup": ("start-up", "it had its node; image and container took their time"),
}
"""The name and meaning of each reason to wait."""
assert tuple(WAITED_FOR) == WAIT_REASONS

RULES = {
    UNSCHEDULABLE: "nodes were cordoned",
    NODE_NAME: "it names a node",
    TAINTS: "taints that it does not tolerate",
    NODE_AFFINITY: "its node selector or node affinity",
    NODE_PORTS: "its host ports were taken",
    VOLUME_RESTRICTIONS: "its volumes were in use",
    VOLUME_LIMITS: "nodes had as many volumes as they may",
    VOLUME_BINDING: "its claims were not bound, or bound elsewhere",
    VOLUME_ZONE: "its volumes are in other zones",
    SPREAD: "its topology spread constraints",
    POD_AFFINITY: "its affinity to pods, or theirs to it",
    DEVICES: "its claims of devices",
    FEATURES: "nodes lack features that it needs",
}
"""The rule that kept pods away, for each plugin of kube-scheduler."""

GROUPS = {"size": "cores", "user": "user", "queue": "queue", "priority": "priority"}
"""The groups of jobs, and the heading of each."""
MOST_GROUPS = 25


def reason_name(reason: str, plugin: str = "") -> str:
    """Return the name of a reason to wait, with the plugin of kube-scheduler that it is."""
    name = WAITED_FOR[reason][0] if reason in WAITED_FOR else reason
    return f"{name}: {plugin}" if plugin else name


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure with its name."""

    label: str
    value: str
    note: str = ""
    """A second line, smaller."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that did not end well."""

    job: str
    state: str
    date: float | None
    why: str


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of some of the jobs."""

    kind: str
    name: str
    figures: Figures


def title(data: RunData) -> str:
    """Return the heading: the scheduler and its workload."""
    if data.run is None:
        return data.inputs[0]
    return f"{data.scheduler} on {data.inputs[0]}" if data.inputs else data.scheduler


def subtitle(data: RunData) -> str:
    """Return what the run was, in one line."""
    run = data.run
    parts = [count(len(data.jobs), "job")]
    if data.nodes:
        parts.append(count(len(data.nodes), "node"))
    parts.append(f"{duration(data.end)} simulated")
    if run is not None:
        parts += [f"simulator: {run.simulator}", f"seed {run.seed}", f"batkube {run.batkube}"]
    return " · ".join(parts)


def ends(figures: Figures) -> list[tuple[str, int]]:
    """Return how many jobs ended in each way, those ways only that there were."""
    named = [
        ("succeeded", figures.succeeded), ("failed", figures.failed), ("walltime reached", figures.walltime_reached),
        ("killed", figures.killed), ("rejected", figures.rejected), ("unfinished", figures.unfinished),
    ]  # fmt: skip
    return [(name, number) for name, number in named if number]


def tiles(data: RunData) -> list[Tile]:
    """Return the figures that sum up the run."""
    figures = data.figures
    found = [
        Tile("Jobs", f"{figures.submitted:,}", ", ".join(f"{number:,} {name}" for name, number in ends(figures))),
        Tile("Makespan", duration(figures.makespan), exact(figures.makespan) if figures.makespan else ""),
        Tile("Mean wait", duration(figures.waiting_time.mean), _tail(figures.waiting_time)),
        Tile("Mean slowdown", ratio(figures.bounded_slowdown.mean), _ratio_tail(figures.bounded_slowdown)),
        Tile("CPU utilisation", percent(figures.cpu_utilization), _others(figures)),
    ]
    if figures.distance is not None:
        found.append(
            Tile("Makespan to bound", ratio(figures.distance), f"no schedule is below {duration(figures.area_bound)}")
        )
    if figures.throughput is not None:
        found.append(Tile("Throughput", f"{plain(round(figures.throughput, 1))} / h", "jobs an hour"))
    if figures.attempts:
        found.append(Tile("Attempts", f"{figures.attempts:,}", f"{figures.failed_attempts:,} in vain"))
    if figures.preempted or figures.lost_work:
        found.append(
            Tile(
                "Lost work",
                core_time(figures.lost_work or 0.0),
                count(figures.preempted, "pod preempted", "pods preempted")
                if figures.preempted
                else "of pods killed early",
            )
        )
    if figures.fairness is not None:
        found.append(Tile("Fairness", f"{figures.fairness:.3f}", "Jain's index over users; 1 is even"))
    if data.run is not None and data.run.energy is not None and data.run.energy.total is not None:
        found.append(Tile("Energy", f"{plain(round(data.run.energy.total / 3.6e6, 3))} kWh", "all hosts"))
    return found


def _tail(spread: Spread) -> str:
    if spread.mean is None:
        return ""
    return f"median {duration(spread.median)}, p95 {duration(spread.p95)}, max {duration(spread.max)}"


def _ratio_tail(spread: Spread) -> str:
    if spread.mean is None:
        return ""
    return f"bounded; median {ratio(spread.median)}, p95 {ratio(spread.p95)}, max {ratio(spread.max)}"


def _others(figures: Figures) -> str:
    others = [("memory", figures.memory_utilization), ("GPU", figures.gpu_utilization)]
    return ", ".join(f"{name} {percent(part)}" for name, part in others if part) or "requested of allocatable"


def groups(data: RunData) -> dict[str, list[Group]]:
    """Return the groups of jobs, of each kind of which there are two at least."""
    by = data.figures_by
    return {
        kind: [Group(kind, name, figures) for name, figures in by[kind].items()]
        for kind in GROUPS
        if len(by.get(kind, {})) > 1
    }


def wait_parts(figures: Figures) -> list[tuple[str, float, float]]:
    """Return each reason to wait: its name, its seconds over all pods, and its part of all waiting."""
    total = sum(figures.wait_reasons.values())
    if total <= 0:
        return []
    return [(name, seconds, seconds / total) for name, seconds in figures.wait_reasons.items() if seconds > 0]


@dataclass(frozen=True, slots=True)
class WaitRow:
    """A reason to wait, or a plugin that was a part of one."""

    name: str
    reason: str
    plugin: str
    seconds: float
    part: float
    """The part of all waiting that is the plugin's."""
    meaning: str


def wait_rows(figures: Figures) -> list[WaitRow]:
    """Return the reasons to wait, the longest first, ``constraints`` followed by the plugins that they were."""
    found = []
    for reason, seconds, part in sorted(wait_parts(figures), key=lambda found: -found[2]):
        found.append(WaitRow(reason_name(reason), reason, "", seconds, part, WAITED_FOR[reason][1]))
        if reason == "constraints":
            found += [
                WaitRow(plugin, reason, plugin, of_it, part * of_it / seconds, RULES.get(plugin, ""))
                for plugin, of_it in figures.constraints.items()
            ]
    return found


def failures(data: RunData) -> list[Failure]:
    """Return the jobs that did not end well, in order of submission."""
    rejected = data.run.rejected if data.run else {}
    found = []
    for job in data.jobs:
        if job.state in ("succeeded", "running"):
            continue
        why = rejected.get(job.id, "")
        if not why and job.pods:
            last = job.pods[-1]
            why = last.reason or (f"waits: {last.waited_for}" if last.waited_for and job.state == "waiting" else "")
        found.append(Failure(job.name, "never started" if job.state == "waiting" else job.state, job.finished, why))
    return found


def warnings(data: RunData) -> list[str]:
    """Return what a reader must not overlook."""
    run = data.run
    if run is None:
        return []
    found = [f"no scheduler named {name} was running; {count(len(jobs), 'job')} asked for it"
             for name, jobs in run.unserved.items()]  # fmt: skip
    return [*found, *run.warnings, *(f"not repeatable: {why}" for why in run.not_repeatable)]


def facts(data: RunData) -> list[tuple[str, str]]:
    """Return how the run was made, name by name."""
    run = data.run
    if run is None:
        return [("results", data.inputs[0])]
    clock = {"real": "real", IN_PROCESS: "in process"}.get(run.scheduler.clock, "simulated")
    found = [
        ("scheduler", f"{run.scheduler.kind} (names: {', '.join(run.scheduler.names)})"),
        ("command", " ".join(run.scheduler.command)),
        ("scheduler's clock", clock),
        ("simulator", run.simulator + (", Batsim's exact dates" if run.exact else "")),
        ("nodes", {True: "shared by pods", False: "exclusive", None: ""}[run.compute_sharing]),
        *((Path(file.path).name, f"sha256 {file.sha256[:16]}") for file in _files(data)),
        ("seed", str(run.seed)),
        ("decision time", run.decision_time.model),
        ("repeatable", "yes" if run.repeatable else "no"),
        ("fingerprint of events", (run.events_sha256 or "")[:16]),
        ("fingerprint of jobs.csv", (run.jobs_sha256 or "")[:16]),
        ("ended", run.status + (f": {run.reason}" if run.reason else "")),
    ]
    return [(name, value) for name, value in found if value]


def _files(data: RunData) -> Sequence[InputFile]:
    run = data.run
    assert run is not None
    single = [file for file in (run.platform, run.startup) if file]
    return [*single, *run.workloads, *run.objects, *run.batsim_inputs]


def spread_cells(figures: Figures) -> list[str]:
    """Return the cells of a group: jobs, mean and p95 of the wait, mean of the bounded slowdown."""
    return [
        f"{figures.jobs:,}",
        duration(figures.waiting_time.mean),
        duration(figures.waiting_time.p95),
        ratio(figures.bounded_slowdown.mean),
        NONE if figures.cpu_utilization is None else percent(figures.cpu_utilization),
    ]


def usage(data: RunData) -> str:
    """Return how much of what they request pods use; empty where nobody says so."""
    shares = used_of_requested(data.uses, max(data.end, data.uses[-1].time)) if data.uses else None
    return f"CPU {percent(shares[0])}, memory {percent(shares[1])}" if shares else ""
