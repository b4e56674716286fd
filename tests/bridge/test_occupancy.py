"""Nothing is used twice, whatever a scheduler asks for."""

from typing import Any

import pytest

from batkube.bridge.errors import InvariantBroken
from batkube.bridge.occupancy import UNIT, Occupancy, requests_of


def pod(name: str, **requests: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "uid": name},
        "spec": {"containers": [{"resources": {"requests": requests}}]},
    }


def occupancy(*, exclusive: bool, cpu: str = "6", pods: str = "110") -> Occupancy:
    nodes = Occupancy(exclusive=exclusive)
    for name in ("a", "b"):
        nodes.add_node(name, {"cpu": cpu, "memory": "4Gi", "pods": pods})
    return nodes


def test_an_exclusive_node_takes_one_pod_however_small() -> None:
    nodes = occupancy(exclusive=True)
    nodes.take(pod("first", cpu="100m"), "a")
    assert nodes.refusal(pod("second", cpu="100m"), "a") == (
        'node "a" is in use, and its host is exclusive (no compute sharing)'
    )
    assert nodes.refusal(pod("second", cpu="100m"), "b") is None
    assert nodes.release("first") == "a"
    assert nodes.refusal(pod("second", cpu="100m"), "a") is None


def test_shared_nodes_are_filled_exactly() -> None:
    nodes = occupancy(exclusive=False)
    for index in range(30):
        nodes.take(pod(f"p{index}", cpu="0.2"), "a")
    assert nodes.refusal(pod("more", cpu="1m"), "a") == 'node "a" has not enough cpu left'
    assert nodes.refusal(pod("nothing"), "a") is None


def test_memory_and_number_of_pods_count_too() -> None:
    nodes = occupancy(exclusive=False, pods="1")
    nodes.take(pod("one", memory="3Gi"), "a")
    assert nodes.refusal(pod("two", memory="2Gi"), "a") == 'node "a" has not enough memory, pods left'


def test_a_broken_promise_names_pod_and_node() -> None:
    nodes = occupancy(exclusive=True)
    nodes.take(pod("first"), "a")
    with pytest.raises(InvariantBroken, match=r"pod second was bound to a, but .* in use"):
        nodes.take(pod("second"), "a")
    with pytest.raises(InvariantBroken, match="pod first was bound to b, but it is on a already"):
        nodes.take(pod("first"), "b")


def test_an_unknown_node_is_refused() -> None:
    assert occupancy(exclusive=True).refusal(pod("p"), "c") == 'node "c" is not a host of the simulated platform'


@pytest.mark.parametrize(
    ("exclusive", "cpu", "room"), [(True, "1", 2), (True, "7", 0), (False, "1", 12), (False, "2.5", 4), (False, "7", 0)]
)
def test_room_in_an_empty_cluster(exclusive: bool, cpu: str, room: int) -> None:
    assert occupancy(exclusive=exclusive).could_take({"cpu": cpu}) == room


def test_requests_are_the_sum_of_containers_and_at_least_the_largest_init_container() -> None:
    asked = requests_of(
        {
            "spec": {
                "containers": [
                    {"resources": {"requests": {"cpu": "0.1"}}},
                    {"resources": {"requests": {"cpu": "200m", "memory": "1Gi"}}},
                    {},
                ],
                "initContainers": [{"resources": {"requests": {"cpu": "1", "memory": "1Mi"}}}],
                "overhead": {"memory": "1Mi"},
            }
        }
    )
    assert asked == {"cpu": UNIT, "memory": (2**30 + 2**20) * UNIT, "pods": UNIT}


def test_nodes_alike_count_together_and_others_by_themselves() -> None:
    nodes = Occupancy(exclusive=False, is_device=lambda resource: resource == "nvidia.com/gpu")
    for name, more in (("a", {}), ("b", {}), ("c", {"nvidia.com/gpu": "2"})):
        nodes.add_node(name, {"cpu": "4", "pods": "110", **more})
    assert nodes.could_take({"cpu": "1500m"}) == 6
    assert nodes.could_take({"cpu": "1", "nvidia.com/gpu": "1"}) == 4 + 4 + 2  # elsewhere a device may be claimed
    assert nodes.could_take({"cpu": "1", "example.com/fpga": "1"}) == 0
    nodes.add_node("d", {"cpu": "3", "pods": "1"})
    assert nodes.could_take({"cpu": "1500m"}) == 7


def test_exclusive_nodes_are_full_when_each_has_a_pod() -> None:
    nodes = occupancy(exclusive=True)
    nodes.take(pod("first"), "a")
    assert not nodes.full
    nodes.take(pod("second"), "b")
    assert nodes.full
    nodes.release("first")
    assert not nodes.full
    shared = occupancy(exclusive=False)
    shared.take(pod("first"), "a")
    shared.take(pod("second"), "b")
    assert not shared.full
