"""The cluster over simulated time: exact step functions, made of the times of pods and of the changes of nodes.

Amounts are counted in whole numbers (millionths of a core), so that what is given back leaves nothing behind. Nothing
but a few numbers is kept of each pod.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any

from batkube.results.nodes import Node, NodeChange, NodeRow
from batkube.results.pods import PodRecord
from batkube.results.resizes import Span, spans
from batkube.results.series import NodeSeriesRow, SeriesRow

MICRO = 1_000_000
"""Millionths of a core in a core."""
_STALE = 4
"""The entries of the heap of free cores for each node, beyond which it is made anew."""


class PodTimes:
    """The times and requests of many pods, in little room. A date that is not known, or not yet, is infinite."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self.names = list(nodes)
        """The nodes by number."""
        self._numbers = {name: number for number, name in enumerate(self.names)}
        self.created, self.bound, self.started, self.ended = (array("d") for _ in range(4))
        self.cpu, self.memory, self.gpu, self.work = (array("q") for _ in range(4))
        self.node = array("i")
        self.goes_on: set[int] = set()
        """The spans that only go on with a pod that was there before, after a change of its requests."""

    def __len__(self) -> int:
        return len(self.created)

    def add(self, pod: PodRecord) -> None:
        """Take in one pod; one whose requests changed is as many, one after the other."""
        if pod.resizes and pod.bound_time is not None:
            for span in spans(pod.bound_time, pod.finish_time, pod.cpu, pod.memory, pod.resizes):
                self._add_span(pod, span)
            return
        self._add(pod)

    def _add_span(self, pod: PodRecord, span: Span) -> None:
        first = span.since == pod.bound_time
        if not first:
            self.goes_on.add(len(self))
        started = pod.starting_time
        if started is not None:
            started = max(started, span.since)
            started = started if span.until is None or started < span.until else None
        part = replace(
            pod, created_time=pod.created_time if first else span.since, bound_time=span.since, starting_time=started,
            finish_time=span.until, cpu=span.cpu, memory=span.memory,
        )  # fmt: skip
        self._add(part)

    def _add(self, pod: PodRecord) -> None:
        node = self._numbers.get(pod.node, -1) if pod.bound_time is not None else -1
        cpu, started, ended = round(pod.cpu * MICRO), pod.starting_time, pod.finish_time
        self.created.append(pod.created_time)
        self.bound.append(inf if node < 0 or pod.bound_time is None else pod.bound_time)
        self.started.append(inf if started is None else started)
        self.ended.append(inf if ended is None else ended)
        self.cpu.append(cpu)
        self.memory.append(pod.memory)
        self.gpu.append(pod.gpu)
        self.work.append(0 if started is None or ended is None else round(cpu * (ended - started)))
        self.node.append(node)

    def waits_until(self, pod: int) -> float:
        """Return when the pod waits no more: it starts, or goes."""
        return min(self.started[pod], self.ended[pod])


class _NodeState:
    """A node, and what is on it, over time."""

    __slots__ = ("busy_seconds", "cpu", "cpu_free", "cpu_seconds", "failures", "gpu", "gpu_seconds", "memory",
                 "memory_seconds", "node", "offered", "pods", "ran", "since", "up", "up_seconds", "used")  # fmt: skip

    def __init__(self, node: Node) -> None:
        self.node = node
        self.up = True
        self.pods = self.ran = self.failures = 0
        self.cpu = self.memory = self.gpu = 0
        """The requests of the pods on it."""
        self.used = [0, 0, 0]
        """The requests of those of them that run."""
        self.offered = self.cpu_free = round(node.cpu * MICRO)
        self.since = self.up_seconds = self.busy_seconds = 0.0
        self.cpu_seconds = self.memory_seconds = self.gpu_seconds = 0.0

    def count(self, now: float) -> None:
        """Count the time that has passed since the last change."""
        passed, self.since = now - self.since, now
        if not self.up or passed <= 0:
            return
        self.up_seconds += passed
        if self.pods:
            self.busy_seconds += passed
            self.cpu_seconds += self.cpu * passed
            self.memory_seconds += self.memory * passed
            self.gpu_seconds += self.gpu * passed

    def row(self) -> NodeRow:
        node, up = self.node, self.up_seconds

        def utilization(requested: float, allocatable: float) -> float | None:
            return requested / (allocatable * up) if allocatable * up > 0 else None

        return NodeRow(
            node=node.node,
            host=node.host,
            cpu_allocatable=node.cpu,
            memory_allocatable=node.memory,
            gpu_allocatable=node.gpu,
            up_seconds=up,
            busy_seconds=self.busy_seconds,
            pods=self.ran,
            cpu_requested_seconds=self.cpu_seconds / MICRO,
            cpu_utilization=utilization(self.cpu_seconds / MICRO, node.cpu),
            memory_utilization=utilization(self.memory_seconds, node.memory),
            gpu_utilization=utilization(self.gpu_seconds, node.gpu),
            failures=self.failures,
        )


