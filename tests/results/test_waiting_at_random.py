"""Random histories: the reasons are those that the definition gives, instant by instant, and sum to the wait."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from batkube.results import waiting
from batkube.results.wait_constraints import Constraints, NodeFacts, Taint, Toleration
from batkube.results.wait_history import FailedAttempt, History, NodeState, PodHistory, classify, timeline
from batkube.results.wait_reasons import SECOND, Reason, Stretch
from tests.results.waiting_by_definition import Definition

MESSAGES = (
    "0/4 nodes are available: 4 Insufficient cpu. preemption: 0/4 nodes are available: 4 No preemption victims found.",
    "0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 Insufficient cpu.",
    "0/4 nodes are available: 4 node(s) didn't have free ports for the requested pod ports.",
    "0/4 nodes are available.",
    "waiting for minCount pods from a gang to appear in scheduling queue",
    "exceeded quota: team-a",
    "not today",
)
RULES = (
    Constraints(),
    Constraints(),
    Constraints(selector=(("kind", "gpu"),)),
    Constraints(tolerations=(Toleration("dedicated", "Exists"),)),
)


class World:
    """A random run: pods come, are tried, bound, started and end; nodes change."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.exclusive = random.random() < 0.4
        self.now = 0.0
        self.nodes: list[NodeState] = []
        self.attempts: list[FailedAttempt] = []
        self.pods: dict[str, PodHistory] = {}
        for number in range(random.randint(1, 4)):
            self.nodes.append(
                NodeState(
                    0.0, f"n{number}", True, {"cpu": random.randint(1, 8), "memory": 8, "pods": 9}, self.facts(number)
                )
            )

    def facts(self, number: int) -> NodeFacts:
        random = self.random
        labels = {"kind": random.choice(["gpu", "cpu"])}
        taints = (Taint("dedicated"),) if random.random() < 0.2 else ()
        return NodeFacts(f"n{number}", labels, taints, unschedulable=random.random() < 0.1)

    def play(self, steps: int) -> History:
        random = self.random
        for _ in range(steps):
            self.now = round(self.now + random.choice([0, 0.1, 0.3, 1, 7]), 6)
            random.choice(
                [self.create, self.create, self.attempt, self.bind, self.bind, self.start, self.end, self.change]
            )()
        return History(self.nodes, list(self.pods.values()), self.attempts, self.now + 5, self.exclusive)

    def create(self) -> None:
        random = self.random
        size = random.choice([1, 1, 2, 3])
        number = len(self.pods)
        first = PodHistory(
            "",
            self.now,
            {"cpu": random.randint(1, 5), "memory": random.randint(0, 4), "pods": 1},
            job=f"j{number}",
            gang_size=size,
            gates=[(self.now, self.now + random.choice([0.1, 5.0]))] if random.random() < 0.2 else [],
            constraints=random.choice(RULES),
            backs_off=random.random() < 0.7,
        )
        for index in range(size):
            self.pods[f"p{number}-{index}"] = replace(first, pod=f"p{number}-{index}")

    def waiting(self, *, bound: bool) -> list[PodHistory]:
        return [
            pod
            for pod in self.pods.values()
            if pod.started is None
            and pod.ended is None
            and (pod.bound is not None) == bound
            and all(end is not None and end <= self.now for _, end in pod.gates)
        ]

    def attempt(self) -> None:
        for pod in self.random.sample(found := self.waiting(bound=False), min(2, len(found))):
            if not any(one.pod == pod.pod and one.time == self.now for one in self.attempts):
                self.attempts.append(FailedAttempt(pod.pod, self.now, self.random.choice(MESSAGES)))

    def bind(self) -> None:
        for pod in self.waiting(bound=False)[:3]:
            fitting = [state.node for state in self.nodes if self.room(pod, state.node) > 0]
            if fitting and self.random.random() < 0.6:
                node = self.random.choice(fitting)
                self.pods[pod.pod] = replace(pod, bound=self.now, node=node)

    def room(self, pod: PodHistory, node: str) -> int:
        on_it = [one for one in self.pods.values() if one.node == node and one.bound is not None and one.ended is None]
        allocatable = next(state.allocatable for state in self.nodes if state.node == node and state.allocatable)
        if self.exclusive and on_it:
            return 0
        return min(
            (allocatable[resource] - sum(one.requests[resource] for one in on_it)) // amount
            for resource, amount in pod.requests.items()
            if amount
        )

    def start(self) -> None:
        for pod in self.waiting(bound=True):
            gang = [one for one in self.pods.values() if one.job == pod.job]
            if all(one.bound is not None for one in gang) and self.random.random() < 0.7:
                self.pods[pod.pod] = replace(pod, started=self.now)

    def end(self) -> None:
        running = [pod for pod in self.pods.values() if pod.started is not None and pod.ended is None]
        for pod in self.random.sample(running, min(2, len(running))):
            self.pods[pod.pod] = replace(pod, ended=self.now)
        alone = [pod for pod in self.waiting(bound=False) + self.waiting(bound=True) if pod.gang_size == 1]
        if alone and self.random.random() < 0.2:
            pod = self.random.choice(alone)
            self.pods[pod.pod] = replace(pod, ended=self.now)

    def change(self) -> None:
        number = self.random.randrange(4)
        if any(state.node == f"n{number}" for state in self.nodes):
            up = self.random.choice([None, True, False])
            facts = self.facts(number) if self.random.random() < 0.5 else None
            self.nodes.append(NodeState(self.now, f"n{number}", up, None, facts))


