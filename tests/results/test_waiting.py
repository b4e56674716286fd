"""The reasons why pods waited: cases computed by hand, one and more for each reason."""

from collections.abc import Mapping, Sequence

import pytest

from batkube.results import waiting
from batkube.results.wait_constraints import Constraints, NodeFacts, Taint, Toleration
from batkube.results.wait_history import FailedAttempt, History, NodeState, PodHistory, classify, timeline
from batkube.results.wait_reasons import SECOND, Cause, Reason, Stretch, Waited

FULL = (
    "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 No preemption victims found."
)


def node(name: str, cpu: int = 4, *, facts: NodeFacts | None = None, time: float = 0.0) -> NodeState:
    return NodeState(time, name, up=True, allocatable={"cpu": cpu, "pods": 110}, facts=facts or NodeFacts(name))


def pod(
    name: str,
    created: float,
    cpu: int,
    where: str = "",
    started: float | None = None,
    ended: float | None = None,
    *,
    bound: float | None = None,
    job: str = "",
    gang_size: int = 1,
    gates: Sequence[tuple[float, float | None]] = (),
    constraints: Constraints | None = None,
    backs_off: bool = True,
) -> PodHistory:
    return PodHistory(
        name,
        created,
        {"cpu": cpu, "pods": 1},
        where,
        started if bound is None else bound,
        started,
        ended,
        job=job,
        gang_size=gang_size,
        gates=gates,
        constraints=constraints or Constraints(),
        backs_off=backs_off,
    )


def classified(
    nodes: Sequence[NodeState],
    pods: Sequence[PodHistory],
    attempts: Sequence[FailedAttempt] = (),
    *,
    end: float = 1000.0,
    exclusive: bool = False,
) -> dict[str, Waited]:
    return classify(History(nodes, pods, attempts, end, exclusive))


def reasons(waited: Waited) -> Mapping[str, float]:
    return {reason.value: seconds for reason, seconds in waited.seconds.items() if seconds}


def test_no_capacity_lasts_until_enough_is_free_in_all() -> None:
    pods = [pod("a", 0, 3, "n1", 0, 40), pod("b", 0, 4, "n2", 0, 60), pod("c", 10, 4, "n1", 40, 90)]
    waits = classified([node("n1"), node("n2")], pods)
    assert reasons(waits["a"]) == {}
    assert reasons(waits["c"]) == {"no_capacity": 30}


def test_enough_in_all_but_on_no_single_node_is_fragmentation() -> None:
    # From 0 on two cores are free on each node, from 40 on four on n1.
    pods = [pod("a", 0, 2, "n1", 0, 40), pod("b", 0, 2, "n2", 0, 60), pod("c", 10, 4, "n1", 40, 90)]
    assert reasons(classified([node("n1"), node("n2")], pods)["c"]) == {"fragmentation": 30}


def test_a_node_that_is_down_offers_nothing() -> None:
    nodes = [node("n1"), node("n2"), NodeState(20, "n2", up=False), NodeState(35, "n2", up=True)]
    pods = [pod("a", 0, 2, "n1", 0, 90), pod("b", 0, 2, "n2", 0, 20), pod("c", 10, 4, "n2", 35, 90)]
    # 10..20: 2+2 free; 20..35: n2 is down, 2 free; at 35 it is back and empty.
    assert reasons(classified(nodes, pods)["c"]) == {"fragmentation": 10, "no_capacity": 15}


def test_an_exclusive_host_with_a_pod_offers_nothing() -> None:
    pods = [pod("a", 0, 1, "n1", 0, 50), pod("b", 10, 1, "n1", 50, 60)]
    assert reasons(classified([node("n1")], pods, exclusive=True)["b"]) == {"no_capacity": 40}
    assert reasons(classified([node("n1")], pods, exclusive=False)["b"]) == {"queue_order": 40}