class Timeline:
    """Plays the changes in order of their dates, from 0 to ``end``; after that ``node_rows`` sums up the nodes."""

    def __init__(self, pods: PodTimes, nodes: Sequence[Node], changes: Iterable[NodeChange], end: float) -> None:
        self._pods = pods
        self._end = end
        self._nodes = [_NodeState(node) for node in nodes]
        number = {node.node: index for index, node in enumerate(nodes)}
        self._changes = [(change.time, number[change.node], change.up, change.failure) for change in changes]
        self._free = [(-state.cpu_free, index) for index, state in enumerate(self._nodes)]
        heapify(self._free)
        self._free_cpu = sum(state.cpu_free for state in self._nodes)
        self._allocatable = [
            sum(round(node.cpu * MICRO) for node in nodes),
            sum(node.memory for node in nodes),
            sum(node.gpu for node in nodes),
        ]
        self._requested = [0, 0, 0]
        self._used = [0, 0, 0]
        self._up, self._running, self._waiting = len(nodes), 0, 0
        self._queued_cpu = self._queued_work = 0
        self._touched: dict[int, None] = {}
        """The nodes that changed at this date."""

    def play(self) -> Iterator[tuple[SeriesRow | None, list[NodeSeriesRow]]]:
        """Yield for each date at which something changed the new row of the cluster, and those of its nodes."""
        pods = self._pods
        count = range(len(pods))
        queues = [
            (dates, sorted(count, key=dates.__getitem__), act)
            for dates, act in (
                (pods.created, self._create),
                (pods.bound, self._bind),
                (pods.started, self._start),
                (pods.ended, self._finish),
            )
        ]
        places, nodes_done = [0] * len(queues), 0
        total = len(pods)
        last: tuple[Any, ...] | None = None
        shown: dict[int, tuple[object, ...]] = {}
        self._touched = dict.fromkeys(range(len(self._nodes)))
        date = 0.0
        while date <= self._end:
            following = inf
            while nodes_done < len(self._changes) and self._changes[nodes_done][0] <= date:
                _, node, up, failure = self._changes[nodes_done]
                self._turn(node, up, date, failure=failure)
                nodes_done += 1
            if nodes_done < len(self._changes):
                following = self._changes[nodes_done][0]
            for index, (dates, order, act) in enumerate(queues):
                place = places[index]
                while place < total and dates[order[place]] <= date:
                    act(order[place], date)
                    place += 1
                places[index] = place
                if place < total:
                    following = min(following, dates[order[place]])
            row = self._row()
            changed = last is None or row != last
            nodes = [found for node in self._touched if (found := self._node_row(node, date, shown))]
            self._touched.clear()
            if changed:
                last = row
            if changed or nodes:
                yield (SeriesRow(date, *row) if changed else None), nodes
            date = following
        for state in self._nodes:
            state.count(self._end)

    def node_rows(self) -> list[NodeRow]:
        """Return the rows of ``nodes.csv``, when ``play`` has come to its end."""
        return [state.row() for state in self._nodes]

    # Changes

    def _create(self, pod: int, now: float) -> None:
        if self._pods.waits_until(pod) > now:
            self._wait(pod, 1)

    def _wait(self, pod: int, sign: int) -> None:
        self._waiting += sign
        self._queued_cpu += sign * self._pods.cpu[pod]
        self._queued_work += sign * self._pods.work[pod]

    def _bind(self, pod: int, now: float) -> None:
        if self._pods.ended[pod] > now:
            self._move(pod, now, 1)

    def _start(self, pod: int, now: float) -> None:
        pods = self._pods
        if pods.created[pod] < now and pods.ended[pod] >= now:
            self._wait(pod, -1)
        if pods.node[pod] < 0:
            self._running += pods.ended[pod] > now
            return
        self._nodes[pods.node[pod]].ran += pod not in pods.goes_on
        if pods.ended[pod] > now:
            self._run(pod, 1)

    def _finish(self, pod: int, now: float) -> None:
        pods = self._pods
        if pods.started[pod] == inf and pods.created[pod] < now:
            self._wait(pod, -1)
        if pods.started[pod] < now:
            self._run(pod, -1)
        if pods.bound[pod] < now:
            self._move(pod, now, -1)

    def _run(self, pod: int, sign: int) -> None:
        pods = self._pods
        self._running += sign
        if pods.node[pod] < 0:
            return
        state = self._nodes[pods.node[pod]]
        cpu, memory, gpu = sign * pods.cpu[pod], sign * pods.memory[pod], sign * pods.gpu[pod]
        for sums in (state.used, self._used) if state.up else (state.used,):
            sums[0] += cpu
            sums[1] += memory
            sums[2] += gpu

    def _move(self, pod: int, now: float, sign: int) -> None:
        """Let the pod come to its node, or leave it."""
        pods, node = self._pods, self._pods.node[pod]
        state = self._nodes[node]
        if state.pods:
            state.count(now)
        else:  # nothing was on it
            state.up_seconds += now - state.since if state.up else 0.0
            state.since = now
        state.pods += sign
        cpu, memory, gpu = sign * pods.cpu[pod], sign * pods.memory[pod], sign * pods.gpu[pod]
        state.cpu += cpu
        state.memory += memory
        state.gpu += gpu
        if state.up:
            requested = self._requested
            requested[0] += cpu
            requested[1] += memory
            requested[2] += gpu
            self._note_free(node, state)
        else:
            state.cpu_free = state.offered - state.cpu
        self._touched[node] = None

    def _turn(self, node: int, up: bool, now: float, *, failure: bool) -> None:
        """Let the node go, or come back."""
        state = self._nodes[node]
        if state.up == up:
            return
        state.count(now)
        sign = 1 if up else -1
        offered = (state.offered, state.node.memory, state.node.gpu)
        for index, amount in enumerate(offered):
            self._allocatable[index] += sign * amount
        for index, amount in enumerate((state.cpu, state.memory, state.gpu)):
            self._requested[index] += sign * amount
            self._used[index] += sign * state.used[index]
        self._up += sign
        if up:
            state.up = True
            self._free_cpu += max(0, state.cpu_free)
            heappush(self._free, (-state.cpu_free, node))
        else:
            self._free_cpu -= max(0, state.cpu_free)
            state.up = False
            state.failures += failure
        self._touched[node] = None

    def _note_free(self, node: int, state: _NodeState) -> None:
        free = state.offered - state.cpu
        self._free_cpu += max(0, free) - max(0, state.cpu_free)
        state.cpu_free = free
        heappush(self._free, (-free, node))
        if len(self._free) > _STALE * len(self._nodes) + 16:
            self._free = [(-state.cpu_free, index) for index, state in enumerate(self._nodes) if state.up]
            heapify(self._free)

    def _largest_free(self) -> int:
        while self._free:
            free, node = self._free[0]
            state = self._nodes[node]
            if state.up and state.cpu_free == -free:
                return -free
            heappop(self._free)
        return 0

    # Rows

    def _row(self) -> tuple[Any, ...]:
        """Return all but the date of a row."""
        (cpu, memory, gpu), (cpu_r, memory_r, gpu_r), used = self._allocatable, self._requested, self._used
        fragmentation = 1 - max(0, self._largest_free()) / self._free_cpu if self._free_cpu > 0 else 0.0
        return (
            self._up, self._running, self._waiting, self._queued_cpu / MICRO, self._queued_work / MICRO,
            cpu / MICRO, cpu_r / MICRO, used[0] / MICRO, memory, memory_r, used[1], gpu, gpu_r, used[2], fragmentation,
        )  # fmt: skip

    def _node_row(self, node: int, date: float, shown: dict[int, tuple[object, ...]]) -> NodeSeriesRow | None:
        state = self._nodes[node]
        now = (state.up, state.pods, state.cpu, state.memory, state.gpu)
        if shown.get(node) == now:
            return None
        shown[node] = now
        return NodeSeriesRow(date, state.node.node, state.up, state.pods, state.cpu / MICRO, state.memory, state.gpu)
