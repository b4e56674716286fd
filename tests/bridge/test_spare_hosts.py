"""Hosts without a node at first, which nodes that clients create get."""

import json
from pathlib import Path

import pytest

from batkube.bridge.errors import InputError
from batkube.bridge.hosts import NODE_PROPERTY, SPARE_PROPERTY
from batkube.bridge.spare_hosts import read_spare, spare_hosts
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from tests.bridge.test_membership import Administrator, new_node, ticks
from tests.bridge.test_requeue import runs
from tests.bridge.world import JSON, World, delays, outage

BARE: JSON = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}}


class Machine:
    """A host as a platform describes it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.properties: dict[str, str] = {}
        self.zone_properties: dict[str, str] = {}


def names(world: World) -> list[str]:
    return [node["metadata"]["name"] for node in world.nodes()]


def started(world: World) -> dict[str, tuple[float | None, list[int]]]:
    return {job.name: (job.life.starting_time, job.hosts) for job in world.simulation.control.ended if job.hosts}


@pytest.mark.parametrize(
    ("text", "meant"),
    [("3", 3), ("n1", ["n1"]), ("n1,n[8-10]", ["n1", "n8", "n9", "n10"]), ("r[08-09].x", ["r08.x", "r09.x"])],
)
def test_hosts_are_named_or_counted(text: str, meant: int | list[str]) -> None:
    assert read_spare(text) == meant


@pytest.mark.parametrize("text", ["", "n1,", "n[1-", "n[9-8]", "n[a-b]"])
def test_what_names_no_hosts_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_spare(text)


def test_hosts_are_spare_by_property_by_name_or_as_the_last_ones() -> None:
    machines = [Machine("a"), Machine("b"), Machine("c"), Machine("d")]
    machines[1].properties[SPARE_PROPERTY] = "true"
    assert spare_hosts(machines) == {"b"}
    assert spare_hosts(machines, ["1", "c"]) == {"b", "c", "d"}
    assert spare_hosts([Machine("2"), Machine("3"), Machine("4")], ["2"]) == {"2"}
    with pytest.raises(InputError, match="--spare-hosts e: there is no host 'e'"):
        spare_hosts(machines, ["e"])
    with pytest.raises(InputError, match="all hosts are spare"):
        spare_hosts(machines, ["9"])
    machines[3].properties[NODE_PROPERTY] = json.dumps({"metadata": {"labels": {SPARE_PROPERTY: "true"}}})
    assert spare_hosts(machines) == {"b", "d"}
    machines[0].properties[SPARE_PROPERTY] = "yes"
    with pytest.raises(InputError, match=r"host a: property batkube\.io/spare: expected true or false, not 'yes'"):
        spare_hosts(machines)


async def test_a_spare_host_gets_its_node_when_a_client_creates_it(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a", "cpu": 4}, {"id": "b", "cpu": 4}, *ticks(3, 7)]
    world = World(tmp_path, [4, 2, 4], delays(*jobs, p=30), sharing=True, spare=["h1", "h2"], grows=False)
    act = Administrator(at3={**BARE, "metadata": {"name": "h2"}}, at7=new_node("other", cpu="1"))
    await world.run(act)
    assert act.codes == [201, 201]
    assert started(world) == {"a": (0, [0]), "b": (3, [2])}
    assert sorted(names(world)) == ["h0", "h2", "other"]
    bare = world.server.get("nodes", "h2")
    assert (bare["status"]["allocatable"]["cpu"], bare["status"]["capacity"]["cpu"]) == ("4", "4")
    assert bare["status"]["nodeInfo"]["kubeletVersion"]
    assert bare["metadata"]["labels"]["kubernetes.io/hostname"] == "h2"
    other = world.server.get("nodes", "other")
    assert (other["metadata"]["annotations"]["batkube.io/host"], other["status"]["allocatable"]["cpu"]) == ("h1", "1")
    begins, *later = [event for event in world.logged() if "node" in event["event"] or "nodes" in event]
    assert begins["nodes"] == ["h0"]
    assert [(event["time"], event["event"], event["node"]) for event in later] == [
        (3, "node_joined", "h2"),
        (7, "node_joined", "other"),
    ]


async def test_when_all_hosts_have_nodes_no_more_are_taken(tmp_path: Path) -> None:
    world = World(tmp_path, [4, 4], delays({"id": "a"}, *ticks(3, 4)), sharing=True, spare=["h1"], grows=False)
    act = Administrator(at3=new_node("x"), at4=new_node("y"))
    await world.run(act)
    assert act.codes == [201, 403]
    assert act.messages[1].startswith('nodes "y" is forbidden: all hosts of the platform have nodes, and ')


async def test_a_host_goes_from_one_node_to_the_next(tmp_path: Path) -> None:
    jobs: list[JSON] = [
        {"id": "a", "cpu": 4},
        {"id": "b", "cpu": 4},
        *ticks(3, 10, 12),
        {"id": "c", "subtime": 11, "cpu": 4},
    ]
    world = World(tmp_path, [4, 4], delays(*jobs, p=30), sharing=True, spare=["h1"], grows=False, requeue="restart")
    act = Administrator(at3=new_node("x"), at10={"delete": "x"}, at12=new_node("y"))
    await world.run(act)
    assert act.codes == [201, 200, 201]
    assert ("b", "KILLED", 3, 10) in runs(world)
    assert {tuple(hosts) for _, hosts in started(world).values()} == {(0,), (1,)}
    listed = {node.node: node.host for node in world.simulation.cluster.nodes()}
    assert listed == {"h0": "h0", "x": "h1", "y": "h1"}
    assert world.simulation.cluster.occupancy.could_take({"cpu": "4"}) == 2


async def test_a_job_that_needs_spare_hosts_waits_for_them_and_not_for_ever(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "pair", "res": 2, "cpu": 4}, {"id": "five", "res": 5, "cpu": 4}, *ticks(3)]
    world = World(tmp_path, [4, 4], delays(*jobs, p=30), sharing=True, spare=["1"], grows=False)
    await world.run(Administrator(at3=new_node("x")), StepSettings(patience=0.01, on_deadlock=OnDeadlock.REJECT))
    assert ("pair", "SUCCESSFULLY", 3, 33) in runs(world)
    assert ("five", "REJECTED") in [run[:2] for run in runs(world)]


@pytest.mark.parametrize("sharing", [True, False])
async def test_a_spare_host_that_is_down_is_taken_last_and_waits(tmp_path: Path, sharing: bool) -> None:
    jobs: list[JSON] = [{"id": "a", "cpu": 1}, {"id": "b", "cpu": 1}, {"id": "c", "cpu": 1}, *ticks(3, 4, 10)]
    down = outage(1, 2, 10)
    world = World(tmp_path, [1, 1, 1], delays(*jobs, p=30), sharing=sharing, spare=["2"], external_events=down)
    act = Administrator(at3=new_node("x", cpu="1"), at4=new_node("y", cpu="1"))
    await world.run(act)
    assert started(world) == {"a": (0, [0]), "b": (3, [2]), "c": (10, [1])}
    told = [
        (event["time"], event["event"], event["node"]) for event in world.logged() if event["event"].startswith("node_")
    ]
    assert told == [(3, "node_joined", "x"), (4, "node_joined", "y"), (10, "node_ready", "y")]


async def test_a_spare_host_with_energy_is_switched_under_the_name_of_its_node(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 100}, *ticks(3)]
    world = World(tmp_path, [1, 1], delays(*jobs, p=60), energy=True, power_off_after=5, spare=["h1"], grows=False)
    await world.run(Administrator(at3=new_node("x", cpu="1")))
    assert world.simulation.power.switches_hosts
    told = [event["event"] for event in world.logged() if event.get("node") == "x"]
    assert told[:3] == ["node_joined", "node_power", "node_power"]
