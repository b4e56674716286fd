"""Zones of which nodes are lost, as the node life-cycle controller has them."""

from typing import Any

from batkube.controllers.flags import Flags
from batkube.controllers.kubelets import Kubelets
from batkube.controllers.node_lifecycle.controller import NodeLifecycleController
from batkube.controllers.node_lifecycle.zones import Limiter, State
from tests.controllers.plane import JSON, Plane, template


def lost(count: int, of: int) -> State:
    return State.of([False] * count + [True] * (of - count), Flags())


def test_a_zone_is_disrupted_when_much_of_it_is_lost() -> None:
    assert [lost(count, 4) for count in range(5)] == [
        State.NORMAL, State.NORMAL, State.NORMAL, State.PARTIAL_DISRUPTION, State.FULL_DISRUPTION,
    ]  # fmt: skip
    assert (lost(54, 100), lost(55, 100)) == (State.NORMAL, State.PARTIAL_DISRUPTION)
    assert lost(1, 1) == State.FULL_DISRUPTION


def test_a_new_rate_does_not_give_a_token_that_was_not_there() -> None:
    limiter = Limiter(0.1)
    assert (limiter.accepts(0), limiter.accepts(9.9), limiter.accepts(10)) == (True, False, True)
    assert limiter.swap(0.01, 12).next_date(12) == 112
    assert limiter.swap(0.0, 20).next_date(20) is None
    assert limiter.swap(0.0, 20).swap(0.1, 30).next_date(30) == 40


def tainted(plane: Plane) -> dict[str, str]:
    """Return when each node got the taint by which its pods go."""
    return {
        node["metadata"]["name"]: taint["timeAdded"][14:19]
        for node in plane.server.list("nodes")
        for taint in node["spec"].get("taints") or ()
        if taint["effect"] == "NoExecute"
    }


def cluster(nodes: int, **flags: Any) -> Plane:
    """Return a cluster in which a pod runs on each node of one zone, and nothing is heard of most of it."""
    kubelets = Kubelets(50.0)
    plane = Plane([NodeLifecycleController], flags=Flags(**flags), kubelets=kubelets)
    labels = {"topology.kubernetes.io/zone": "a"}
    ready: JSON = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    for number in range(nodes):
        node = {"metadata": {"name": f"n{number:02}", "labels": labels}, "status": {"conditions": [ready]}}
        plane.create("nodes", node)
        pod = plane.create("pods", {**template(), "metadata": {"name": f"p{number:02}", "namespace": "default"}})
        plane.server.bind(pod["metadata"]["name"], f"n{number:02}", "default")
    plane.plane.need(NodeLifecycleController)
    plane.plane.sync()
    for number in range(1, nodes):
        kubelets.fall_silent(f"n{number:02}", plane.time.now)
    return plane


def test_of_a_small_zone_of_which_much_is_lost_no_pods_go() -> None:
    plane = cluster(4)
    plane.until(600)
    assert not tainted(plane)


def test_of_a_large_one_they_go_slowly_and_flags_say_how_slowly() -> None:
    plane = cluster(60)
    plane.until(300)
    assert sorted(tainted(plane).values()) == ["00:50", "02:30", "04:10"]
    plane = cluster(60, large_cluster_size_threshold=100)
    plane.until(300)
    assert not tainted(plane)
    plane = cluster(60, unhealthy_zone_threshold=1.0)
    plane.until(100)
    assert sorted(tainted(plane).values()) == ["00:50", "01:00", "01:10", "01:20", "01:30", "01:40"]
