"""The content of the page's charts, as columns of numbers: names once, then their numbers."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol, TypeVar

from batkube.report.run_data import STATES, ReportJob, RunData
from batkube.results.pods import PodRecord
from batkube.results.series import SeriesRow

MOST_ROWS = 12_000
"""The rows of the series beyond which only some are put into the page."""
BUCKETS = 2_000
"""The number of spans of time of which each then keeps its first, its last, and its extreme rows."""

Columns = dict[str, Any]
Number = int | float | None


class Dated(Protocol):
    """A row whose values hold from a date on."""

    @property
    def time(self) -> float: ...


Row = TypeVar("Row", bound=Dated)


def columns(data: RunData) -> Columns:
    """Return all that is drawn. Dates are simulated seconds, to the millisecond."""
    jobs = data.jobs
    users, queues, priorities = _Names(), _Names(), _Names()
    bars, nodes = _bars(data)
    return {
        "end": number(data.end),
        "states": STATES,
        "jobs": {
            "name": [job.name for job in jobs],
            "submitted": [number(job.submitted) for job in jobs],
            "started": [number(job.started) for job in jobs],
            "finished": [number(job.finished) for job in jobs],
            "state": [STATES.index(job.state) for job in jobs],
            "pods": [job.resources for job in jobs],
            "cores": [number(job.cores) for job in jobs],
            "user": [users.number(job.user) for job in jobs],
            "queue": [queues.number(job.queue) for job in jobs],
            "priority": [priorities.number(str(job.priority)) for job in jobs],
        },
        "users": users.names,
        "queues": queues.names,
        "priorities": priorities.names,
        "nodes": nodes,
        "bars": bars,
        "down": _down(data, nodes),
        "series": _series(data.series),
        "usage": _usage(data),
        "rows": len(data.series),
    }


def number(value: float | None) -> Number:
    """Return a number as JSON has it shortest."""
    if value is None:
        return None
    rounded = round(value, 3)
    whole = int(rounded)
    return whole if whole == rounded else rounded


class _Names:
    """Names, each by its number."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._numbers = {name: index for index, name in enumerate(names)}

    def number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def names(self) -> list[str]:
        return list(self._numbers)


def _bars(data: RunData) -> tuple[Columns, list[str]]:
    """Return for each pod that ran its job and its node, and its own dates where they are not the job's."""
    nodes = _Names(node.node for node in data.nodes)
    job_of: list[int] = []
    node_of: list[int] = []
    own: list[list[Number]] = []
    for index, job in enumerate(data.jobs):
        for pod in job.pods:
            if pod.starting_time is None or not pod.node:
                continue
            job_of.append(index)
            node_of.append(nodes.number(pod.node))
            since, until = number(pod.starting_time), number(_end_of(pod, job))
            if (since, until) != (number(job.started), number(job.finished)):
                own.append([len(job_of) - 1, since, until, int(pod.preempted)])
    return {"job": job_of, "node": node_of, "own": own}, nodes.names


def _end_of(pod: PodRecord, job: ReportJob) -> float | None:
    return pod.finish_time if pod.finish_time is not None else job.finished


def _down(data: RunData, nodes: Sequence[str]) -> list[list[Number]]:
    """Return which node was down from when to when."""
    numbers = {name: index for index, name in enumerate(nodes)}
    since: dict[str, float] = {}
    spans: list[list[Number]] = []
    for row in data.node_changes:
        if not row.up:
            since.setdefault(row.node, row.time)
        elif row.node in since:
            spans.append([numbers[row.node], number(since.pop(row.node)), number(row.time)])
    spans += [[numbers[node], number(date), number(data.end)] for node, date in since.items()]
    return spans


def _series(rows: Sequence[SeriesRow]) -> Columns:
    kept = _thinned(rows, lambda row: row.waiting_pods, lambda row: row.cpu_requested)
    found: Columns = {
        "time": [number(row.time) for row in kept],
        "waiting": [row.waiting_pods for row in kept],
        "running": [row.running_pods for row in kept],
        "queued_cpu": [number(row.queued_cpu) for row in kept],
        "cpu": [_part(row.cpu_requested, row.cpu_allocatable) for row in kept],
    }
    if any(row.memory_requested for row in kept):
        found["memory"] = [_part(row.memory_requested, row.memory_allocatable) for row in kept]
    if any(row.gpu_allocatable for row in kept):
        found["gpu"] = [_part(row.gpu_requested, row.gpu_allocatable) for row in kept]
    if any(row.cpu_used != row.cpu_requested for row in kept):
        found["cpu_used"] = [_part(row.cpu_used, row.cpu_allocatable) for row in kept]
    if any(row.nodes_up != kept[0].nodes_up for row in kept):
        found["nodes_up"] = [row.nodes_up for row in kept]
    return found


def _usage(data: RunData) -> Columns:
    """Return what running pods use and request, as parts of what the nodes that are up offer."""
    if not (data.uses and data.series):
        return {}
    kept = _thinned(data.uses, lambda use: use.cpu_used, lambda use: use.memory_used)
    dates = [row.time for row in data.series]
    offers = [data.series[max(bisect_right(dates, use.time) - 1, 0)] for use in kept]

    both = list(zip(kept, offers, strict=True))
    return {
        "time": [number(use.time) for use in kept],
        "cpu_used": [_part(use.cpu_used, offer.cpu_allocatable) for use, offer in both],
        "cpu_requested": [_part(use.cpu_requested, offer.cpu_allocatable) for use, offer in both],
        "memory_used": [_part(use.memory_used, offer.memory_allocatable) for use, offer in both],
        "memory_requested": [_part(use.memory_requested, offer.memory_allocatable) for use, offer in both],
    }


def _part(amount: float, allocatable: float) -> Number:
    return round(amount / allocatable, 4) if allocatable > 0 else None


def _thinned(rows: Sequence[Row], *measures: Callable[[Row], float]) -> Sequence[Row]:
    """Return all rows, or of very many so many that a line looks the same by each of the measures."""
    if len(rows) <= MOST_ROWS:
        return rows
    begin, end = rows[0].time, rows[-1].time
    width = (end - begin) / BUCKETS or 1.0
    edges = [0]
    for index, (before, row) in enumerate(pairwise(rows), start=1):
        if int((row.time - begin) / width) != int((before.time - begin) / width):
            edges.append(index)
    kept: set[int] = set()
    for first, after in pairwise([*edges, len(rows)]):
        bucket = range(first, after)
        kept |= {first, after - 1}
        for measure in measures:
            kept |= {min(bucket, key=lambda i: measure(rows[i])), max(bucket, key=lambda i: measure(rows[i]))}
    return [rows[index] for index in sorted(kept)]
