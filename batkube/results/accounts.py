"""The accounts of a run: jobs and pods, taken in one after another, from which figures and series are made.

It takes them in as they stand in ``jobs.csv`` and ``pods.csv``, so that figures of a folder are those of the run.
"""

import math
from array import array
from collections.abc import Iterable, Sequence
from operator import add, attrgetter
from sys import intern

from batkube.results.figures import Figures
from batkube.results.metrics import WAIT_REASONS, Capacity, EndedJob, JobFacts, figures, figures_by
from batkube.results.nodes import Node, NodeChange
from batkube.results.pods import REPLACED, PodRecord, read_named_seconds
from batkube.results.timeline import PodTimes, Timeline

_waits_of = attrgetter(*(f"wait_{reason}" for reason in WAIT_REASONS))
Amounts = tuple[float, float, float]


class Accounts:
    """``end``: the date up to which is counted, the run's end or the present."""

    def __init__(self, nodes: Sequence[Node], changes: Sequence[NodeChange], end: float) -> None:
        self.nodes = nodes
        self.changes = changes
        self.end = end
        self.pods = PodTimes(node.node for node in nodes)
        self._jobs: dict[str, JobFacts] = {}
        self._down = _down(changes, end)
        self._amounts: dict[Amounts, Amounts] = {}
        """Each amount once, however many pods ask for it."""

    def add_job(self, job: EndedJob) -> None:
        """Take in a job that is over. Jobs come before pods, or after them."""
        facts = self._job(f"{job.workload_name}!{job.job_id}")
        facts.submitted, facts.final_state = job.submission_time, intern(job.final_state)
        facts.started, facts.finished = job.starting_time, job.finish_time

    def add_pod(self, pod: PodRecord) -> None:
        """Take in a pod."""
        self.pods.add(pod)
        job = self._job(pod.job_id)
        amounts = (pod.cpu, float(pod.memory), float(pod.gpu))
        amounts = self._amounts.setdefault(amounts, amounts)  # most pods ask for the same as others
        job.user, job.queue, job.priority = intern(pod.user), intern(pod.queue), pod.priority
        if pod.reason != REPLACED:
            own = job.requested
            summed = (own[0] + amounts[0], own[1] + amounts[1], own[2] + amounts[2])
            job.requested = self._amounts.setdefault(summed, summed)
        if pod.bound_time is not None and pod.node:
            until = self.end if pod.finish_time is None else pod.finish_time
            if down := self._down.get(pod.node):
                job.held += [(since, to, amounts) for since, to in _without(down, pod.bound_time, until)]
            else:
                job.held.append((pod.bound_time, until, amounts))
        job.preempted += pod.preempted
        job.lost_work += pod.lost_work
        job.attempts += pod.attempts
        job.failed_attempts += pod.failed_attempts
        if pod.waiting_time:
            reasons = _waits_of(pod)
            if None not in reasons:  # else they are not known
                waits = array("d", reasons)
                job.waits = waits if job.waits is None else array("d", map(add, job.waits, waits))
        if pod.constraints:
            sums = dict(job.constraints)
            for plugin, seconds in read_named_seconds(pod.constraints).items():
                sums[intern(plugin)] = sums.get(plugin, 0.0) + seconds
            job.constraints = tuple(sums.items())

    @property
    def jobs(self) -> list[JobFacts]:
        """All jobs so far."""
        return list(self._jobs.values())

    @property
    def capacity(self) -> Capacity:
        """The resources that the nodes offered."""
        offered = {node.node: (node.cpu, float(node.memory), float(node.gpu)) for node in self.nodes}
        total = tuple(math.fsum(amounts) for amounts in zip(*offered.values(), strict=True)) or (0.0, 0.0, 0.0)
        down = [(since, until, offered[node]) for node, spans in self._down.items() for since, until in spans]
        return Capacity((total[0], total[1], total[2]), down)

    def figures(self) -> Figures:
        """Compute the figures of all jobs."""
        return figures(self.jobs, self.capacity, now=self.end)

    def figures_by(self, whole: Figures) -> dict[str, dict[str, Figures]]:
        """Compute those of users, queues, priorities and size classes."""
        return figures_by(self.jobs, whole, self.capacity, now=self.end)

    def timeline(self) -> Timeline:
        """Return the cluster over time."""
        return Timeline(self.pods, self.nodes, self.changes, self.end)

    def _job(self, name: str) -> JobFacts:
        found = self._jobs.get(name)
        if found is None:
            found = self._jobs[name] = JobFacts()
        return found


def _down(changes: Iterable[NodeChange], end: float) -> dict[str, list[tuple[float, float]]]:
    """Return from when to when each node was not ready, for those that ever were."""
    spans: dict[str, list[tuple[float, float]]] = {}
    since: dict[str, float] = {}
    for change in changes:
        if not change.up:
            since.setdefault(change.node, change.time)
        elif change.node in since:
            spans.setdefault(change.node, []).append((since.pop(change.node), change.time))
    for node, date in since.items():
        spans.setdefault(node, []).append((date, math.inf))
    return spans


def _without(down: Sequence[tuple[float, float]], since: float, until: float) -> list[tuple[float, float]]:
    """Return the parts of a span of time that are in none of those in ``down``, which are in order."""
    parts = []
    for begin, end in down:
        if begin > since:
            parts.append((since, min(begin, until)))
        since = max(since, end)
        if since >= until:
            return parts
    return [*parts, (since, until)]
