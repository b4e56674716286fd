"""EASY back-filling: who may pass the first in the queue, and that nobody delays it."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.schedulers.policies import Bind, Cluster, Pod, Policy, Unschedulable
from batkube.schedulers.policies.easy import Easy, reserve
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.placement import Plan
from tests.schedulers.easy_by_definition import EasyByDefinition
from tests.schedulers.manifests import JSON, node, pod


@dataclass
class Job:
    """``pods`` pods that start together. Times are seconds."""

    name: str
    walltime: float | None
    pods: int = 1
    arrival: float = 0.0
    lasts: float | None = None
    """The time that it runs in fact; as long as its walltime by default."""
    cpu: str = "1"
    more: JSON = field(default_factory=dict)

    def manifests(self, node_name: str | None = None, phase: str = "Pending") -> Iterator[JSON]:
        annotations = {} if self.walltime is None else {"batkube.io/walltime": str(self.walltime)}
        if self.pods > 1:
            annotations["batkube.io/gang-size"] = str(self.pods)
        for index in range(self.pods):
            name = self.name if self.pods == 1 else f"{self.name}-{index}"
            spec: JSON = {**self.more, **({"nodeName": node_name} if node_name else {})}
            labels = {"batkube.io/job": self.name}
            yield pod(name, cpu=self.cpu, annotations=annotations, labels=labels, spec=spec, phase=phase)


class Simulation:
    """A cluster on which jobs run as the policy places them: ``starts`` says when."""

    def __init__(self, nodes: list[JSON], jobs: list[Job], policy: Policy | None = None) -> None:
        self.cluster, self.policy = Cluster(["mine"]), policy or Easy()
        self.said: list[tuple[float, str, str, str]] = []
        """The decisions: when, on which pod, the node, and why it waits."""
        self.starts: dict[str, float] = {}
        self.promised: dict[str, float] = {}
        """The first time that was reserved for a job."""
        self._jobs = {job.name: job for job in jobs}
        self._where: dict[str, dict[str, str]] = {}
        self._events = [(job.arrival, 1, index, job.name) for index, job in enumerate(jobs)]
        heapq.heapify(self._events)
        for each in nodes:
            self.cluster.node_event("ADDED", each)

    def run(self) -> "Simulation":
        """To the end of all jobs that can be placed."""
        while self._events:
            self.cluster.now = self._events[0][0]
            while self._events and self._events[0][0] == self.cluster.now:
                _, kind, _, name = heapq.heappop(self._events)
                for manifest in self._jobs[name].manifests():
                    if kind == 1:
                        self.cluster.pod_event("ADDED", manifest)
                    else:
                        self.cluster.pod_event("DELETED", manifest)
            self._decide()
        return self

    def _decide(self) -> None:
        for decision in self.policy.decide(self.cluster):
            match decision:
                case Bind(pod=placed, node=where):
                    self.said.append((self.cluster.now, placed.name, where.name, ""))
                    self._bind(placed, where.name)
                case Unschedulable(pod=first, reason=reason):
                    self.said.append((self.cluster.now, first.name, "", reason))
                    waiting = self.cluster.gang_of(first)
                    assert waiting
                    self.promised.setdefault(_job(first), reserve(self.cluster, waiting).time)

    def _bind(self, placed: Pod, where: str) -> None:
        self.cluster.assume(placed, where)
        job = self._jobs[_job(placed)]
        bound = self._where.setdefault(job.name, {})
        bound[placed.name] = where
        if len(bound) < job.pods:
            return
        now = self.starts[job.name] = self.cluster.now
        for manifest in job.manifests(phase="Running"):
            manifest["spec"]["nodeName"] = bound[manifest["metadata"]["name"]]
            self.cluster.pod_event("MODIFIED", manifest)
        lasts = job.lasts if job.lasts is not None else job.walltime
        if lasts is not None:
            heapq.heappush(self._events, (round(now + lasts, 6), 0, len(self.starts), job.name))


def _job(pod: Pod) -> str:
    return pod.labels["batkube.io/job"]


def starts(nodes: int, *jobs: Job, cpu: str = "1") -> dict[str, float]:
    """Tell when each job starts on so many equal nodes."""
    return Simulation([node(f"n{index}", cpu=cpu) for index in range(nodes)], list(jobs)).run().starts


def test_what_ends_before_the_reservation_passes() -> None:
    """Two nodes; the second job needs both at 100. One of 100 s fits before, one of 101 s does not."""
    jobs = [Job("runs", 100), Job("first", 50, pods=2), Job("long", 101), Job("short", 100)]
    assert starts(2, *jobs) == {"runs": 0, "short": 0, "first": 100, "long": 150}


def test_what_takes_nodes_that_the_first_does_not_need_passes_however_long_it_is() -> None:
    """Four nodes, two of them taken until 100; the first job needs three. One node is left over for ever."""
    jobs = [Job("runs", 100, pods=2), Job("first", 50, pods=3), Job("long", 1000), Job("too", 1000)]
    assert starts(4, *jobs) == {"runs": 0, "long": 0, "first": 100, "too": 150}


def test_several_that_pass_count_together() -> None:
    """Of six nodes three are free; at 100 the first needs five, so that one may be taken beyond that time, not two."""
    jobs = [Job("runs", 100, pods=3), Job("first", 50, pods=5), *(Job(f"long{index}", 500) for index in range(3))]
    assert starts(6, *jobs) == {"runs": 0, "long0": 0, "first": 100, "long1": 150, "long2": 150}


def test_without_a_walltime_nobody_passes_into_what_is_reserved() -> None:
    jobs = [Job("runs", 100), Job("first", 50, pods=2), Job("unknown", None, lasts=1)]
    assert starts(2, *jobs) == {"runs": 0, "first": 100, "unknown": 150}


def test_while_it_is_not_known_when_the_first_starts_nobody_passes() -> None:
    jobs = [Job("unknown", None, lasts=30), Job("first", 50, pods=2), Job("short", 1)]
    assert starts(2, *jobs) == {"unknown": 0, "first": 30, "short": 80}


def test_what_goes_where_the_first_could_not_go_passes_in_any_case() -> None:
    nodes = [node("a", labels={"disk": "ssd"}), node("b")]
    picky = {"nodeSelector": {"disk": "ssd"}}
    jobs = [
        Job("unknown", None, cpu="2", lasts=30, more=picky),
        Job("first", 50, cpu="2", more=picky),
        Job("other", None, cpu="2", lasts=7),
    ]
    assert Simulation(nodes, jobs).run().starts == {"unknown": 0, "other": 0, "first": 30}


def test_an_early_end_is_made_use_of_by_the_first() -> None:
    jobs = [Job("runs", 100, lasts=10), Job("first", 50, pods=2), Job("short", 60)]
    assert starts(2, *jobs) == {"runs": 0, "short": 0, "first": 60}


def test_cores_count_on_shared_nodes() -> None:
    """A node of four cores: three are taken until 10, the first wants four; who wants one for ten seconds passes."""
    jobs = [Job("runs", 10, cpu="3"), Job("first", 5, cpu="4"), Job("long", 11, cpu="1"), Job("short", 10, cpu="1")]
    assert starts(1, *jobs, cpu="4") == {"runs": 0, "short": 0, "first": 10, "long": 15}


def test_a_gang_that_is_not_complete_stands_in_nobodys_way() -> None:
    cluster, policy = Cluster(["mine"]), Easy()
    cluster.node_event("ADDED", node("a"))
    cluster.pod_event("ADDED", next(Job("gang", 10, pods=2).manifests()))
    cluster.pod_event("ADDED", pod("alone"))
    decisions: list[Any] = list(policy.decide(cluster))
    assert [(one.pod.name, one.node.name) for one in decisions] == [("alone", "a")]


@st.composite
def workloads(draw: st.DrawFn) -> tuple[int, list[Job]]:
    """Nodes of four cores, and jobs of one to four pods that end at their walltime, or before it."""
    count = draw(st.integers(1, 4))
    jobs = []
    for index in range(draw(st.integers(1, 12))):
        walltime = draw(st.integers(1, 40))
        jobs.append(
            Job(
                f"j{index}",
                walltime,
                pods=draw(st.integers(1, 4)),
                arrival=draw(st.integers(0, 30)),
                lasts=draw(st.integers(1, walltime)),
                cpu=str(draw(st.integers(1, 4))),
            )
        )
    return count, jobs


@settings(max_examples=300, deadline=None)
@given(workloads())
def test_nobody_who_passes_delays_the_first(workload: tuple[int, list[Job]]) -> None:
    """A reservation made for a job at the head of the queue is kept, where walltimes hold."""
    count, jobs = workload
    done = Simulation([node(f"n{index}", cpu="4") for index in range(count)], jobs).run()
    for name, time in done.promised.items():
        if time != float("inf"):
            assert done.starts[name] <= time


@settings(max_examples=150, deadline=None)
@given(workloads())
def test_all_that_can_run_runs(workload: tuple[int, list[Job]]) -> None:
    """Whoever fits on the empty cluster starts some time, if whoever came before him does."""
    count, jobs = workload
    able = [job for job in jobs if job.pods <= count * (4 // int(job.cpu))]
    done = Simulation([node(f"n{index}", cpu="4") for index in range(count)], able).run()
    assert done.starts.keys() == {job.name for job in able}


@st.composite
def varied(draw: st.DrawFn) -> tuple[list[JSON], list[Job]]:
    """Nodes of several kinds, and many jobs for them: some of them picky, some without a walltime."""
    nodes = [
        node(
            f"n{index}",
            cpu=str(draw(st.integers(1, 6))),
            labels={"disk": draw(st.sampled_from(["ssd", "hdd"]))},
            spec={"taints": [{"key": "own", "effect": "NoSchedule"}]} if draw(st.integers(0, 4)) == 0 else {},
        )
        for index in range(draw(st.integers(1, 6)))
    ]
    kinds: list[JSON] = [
        {"nodeSelector": {"disk": "ssd"}},
        {"tolerations": [{"key": "own", "operator": "Exists"}]},
        {},
        {},
    ]
    jobs = []
    for index in range(draw(st.integers(1, 30))):
        walltime = draw(st.sampled_from([None, 1, 2, 5, 10, 20, 40, 40.5]))
        jobs.append(
            Job(
                f"j{index}",
                walltime,
                pods=draw(st.sampled_from([1, 1, 1, 2, 3, 5])),
                arrival=draw(st.integers(0, 20)),
                lasts=draw(st.integers(1, 40)) if walltime is None else draw(st.integers(1, 10)) / 10 * walltime,
                cpu=draw(st.sampled_from(["0", "500m", "1", "2", "3"])),
                more=draw(st.sampled_from(kinds)),
            )
        )
    return nodes, jobs


@settings(max_examples=400, deadline=None)
@given(varied())
def test_its_decisions_are_those_of_the_definition(given_jobs: tuple[list[JSON], list[Job]]) -> None:
    nodes, jobs = given_jobs
    simple = Simulation(nodes, jobs, EasyByDefinition()).run()
    assert Simulation(nodes, jobs).run().said == simple.said


def test_an_overloaded_cluster_of_many_nodes_is_no_burden() -> None:
    """The places that a decision looks at do not grow with the pods that wait: those that are alike wait alike."""
    cluster, policy = Cluster(["mine"]), Easy()
    for index in range(200):
        cluster.node_event("ADDED", node(f"n{index:03}"))
        runs = Job(f"r{index}", 100 + index, cpu="2" if index % 2 else "1")
        for manifest in runs.manifests(f"n{index:03}", "Running"):
            cluster.pod_event("ADDED", manifest)
    for manifest in Job("first", 50, pods=150, cpu="2").manifests():
        cluster.pod_event("ADDED", manifest)
    assert len(list(policy.decide(cluster))) == 1
    looked: list[str] = []
    places = Plan.fits

    def counted(plan: Plan, asked: Pod, where: Node) -> bool:
        looked.append(where.name)
        return places(plan, asked, where)

    counts = []
    for more in (10, 1000):
        for index in range(more):
            cluster.pod_event("ADDED", next(Job(f"w{more}-{index}", 1000, cpu="2").manifests()))
        looked.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Plan, "fits", counted)
            assert len(list(policy.decide(cluster))) == 1
        counts.append(len(looked))
    assert counts[0] == counts[1] < 500
