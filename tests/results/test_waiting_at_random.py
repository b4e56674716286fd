"""Random histories: the reasons are those that the definition gives, instant by instant, and sum to the wait."""

from dataclasses import replace
from random import Random

import pytest

from batkube.results.wait_constraints import Constraints, NodeFacts, Taint, Toleration
from batkube.results.wait_history import FailedAttempt, History, NodeState, PodHistory, classify, timeline
from batkube.results.wait_reasons import Reason
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
    waits = classify(history, [pod.pod for pod in history.pods])
    for pod in history.pods:
        reasons, plugins = definition.wait(pod)
        waited = waits[pod.pod]
        found = dict(zip(Reason, waited.microseconds, strict=True))
        assert {reason: time for reason, time in found.items() if time} == reasons, pod
        assert dict(waited.by_plugin) == plugins, pod
        over = min(time for time in (pod.started, pod.ended, history.end) if time is not None)
        assert waited.total == pytest.approx(over - pod.created, abs=1e-6)
        assert min(waited.microseconds) >= 0
        end = pod.created
        for segment in waited.segments:
            assert segment.begin == end
            end = segment.end
            found[segment.reason] -= round((segment.end - segment.begin) * 1e6)
        assert end == over
        assert not any(found.values()), "the segments have the same time for each reason"
    longest = max(history.pods, key=lambda pod: waits[pod.pod].total)
    assert timeline(history, longest.pod) == waits[longest.pod].segments
