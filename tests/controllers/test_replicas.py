"""Of too many pods those go first that upstream takes first."""

from collections.abc import Callable
from typing import Any

import pytest

from batkube.controllers.cluster import Cluster
from batkube.controllers.replicas import in_growing_batches, to_delete
from batkube.kube.apimachinery.status import ApiError

from .plane import Plane

JSON = dict[str, Any]


@pytest.fixture
def cluster() -> Cluster:
    plane = Plane(())
    plane.time.advance(1000)
    return Cluster(plane.server, plane.time, plane.warnings.append)


def pod(
    name: str,
    *,
    node: str = "n1",
    phase: str = "Running",
    ready: bool = True,
    restarts: int = 0,
    made: int = 0,
    cost: str = "",
) -> JSON:
    """Return a pod that was made, and has been ready, ``made`` seconds after the beginning."""
    date = f"2020-01-01T00:{made // 60:02}:{made % 60:02}Z"
    conditions = [{"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": date}]
    annotations = {"controller.kubernetes.io/pod-deletion-cost": cost} if cost else {}
    return {
        "metadata": {"name": name, "uid": name, "creationTimestamp": date, "annotations": annotations},
        "spec": {"nodeName": node, "containers": []},
        "status": {"phase": phase, "conditions": conditions, "containerStatuses": [{"restartCount": restarts}]},
    }


@pytest.mark.parametrize(
    "first",
    [
        pod("first", node=""),
        pod("first", phase="Pending"),
        pod("first", ready=False),
        pod("first", cost="-1"),
        pod("first", restarts=1),
        pod("first", made=900),
    ],
    ids=["without a node", "pending", "not ready", "of less cost", "restarted", "younger"],
)
def test_the_least_loss_goes_first(cluster: Cluster, first: JSON) -> None:
    others = [pod("a"), first, pod("b")]
    assert [each["metadata"]["name"] for each in to_delete(cluster, others, others, 1)] == ["first"]


def test_nodes_with_more_pods_lose_one_first(cluster: Cluster) -> None:
    pods = [pod("a", node="n1"), pod("b", node="n2"), pod("c", node="n2")]
    assert to_delete(cluster, pods, pods, 1)[0]["spec"]["nodeName"] == "n2"


def test_ages_count_by_powers_of_two(cluster: Cluster) -> None:
    """Of pods that have been ready for 980 and for 990 seconds the smaller uid goes, and not the younger."""
    pods = [pod("b", made=20), pod("a", made=10)]
    assert to_delete(cluster, pods, pods, 1)[0]["metadata"]["name"] == "a"


def failing_after(count: int) -> tuple[list[int], Callable[[], None]]:
    """Return the calls so far, and a function that fails after so many."""
    calls: list[int] = []

    def act() -> None:
        calls.append(len(calls))
        if len(calls) > count:
            raise ApiError(403, "Forbidden", "no more")

    return calls, act


@pytest.mark.parametrize(("fails_after", "tried"), [(0, 1), (2, 3), (6, 7), (100, 10)])
def test_batches_grow_until_one_fails(fails_after: int, tried: int) -> None:
    calls, act = failing_after(fails_after)
    error = in_growing_batches(10, act)
    assert len(calls) == tried
    assert (error is None) == (fails_after >= 10)
