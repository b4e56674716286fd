"""Nodes that clients delete and create while a simulation goes on."""

from pathlib import Path

import pytest

from batkube.results.metrics import complete_pod
from tests.bridge.test_client_pods import pod
from tests.bridge.test_requeue import runs
from tests.bridge.world import JSON, World, delays, first_fit, outage


def new_node(name: str, cpu: str = "4") -> JSON:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"capacity": {"cpu": cpu, "memory": "8Gi"}, "allocatable": {"cpu": cpu, "memory": "7Gi"}},
    }


class Administrator:
    """Binds what fits, and does something to nodes at some dates."""

    def __init__(self, **deeds: JSON) -> None:
        self.deeds = {float(date.removeprefix("at")): deed for date, deed in deeds.items()}
        self.codes: list[int] = []
        self.messages: list[str] = []

    async def __call__(self, world: World) -> None:
        if (deed := self.deeds.pop(world.time.now, None)) is not None:
            if "delete" in deed:
                answer = await world.client.delete(f"/api/v1/nodes/{deed['delete']}")
            else:
                answer = await world.client.post("/api/v1/nodes", json=deed)
            self.codes.append(answer.status_code)
            self.messages.append(answer.json().get("message", ""))
        await first_fit(world)


def ticks(*dates: float) -> list[JSON]:
    """Jobs that do nothing but give a date, on exclusive hosts of their own: rejected, as they ask for too much."""
    return [{"id": f"tick{date:g}", "subtime": date, "cpu": 1000} for date in dates]


async def test_what_is_on_a_node_ends_when_it_is_deleted_and_it_takes_no_more(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 5}, *ticks(4)]
    world = World(tmp_path, [4], delays(*jobs, p=30), sharing=True, requeue="restart")
    act = Administrator(at4={"delete": "h0"}, at5=new_node("h0"))
    await world.run(act)
    assert act.codes == [200, 201]
    done = [row for row in runs(world) if not row[0].startswith("tick")]
    assert done[0] == ("a", "KILLED", 0, 4)
    assert sorted(done[1:]) == [("a.attempt2", "SUCCESSFULLY", 5, 35), ("b", "SUCCESSFULLY", 5, 35)]
    (killed,) = [job for job in world.simulation.control.ended if job.name == "a"]
    assert killed.reason == "node h0 was deleted"
    told = [(event["time"], event["event"]) for event in world.logged() if event["event"].startswith("node_")]
    assert told == [(4, "node_deleted"), (5, "node_joined")]


async def test_a_job_may_lose_its_node_at_the_date_of_its_start(tmp_path: Path) -> None:
    world = World(tmp_path, [4, 4], delays({"id": "a"}, p=30), sharing=True, requeue="restart")

    async def start_and_delete(world: World) -> None:
        names = sorted(node["metadata"]["name"] for node in world.nodes())
        if waiting := world.waiting():
            await world.bind(waiting[0]["metadata"]["name"], names[0])
        elif names[0] == "h0" and world.server.list("pods"):
            await world.client.delete("/api/v1/nodes/h0")

    await world.run(start_and_delete)
    assert runs(world) == [("a", "KILLED", 0, 0), ("a.attempt2", "SUCCESSFULLY", 0, 30)]


async def test_a_node_that_nobody_brings_back_is_missed(tmp_path: Path) -> None:
    pods = [pod("one", duration="50"), pod("two", duration="50")]
    world = World(tmp_path, [4, 4], delays(*ticks(4)), objects=pods, sharing=True)
    await world.run(Administrator(at4={"delete": "h0"}))
    rows = [row for row in world.simulation.finished.pods() if row.node]
    told = {row.pod: (row.node, row.phase, row.reason, row.finish_time) for row in rows}
    assert told == {"one": ("h0", "Failed", "NodeLost", 4), "two": ("h0", "Failed", "NodeLost", 4)}
    # nobody tells of them: the pod garbage collector takes them
    assert [pod["status"]["phase"] for pod in world.server.list("pods")] == ["Running", "Running"]
    assert [node["metadata"]["name"] for node in world.nodes()] == ["h1"]


