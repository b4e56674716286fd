"""What the reference scheduler promises: first in, first out, first fit, gangs whole or not at all."""

from typing import Any

from batkube.schedulers.fifo_policy import Fifo

JSON = dict[str, Any]


def node(name: str, cpu: str = "2", **more: Any) -> JSON:
    return {
        "metadata": {"name": name, "labels": more.get("labels", {})},
        "spec": more.get("spec", {}),
        "status": {"allocatable": {"cpu": cpu, "memory": "4Gi", "pods": "10"}},
    }


def pod(name: str, cpu: str = "1", **more: Any) -> JSON:
    requests = {"cpu": cpu, **more.get("requests", {})}
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "labels": more.get("labels", {}),
            "annotations": more.get("annotations", {}),
        },
        "spec": {
            "schedulerName": "mine",
            "containers": [{"resources": {"requests": requests}}],
            **more.get("spec", {}),
        },
        "status": {"phase": more.get("phase", "Pending")},
    }


def fifo(*nodes: JSON) -> Fifo:
    policy = Fifo("mine")
    for each in nodes:
        policy.node_event("ADDED", each)
    return policy


def decisions(policy: Fifo) -> list[tuple[str, str]]:
    return [(bound["metadata"]["name"], name) for bound, name in policy.decide()]


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
    blocked = policy.why_not()
    assert blocked is not None
    assert blocked[0]["metadata"]["name"] == "big"
    assert blocked[1] == "0/1 nodes are available."


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
    ((refused, _),) = list(policy.decide())
    policy.refused(refused)
    assert decisions(policy) == [("second", "a")]


def test_extended_resources_and_memory_count() -> None:
    policy = fifo(node("a", cpu="8"))
    policy.pod_event("ADDED", pod("gpu", requests={"nvidia.com/gpu": "1"}))
    assert decisions(policy) == []
    policy = fifo(node("a", cpu="8"))
    policy.pod_event("ADDED", pod("fat", requests={"memory": "3Gi"}))
    policy.pod_event("ADDED", pod("fat too", requests={"memory": "2Gi"}))
    assert decisions(policy) == [("fat", "a")]