def test_selector_and_taint_forbid_free_nodes() -> None:
    gpu = NodeFacts("n2", {"kind": "gpu"})
    wants_gpu = Constraints(selector=(("kind", "gpu"),))
    pods = [pod("a", 0, 4, "n2", 0, 30), pod("b", 5, 4, "n2", 30, 60, constraints=wants_gpu)]
    waited = classified([node("n1"), node("n2", facts=gpu)], pods)["b"]
    assert reasons(waited) == {"constraints": 25}
    assert waited.constraints == {"NodeAffinity": 25}

    tainted = NodeFacts("n1", taints=(Taint("dedicated", "it"),))
    nodes = [node("n1", facts=tainted), NodeState(20, "n1", facts=NodeFacts("n1"))]
    tolerant = Constraints(tolerations=(Toleration("dedicated", "Exists"),))
    pods = [pod("a", 0, 1, "n1", 20, 30), pod("b", 0, 1, "n1", 0, 30, constraints=tolerant)]
    waits = classified(nodes, pods)
    assert waits["a"].constraints == {"TaintToleration": 20}
    assert reasons(waits["b"]) == {}


def test_the_rule_that_forbids_most_nodes_has_the_time() -> None:
    nodes = [
        node("n1", facts=NodeFacts("n1", unschedulable=True)),
        node("n2", facts=NodeFacts("n2", {"kind": "cpu"})),
        node("n3", facts=NodeFacts("n3", {"kind": "cpu"})),
        NodeState(30, "n3", facts=NodeFacts("n3", {"kind": "cpu"}, unschedulable=True)),
    ]
    waited = classified(nodes, [pod("a", 0, 1, constraints=Constraints(selector=(("kind", "gpu"),)))], end=100)["a"]
    assert waited.constraints == {"NodeAffinity": 30, "NodeUnschedulable": 70}
    assert reasons(waited) == {"constraints": 100}


def test_pods_behind_the_head_of_the_queue_wait_for_their_turn() -> None:
    # First in, first out: b needs both nodes' cores and is tried; c would fit, and is not tried before b has a place.
    pods = [
        pod("a", 0, 4, "n1", 0, 50),
        pod("b", 5, 8, "n1", 50, 70, backs_off=False),
        pod("c", 10, 1, "n2", 50, 60, backs_off=False),
    ]
    nodes = [node("n1", 8), node("n2", 2)]
    waits = classified(nodes, pods, [FailedAttempt("b", 5, "0/2 nodes are available.")])
    assert reasons(waits["b"]) == {"no_capacity": 45}
    assert reasons(waits["c"]) == {"queue_order": 40}


def test_a_pod_that_was_tried_in_vain_backs_off_when_a_place_becomes_free() -> None:
    pods = [pod("a", 0, 4, "n1", 0, 50), pod("b", 10, 4, "n1", 53, 60)]
    attempts = [FailedAttempt("b", 10, FULL)]
    assert reasons(classified([node("n1")], pods, attempts)["b"]) == {"no_capacity": 40, "back_off": 3}
    untried = classified([node("n1")], pods)["b"]
    assert reasons(untried) == {"no_capacity": 40, "queue_order": 3}


def test_a_pod_that_is_refused_although_a_place_is_free_waits_for_others() -> None:
    # A place is kept for a pod that preempts: kube-scheduler counts it as taken. It is gone at 30, and back at 40.
    pods = [pod("b", 10, 4, "n1", 45, 60), pod("c", 30, 4, "n1", 30, 40)]
    attempts = [FailedAttempt("b", 12, FULL)]
    waited = classified([node("n1")], pods, attempts)["b"]
    assert reasons(waited) == {"queue_order": 20, "no_capacity": 10, "back_off": 5}


