"""The rules of every schedule: no node has more than it can, nothing runs before it is there, nothing is lost."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice, pairwise
from operator import attrgetter

from batkube.checks.work import work_accounted_for
from batkube.comparison.facts import RecordedRun
from batkube.results.metrics import SHORTEST_EXECUTION, WAIT_REASONS
from batkube.results.nodes import NodeRow, read_nodes_csv
from batkube.results.pods import PodRecord
from batkube.results.resizes import Resize, read_resizes_csv, spans

EXACT = 1e-6
"""Seconds: dates have six decimals."""
SHOWN = 5
"""The breaches that are named."""
MICRO = 1_000_000


@dataclass(frozen=True)
class Found:
    """The verdict on an invariant in a run."""

    name: str
    breaches: list[str]
    """The first ones, in words."""
    count: int
    skipped: str = ""
    """The reason why it was not looked at."""

    @property
    def holds(self) -> bool:
        """True if nothing breaks it, as far as can be seen."""
        return not self.count


class Skipped(Exception):
    """An invariant that these files say nothing of; the text says why."""


@dataclass(frozen=True, slots=True)
class Stay:
    """From when to when something was on a node."""

    since: float
    until: float
    who: str
    amounts: tuple[int, int, int] = (0, 0, 0)
    """Millionths of cores, bytes, devices."""


def node_capacity(run: RecordedRun, shared: bool) -> Iterator[str]:
    """Yield the double bookings of nodes: pairs of pods at once on an exclusive host, or more asked for than there is.

    In a file of jobs alone they are pairs of jobs on a host.
    """
    if run.is_file:
        if shared:
            raise Skipped("a file of jobs does not say what they ask for")
        yield from _pairs(_stays_of_jobs(run))
        return
    record = run.run
    if record is not None and record.compute_sharing:
        yield from _beyond_allocatable(run)
        return
    yield from _pairs(_stays_of_pods(run))
    if record is not None and not record.compute_sharing and "://" not in record.simulator:
        yield from _pairs(_stays_of_jobs(run))


def order_of_dates(run: RecordedRun, shared: bool) -> Iterator[str]:
    """Yield the pods that ran before they were created or bound, and the jobs that ran before they were submitted."""
    dates: tuple[tuple[str, float | None], ...]
    for job in run.job_rows:
        dates = (("submitted", job.submission_time), ("started", job.starting_time), ("ended", job.finish_time))
        if wrong := _disorder(dates):
            yield f"job {job.id} {wrong}"
    for pod in run.each_pod():
        dates = (
            ("created", pod.created_time),
            ("bound", pod.bound_time),
            ("started", pod.starting_time),
            ("ended", pod.finish_time),
        )
        if wrong := _disorder(dates):
            yield f"pod {pod.pod} {wrong}"
        elif pod.starting_time is not None and (pod.bound_time is None or not pod.node):
            yield f"pod {pod.pod} started at {pod.starting_time:.6f} without a node"


def jobs_accounted_for(run: RecordedRun, shared: bool) -> Iterator[str]:
    """Yield the jobs that are there twice, or were submitted and are neither over nor unfinished."""
    ended: set[str] = set()
    for job in run.job_rows:
        if job.id in ended:
            yield f"job {job.id} is in jobs.csv twice"
        ended.add(job.id)
    if (record := run.run) is None:
        return
    counts = record.jobs
    going_on = counts.unfinished + counts.running
    if counts.submitted != len(ended) + going_on:
        yield (
            f"{counts.submitted} jobs were submitted, {len(ended)} are over and {going_on} unfinished: "
            f"{abs(counts.submitted - len(ended) - going_on)} are not accounted for"
        )
    # A pod that a client makes is a job from the moment at which it has a node.
    open_jobs = {pod.job_id for pod in run.each_pod() if pod.node} - ended
    if len(open_jobs) > going_on:
        for name in sorted(open_jobs):
            yield f"job {name} has pods, and no end"


def wait_reasons(run: RecordedRun, shared: bool) -> Iterator[str]:
    """Yield the pods whose reasons for waiting do not add up to their wait."""
    reasons_of = attrgetter(*(f"wait_{name}" for name in WAIT_REASONS))
    known, unknown, wrong = False, False, []
    for pod in run.each_pod():
        reasons = reasons_of(pod)
        if None in reasons:
            unknown = True
            continue
        total = sum(round(seconds * MICRO) for seconds in reasons)
        known = known or total > 0
        waited = round((pod.waiting_time or 0.0) * MICRO)
        if abs(total - waited) > len(reasons) or min(reasons) < 0:
            wrong.append(f"pod {pod.pod} waited {waited / MICRO:.6f} s, its reasons add up to {total / MICRO:.6f} s")
    if (wrong or unknown) and not known:
        raise Skipped("there are no reasons for waiting in these results")
    yield from wrong


INVARIANTS: dict[str, Callable[[RecordedRun, bool], Iterator[str]]] = {
    "node_capacity": node_capacity,
    "order_of_dates": order_of_dates,
    "jobs_accounted_for": jobs_accounted_for,
    "wait_reasons": wait_reasons,
    "work_accounted_for": work_accounted_for,
}
"""The invariants by the names that rules know them by."""
_NEED_PODS = {"wait_reasons", "work_accounted_for"}


def look(name: str, run: RecordedRun, *, shared: bool = False) -> Found:
    """Look whether an invariant holds in a run. Raises ResultsError.

    ``shared``: jobs of a file of jobs alone may share hosts.
    """
    if run.is_file and name in _NEED_PODS:
        return Found(name, [], 0, "a file of jobs has no pods")
    try:
        breaches = INVARIANTS[name](run, shared)
        first = list(islice(breaches, SHOWN))
        return Found(name, first, len(first) + sum(1 for _ in breaches))
    except Skipped as why:
        return Found(name, [], 0, str(why))


def _disorder(dates: Iterable[tuple[str, float | None]]) -> str:
    known = [(what, date) for what, date in dates if date is not None]
    for (before, first), (after, then) in pairwise(known):
        if then < first - EXACT / 2:
            return f"{after} at {then:.6f}, before it was {before} at {first:.6f}"
    return ""


# Nodes


def _stays_of_pods(run: RecordedRun) -> dict[str, list[Stay]]:
    stays: dict[str, list[Stay]] = {}
    resizes: dict[str, list[Resize]] = {}
    for resize in read_resizes_csv(run.path / "resizes.csv"):
        resizes.setdefault(resize.pod, []).append(resize)
    for pod in run.each_pod():
        if pod.bound_time is not None and pod.node:
            stays.setdefault(pod.node, []).extend(_stays(pod, pod.bound_time, resizes.get(pod.pod, ())))
    return stays


def _stays(pod: PodRecord, bound: float, resizes: Sequence[Resize]) -> Iterator[Stay]:
    for span in spans(bound, pod.finish_time, pod.cpu, pod.memory, resizes):
        until = float("inf") if span.until is None else span.until
        yield Stay(span.since, until, f"pod {pod.pod}", (round(span.cpu * MICRO), span.memory, pod.gpu))


def _stays_of_jobs(run: RecordedRun) -> dict[str, list[Stay]]:
    stays: dict[str, list[Stay]] = {}
    for job in run.job_rows:
        if job.starting_time is None or job.finish_time is None:
            continue
        if job.finish_time - job.starting_time > SHORTEST_EXECUTION + EXACT / 2:  # else it ended when it began
            stay = Stay(job.starting_time, job.finish_time, f"job {job.id}")
            for host in _hosts(job.allocated_resources):
                stays.setdefault(f"host {host}", []).append(stay)
    return stays


def _hosts(interval_set: str) -> Iterator[int]:
    """Yield the numbers of an interval set as Batsim writes them: ``0-3 7``."""
    for part in interval_set.replace(",", " ").split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _pairs(stays: dict[str, list[Stay]]) -> Iterator[str]:
    """Yield each pair that is on a node at the same time."""
    for node in sorted(stays):
        there: list[tuple[float, int, Stay]] = []
        for number, stay in enumerate(sorted(stays[node], key=lambda found: (found.since, found.until, found.who))):
            while there and there[0][0] <= stay.since + EXACT / 2:
                heappop(there)
            if stay.until <= stay.since + EXACT / 2:
                continue
            for until, _, other in sorted(there):
                together = min(until, stay.until)
                end = f"to {together:.6f}" if together != float("inf") else "on"
                yield f"{node}: {other.who} and {stay.who} from {stay.since:.6f} {end}"
            heappush(there, (stay.until, number, stay))


def _beyond_allocatable(run: RecordedRun) -> Iterator[str]:
    """Yield the dates at which the pods on a node come to ask for more than it has."""
    nodes = {node.node: node for node in read_nodes_csv(run.path / "nodes.csv")}
    for name, stays in sorted(_stays_of_pods(run).items()):
        if (node := nodes.get(name)) is None:
            yield f"{name}: pods are on it, and nodes.csv does not have it"
            continue
        yield from _beyond(node, stays)


def _beyond(node: NodeRow, stays: list[Stay]) -> Iterator[str]:
    offered = (round(node.cpu_allocatable * MICRO), node.memory_allocatable, node.gpu_allocatable)
    # At one date what ends goes before what begins.
    changes = sorted(
        [(stay.until, 0, number) for number, stay in enumerate(stays) if stay.until > stay.since]
        + [(stay.since, 1, number) for number, stay in enumerate(stays) if stay.until > stay.since]
    )
    asked = [0, 0, 0]
    for date, starting, number in changes:
        for index, amount in enumerate(stays[number].amounts):
            asked[index] += amount if starting else -amount
            if starting and amount and asked[index] > offered[index]:
                what, unit = (("cpu", MICRO), ("memory", 1), ("nvidia.com/gpu", 1))[index]
                yield (
                    f"{node.node}: from {date:.6f} its pods ask for {asked[index] / unit:g} {what}, it has "
                    f"{offered[index] / unit:g}; {stays[number].who} is the last"
                )
