"""The promises of the reference scheduler: first in, first out, first fit, gangs whole or not at all."""

from batkube.schedulers.policies import Bind, Cluster, Unschedulable
from batkube.schedulers.policies.fifo import Fifo
from tests.schedulers.manifests import JSON, node, pod


class Scheduling:
    """The policy with a cluster; bindings are taken at once, but for those of pods in ``refused``."""

    def __init__(self, *nodes: JSON) -> None:
        self.cluster = Cluster(["mine"])
        self.policy = Fifo()
        self.refused: set[str] = set()
        self.unschedulable: list[tuple[str, str]] = []
        self.pod_event, self.node_event = self.cluster.pod_event, self.cluster.node_event
        for each in nodes:
            self.node_event("ADDED", each)

    def decide(self) -> list[tuple[str, str]]:
        """Return what is bound to which node; what was refused is not."""
        bound = []
        self.unschedulable = []
        for decision in self.policy.decide(self.cluster):
            match decision:
                case Bind(pod=pod) if pod.name in self.refused:
                    self.policy.refused(self.cluster, decision, "in use")
                case Bind(pod=pod, node=where):
                    self.cluster.assume(pod, where.name)
                    bound.append((pod.name, where.name))
                case Unschedulable(pod=pod, reason=reason):
                    self.unschedulable.append((pod.name, reason))
        return bound


def fifo(*nodes: JSON) -> Scheduling:
    return Scheduling(*nodes)


def decisions(policy: Scheduling) -> list[tuple[str, str]]:
    return policy.decide()


def test_first_fit_by_node_name() -> None:
    policy = fifo(node("b"), node("a", cpu="1"))
    for name in ("one", "two", "three"):
        policy.pod_event("ADDED", pod(name))
    assert decisions(policy) == [("one", "a"), ("two", "b"), ("three", "b")]


def test_nobody_passes_a_head_that_fits_nowhere() -> None:
    policy = fifo(node("a"))
    policy.pod_event("ADDED", pod("big", cpu="3"))
    policy.pod_event("ADDED", pod("small"))
    assert decisions(policy) == []
    assert policy.unschedulable == [("big", "0/1 nodes are available.")]


def test_room_comes_back_when_a_pod_ends() -> None:
    policy = fifo(node("a", cpu="1"))
    policy.pod_event("ADDED", pod("first"))
    policy.pod_event("ADDED", pod("second"))
    assert decisions(policy) == [("first", "a")]
    policy.pod_event("MODIFIED", pod("first", spec={"nodeName": "a"}, phase="Succeeded"))
    assert decisions(policy) == [("second", "a")]


def test_a_gang_is_placed_whole_or_not_at_all() -> None:
    policy = fifo(node("a", cpu="1"), node("b", cpu="1"))
    gang: JSON = {"annotations": {"batkube.io/gang-size": "3"}, "labels": {"batkube.io/job": "g"}}
    for index in range(3):
        policy.pod_event("ADDED", pod(f"g-{index}", **gang))
    assert decisions(policy) == []
    policy.node_event("ADDED", node("c", cpu="1"))
    assert decisions(policy) == [("g-0", "a"), ("g-1", "b"), ("g-2", "c")]


def test_a_gang_waits_for_its_last_pod() -> None:
    policy = fifo(node("a"))
    gang: JSON = {"annotations": {"batkube.io/gang-size": "2"}, "labels": {"batkube.io/job": "g"}}
    policy.pod_event("ADDED", pod("g-0", **gang))
    assert decisions(policy) == []
    policy.pod_event("ADDED", pod("g-1", **gang))
    assert decisions(policy) == [("g-0", "a"), ("g-1", "a")]


def test_a_gang_of_which_one_binding_was_refused_is_completed_later() -> None:
    policy = fifo(node("a", cpu="1"), node("b", cpu="1"))
    gang: JSON = {"annotations": {"batkube.io/gang-size": "2"}, "labels": {"batkube.io/job": "g"}}
    members = [pod(f"g-{index}", **gang) for index in range(2)]
    for member in members:
        policy.pod_event("ADDED", member)
    policy.refused = {"g-0"}
    assert decisions(policy) == [("g-1", "b")]
    policy.refused = set()
    policy.node_event("MODIFIED", node("a", cpu="1", spec={"unschedulable": True}))
    assert decisions(policy) == []
    policy.node_event("ADDED", node("c", cpu="1"))
    assert decisions(policy) == [("g-0", "c")]


def test_pods_bound_by_others_take_room_and_pods_of_others_are_left_alone() -> None:
    policy = fifo(node("a", cpu="1"))
    policy.pod_event("ADDED", pod("theirs", spec={"schedulerName": "other", "nodeName": "a"}))
    policy.pod_event("ADDED", pod("waiting", spec={"schedulerName": "other"}))
    policy.pod_event("ADDED", pod("ours"))
    assert decisions(policy) == []


def test_selectors_taints_and_cordons_are_respected() -> None:
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    policy = fifo(
        node("a", spec={"unschedulable": True}),
        node("b", spec={"taints": [taint]}),
        node("c"),
        node("d", labels={"disk": "ssd"}),
    )
    policy.pod_event("ADDED", pod("plain"))
    policy.pod_event("ADDED", pod("picky", spec={"nodeSelector": {"disk": "ssd"}}))
    policy.pod_event("ADDED", pod("tolerant", spec={"tolerations": [{"key": "gpu", "operator": "Exists"}]}))
    assert decisions(policy) == [("plain", "c"), ("picky", "d"), ("tolerant", "b")]


def test_a_refused_binding_gives_the_room_back_and_goes_to_the_end_of_the_queue() -> None:
    policy = fifo(node("a", cpu="1"))
    policy.pod_event("ADDED", pod("first"))
    policy.pod_event("ADDED", pod("second"))
    policy.refused = {"first"}
    assert decisions(policy) == [("second", "a")]
    policy.refused = set()
    policy.pod_event("ADDED", pod("third"))
    policy.pod_event("DELETED", pod("second"))
    assert decisions(policy) == [("third", "a")]
    policy.pod_event("DELETED", pod("third"))
    assert decisions(policy) == [("first", "a")]


def test_extended_resources_and_memory_count() -> None:
    policy = fifo(node("a", cpu="8"))
    policy.pod_event("ADDED", pod("gpu", requests={"nvidia.com/gpu": "1"}))
    assert decisions(policy) == []
    policy = fifo(node("a", cpu="8"))
    policy.pod_event("ADDED", pod("fat", requests={"memory": "3Gi"}))
    policy.pod_event("ADDED", pod("fat too", requests={"memory": "2Gi"}))
    assert decisions(policy) == [("fat", "a")]


def test_a_refused_binding_is_not_tried_again_before_something_changes() -> None:
    policy = fifo(node("a"))
    policy.pod_event("ADDED", pod("one"))
    policy.refused = {"one"}
    assert decisions(policy) == []
    policy.refused = set()
    policy.node_event("MODIFIED", node("a"))
    assert decisions(policy) == [("one", "a")]