def test_an_anti_affinity_holds_until_the_node_changes() -> None:
    why = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod anti-affinity rules."
    pods = [pod("a", 0, 1, "n1", 0, 50), pod("full", 0, 4, "n2", 0, 90), pod("b", 10, 1, "n1", 54, 60)]
    waited = classified([node("n1"), node("n2")], pods, [FailedAttempt("b", 10, why)])["b"]
    assert reasons(waited) == {"constraints": 40, "back_off": 4}
    assert waited.constraints == {"InterPodAffinity": 40}


def test_an_affinity_holds_until_the_cluster_changes() -> None:
    why = "0/1 nodes are available: 1 node(s) didn't match pod affinity rules."
    pods = [pod("b", 10, 1, "n1", 31, 60), pod("friend", 30, 1, "n1", 30, 90)]
    waited = classified([node("n1")], pods, [FailedAttempt("b", 10, why)])["b"]
    assert reasons(waited) == {"constraints": 20, "back_off": 1}


def test_a_rule_holds_as_long_as_each_attempt_meets_it() -> None:
    why = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
    pods = [pod("a", 0, 1, "n1", 0), pod("b", 10, 1)]
    attempts = [FailedAttempt("b", time, why) for time in (10, 40, 70)]
    waited = classified([node("n1")], pods, attempts, end=100)["b"]
    assert waited.constraints == {"NodePorts": 90}


def test_a_gang_waits_for_all_its_places() -> None:
    pods = [
        pod("a", 0, 4, "n1", 0, 50),
        pod("g-0", 10, 4, "n1", 50, 80, job="g", gang_size=2),
        pod("g-1", 10, 4, "n2", 50, 80, job="g", gang_size=2),
    ]
    waits = classified([node("n1"), node("n2")], pods)
    assert reasons(waits["g-0"]) == reasons(waits["g-1"]) == {"gang": 40}


def test_a_bound_pod_of_a_gang_waits_for_the_others_and_then_for_its_process() -> None:
    pods = [
        pod("a", 0, 4, "n1", 0, 50),
        pod("g-0", 10, 4, "n2", 55, 80, bound=10, job="g", gang_size=2),
        pod("g-1", 10, 4, "n1", 57, 80, bound=52, job="g", gang_size=2),
    ]
    waits = classified([node("n1"), node("n2")], pods, [FailedAttempt("g-1", 10, FULL)])
    assert reasons(waits["g-0"]) == {"gang": 42, "startup": 3}
    assert reasons(waits["g-1"]) == {"no_capacity": 40, "back_off": 2, "startup": 5}


def test_gates_go_before_all_else() -> None:
    pods = [pod("a", 0, 4, "n1", 0, 50), pod("b", 10, 4, "n1", 50, 60, gates=[(10, 30)])]
    assert reasons(classified([node("n1")], pods)["b"]) == {"gates": 20, "no_capacity": 20}
    for_ever = classified([node("n1")], [pod("b", 10, 4, gates=[(10, None)])], end=70)["b"]
    assert reasons(for_ever) == {"gates": 60}


def test_words_on_a_quota_are_a_gate_until_the_next_attempt() -> None:
    said = [FailedAttempt("b", 10, "exceeded quota: team-a"), FailedAttempt("b", 30, FULL)]
    pods = [pod("a", 0, 4, "n1", 0, 50), pod("b", 10, 4, "n1", 50, 60)]
    assert reasons(classified([node("n1")], pods, said)["b"]) == {"gates": 20, "no_capacity": 20}


def test_a_pod_that_never_starts_waits_until_it_goes_or_the_run_ends() -> None:
    pods = [pod("a", 0, 9), pod("b", 10, 9, ended=25)]
    waits = classified([node("n1")], pods, end=100)
    assert reasons(waits["a"]) == {"no_capacity": 100}
    assert reasons(waits["b"]) == {"no_capacity": 15}