@pytest.mark.parametrize("seed", range(60))
def test_as_the_definition_says(seed: int) -> None:
    history = World(seed).play(60)
    definition = Definition(history)
    stretches: dict[str, list[Stretch]] = {pod.pod: [] for pod in history.pods}
    waits = classify(history, lambda pod, told: stretches[pod].extend(told))
    for pod in history.pods:
        reasons, plugins = definition.wait(pod)
        waited = waits[pod.pod]
        found = dict(zip(Reason, waited.microseconds, strict=True))
        assert {reason: time for reason, time in found.items() if time} == reasons, pod
        assert dict(waited.by_plugin) == plugins, pod
        over = min(time for time in (pod.started, pod.ended, history.end) if time is not None)
        assert waited.total == pytest.approx(over - pod.created, abs=1e-6)
        assert min(waited.microseconds) >= 0
        told = stretches[pod.pod]
        assert all(stretch.time == stretch.end - stretch.begin for stretch in told)
        dates = [round(pod.created * SECOND), *(stretch.end for stretch in told)]
        assert [stretch.begin for stretch in told] == dates[:-1], "they follow one another without gaps"
        assert dates[-1] == round(over * SECOND)
        assert sums(told) == (reasons, plugins)
        assert all(before.cause != after.cause for before, after in pairwise(told)), "one stretch for one reason"
        for stretch in told:
            assert (stretch.cause.reason, stretch.cause.plugin) == definition.reason(pod, stretch.begin)
            assert stretch.cause.attempt == attempts_before(history, pod, stretch.begin)
    longest = max(history.pods, key=lambda pod: waits[pod.pod].total)
    assert timeline(history, longest.pod) == stretches[longest.pod]


@pytest.mark.parametrize("seed", range(20))
def test_turns_that_are_summed_up_add_up_to_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    history = World(seed).play(200)
    exact: dict[str, list[Stretch]] = {}
    summed: dict[str, list[Stretch]] = {}
    waits = classify(history, lambda pod, told: exact.setdefault(pod, []).extend(told))
    monkeypatch.setattr(waiting, "KEPT", 1)
    assert classify(history, lambda pod, told: summed.setdefault(pod, []).extend(told)) == waits
    assert exact.keys() == summed.keys()
    for pod, told in summed.items():
        assert sums(told) == sums(exact[pod])
        spans = list(dict.fromkeys((stretch.begin, stretch.end) for stretch in told))
        assert (spans[0][0], spans[-1][1]) == (exact[pod][0].begin, exact[pod][-1].end)
        assert all(before[1] == after[0] for before, after in pairwise(spans))
        for begin, end in spans:
            assert sum(stretch.time for stretch in told if stretch[:2] == (begin, end)) == end - begin


def sums(stretches: Iterable[Stretch]) -> tuple[dict[Reason, int], dict[str, int]]:
    """Return the microseconds by reason, and those of ``constraints`` by plugin."""
    reasons: dict[Reason, int] = {}
    plugins: dict[str, int] = {}
    for stretch in stretches:
        reason, plugin, _, _ = stretch.cause
        assert reason is not None
        reasons[reason] = reasons.get(reason, 0) + stretch.time
        if plugin:
            plugins[plugin] = plugins.get(plugin, 0) + stretch.time
    return reasons, plugins


def attempts_before(history: History, pod: PodHistory, date: int) -> int:
    """Return how often a pod that has no node was tried in vain until a date."""
    if pod.bound is not None and round(pod.bound * SECOND) <= date:
        return 0
    return sum(attempt.pod == pod.pod and round(attempt.time * SECOND) <= date for attempt in history.attempts)