async def test_a_new_node_takes_pods_from_the_date_of_its_creation(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a", "cpu": 4}, {"id": "b", "cpu": 4}, *ticks(7)]
    world = World(tmp_path, [4], delays(*jobs, p=30), sharing=True)
    act = Administrator(at7=new_node("fresh"))
    await world.run(act)
    assert act.codes == [201]
    started = {job.name: (job.life.starting_time, job.hosts) for job in world.simulation.control.ended if job.hosts}
    assert started == {"a": (0, [0]), "b": (7, [1])}
    node = world.server.get("nodes", "fresh")
    assert {each["type"]: each["status"] for each in node["status"]["conditions"]}["Ready"] == "True"
    assert node["status"]["allocatable"]["pods"] == "110"
    assert [taint["key"] for taint in node["spec"].get("taints", [])] in ([], ["node.kubernetes.io/not-ready"])
    accounts = world.simulation.accounts()
    for job in world.simulation.control.ended:
        for row in world.simulation.control.records.of(job):
            complete_pod(row, accounts.end)
            accounts.add_pod(row)
    timeline = accounts.timeline()
    list(timeline.play())
    rows = {row.node: (row.up_seconds, row.failures) for row in timeline.node_rows()}
    assert rows == {"h0": (37, 0), "fresh": (30, 0)}


async def test_parallel_tasks_run_on_new_nodes_too(tmp_path: Path) -> None:
    workload: JSON = {
        "jobs": [{"id": "pair", "subtime": 5, "res": 2, "profile": "c", "cpu": 4}, *delays(*ticks(3))["jobs"]],
        "profiles": {"c": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 0}, "p": {"type": "delay", "delay": 1}},
    }
    world = World(tmp_path, [4], workload, sharing=True)
    await world.run(Administrator(at3=new_node("fresh")))
    assert runs(world)[-1] == ("pair", "SUCCESSFULLY", 5, 10)


async def test_a_simulator_that_takes_in_no_hosts_refuses_new_nodes(tmp_path: Path) -> None:
    world = World(tmp_path, [4], delays({"id": "a"}, *ticks(4)), sharing=True, grows=False)
    act = Administrator(at4=new_node("fresh"))
    await world.run(act)
    assert act.codes == [403]
    assert act.messages == [
        'nodes "fresh" is forbidden: all hosts of the platform have nodes, and this simulator takes in no more while '
        "it runs"
    ]


async def test_a_job_that_is_too_large_waits_where_somebody_may_create_nodes(tmp_path: Path) -> None:
    """As beside an autoscaler. What nobody has created a node for is rejected at the end, when nothing else can be."""
    jobs: list[JSON] = [{"id": "large", "cpu": 16}, {"id": "huge", "cpu": 64}, {"id": "small"}, *ticks(7)]
    world = World(tmp_path, [4], delays(*jobs, p=30), sharing=True, served=None)
    await world.run(Administrator(at7=new_node("fresh", cpu="16")))
    assert [row for row in runs(world) if row[0] in ("large", "small")] == [
        ("small", "SUCCESSFULLY", 0, 30),
        ("large", "SUCCESSFULLY", 7, 37),
    ]
    why = "no node has come for it: it needs 1 times cpu 64 at once, and the empty cluster has room for 0"
    assert world.simulation.control.rejections["w0!huge"] == why
    (rejected,) = [each for each in world.logged() if each["event"] == "job_rejected" and each["job"] == "w0!huge"]
    assert rejected["time"] == 37


async def test_where_no_node_can_come_it_is_rejected_at_once(tmp_path: Path) -> None:
    """The built-in simulator takes in no hosts with ``--energy``, nor does a real Batsim."""
    jobs: list[JSON] = [{"id": "large", "cpu": 16}, {"id": "small"}]
    world = World(tmp_path, [4], delays(*jobs, p=30), sharing=True, served=None, grows=False)
    await world.run(first_fit)
    (rejected,) = [event for event in world.logged() if event["event"] == "job_rejected"]
    assert (rejected["job"], rejected["time"]) == ("w0!large", 0)


@pytest.mark.parametrize("sharing", [True, False])
async def test_an_outage_of_a_node_that_is_deleted_means_nothing(tmp_path: Path, sharing: bool) -> None:
    jobs: list[JSON] = [{"id": "a", "subtime": 1}, *ticks(4, 20)]
    world = World(tmp_path, [4, 4], delays(*jobs, p=30), sharing=sharing, external_events=outage(0, 10, 15))
    await world.run(Administrator(at4={"delete": "h0"}, at20=new_node("h0")))
    assert ("a", "KILLED", 1, 4) in runs(world)
    assert world.simulation.cluster.is_up("h0")
    assert not world.simulation.cluster.is_gone("h0")