def test_the_stretches_follow_one_another_with_the_attempt_before_them() -> None:
    pods = [pod("a", 0, 4, "n1", 0, 50), pod("b", 10, 4, "n1", 56, 60, bound=53)]
    history = History([node("n1")], pods, [FailedAttempt("b", 20, FULL)], 100)
    assert [(part.begin, part.end, part.cause.reason, part.cause.attempt) for part in timeline(history, "b")] == [
        (10 * SECOND, 20 * SECOND, Reason.NO_CAPACITY, 0),
        (20 * SECOND, 50 * SECOND, Reason.NO_CAPACITY, 1),
        (50 * SECOND, 53 * SECOND, Reason.BACK_OFF, 1),
        (53 * SECOND, 56 * SECOND, Reason.STARTUP, 0),
    ]
    assert timeline(history, "a") == []
    with pytest.raises(KeyError):
        timeline(history, "c")


def test_a_stretch_of_a_rule_has_its_plugin_and_its_words() -> None:
    why = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod anti-affinity rules."
    pods = [
        pod("a", 0, 1, "n1", 0, 50),
        pod("full", 0, 4, "n2", 0, 90),
        pod("b", 10, 1, "n1", 54, 60),
        pod("c", 10, 1, constraints=Constraints(selector=(("kind", "gpu"),)), ended=20),
    ]
    history = History([node("n1"), node("n2")], pods, [FailedAttempt("b", 10, why)], 100)
    plugin, words = "InterPodAffinity", "node(s) didn't match pod anti-affinity rules"
    assert timeline(history, "b") == [
        Stretch(10 * SECOND, 50 * SECOND, 40 * SECOND, Cause(Reason.CONSTRAINTS, plugin, words, 1)),
        Stretch(50 * SECOND, 54 * SECOND, 4 * SECOND, Cause(Reason.BACK_OFF, attempt=1)),
    ]
    plugin, words = "NodeAffinity", "node(s) didn't match Pod's node affinity/selector"
    cause = Cause(Reason.CONSTRAINTS, plugin, words)
    assert timeline(history, "c") == [Stretch(10 * SECOND, 20 * SECOND, 10 * SECOND, cause)]


@pytest.mark.parametrize("limits", [{"KEPT": 2}, {"PLENTY": 0, "FEW_KEPT": 2}])
def test_the_earlier_of_very_many_turns_are_summed_up(limits: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    # Two cores are free on n1, and on n2 two for the first quarter of each second, then one: b asks for four.
    comes = [pod(f"p{time}", time + 0.25, 1, "n2", time + 0.25, time + 1) for time in range(10)]
    full = [pod("full", 0, 2, "n1", 0, 100), pod("half", 0, 1, "n2", 0, 100)]
    history = History([node("n1"), node("n2", 3)], [*full, *comes, pod("b", 0, 4, ended=10)], [], 100)
    for name, value in limits.items():
        monkeypatch.setattr(waiting, name, value)
    told = timeline(history, "b")
    assert [(part.begin / SECOND, part.end / SECOND, part.time / SECOND, part.cause.reason) for part in told] == [
        (0, 9, 6.75, Reason.NO_CAPACITY),
        (0, 9, 2.25, Reason.FRAGMENTATION),
        (9, 9.25, 0.25, Reason.FRAGMENTATION),
        (9.25, 10, 0.75, Reason.NO_CAPACITY),
    ]


def test_tenths_of_seconds_sum_to_the_wait() -> None:
    # In floats 0.1 + 0.2 is not 0.3: ten thousand changes would leave something over.
    busy = [pod(f"p{i}", i * 0.1, 1, "n1", i * 0.1, i * 0.1 + 0.05) for i in range(10_000)]
    waited = classified([node("n1", 1)], [*busy, pod("z", 0, 1, "n1", 1000.0, 2000.0)], end=3000)["z"]
    assert waited.seconds == {
        **dict.fromkeys(Reason, 0.0),
        Reason.NO_CAPACITY: 500.0,
        Reason.QUEUE_ORDER: 500.0,
    }
    assert waited.total == 1000.0
