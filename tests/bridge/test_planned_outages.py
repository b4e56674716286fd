"""Hosts that go by a plan, which may have no end, and nodes that are drained."""

import math
from pathlib import Path

import pytest

from batkube.batsim.machine_events import MachineEvents
from batkube.bridge.controller_settings import Which
from batkube.bridge.drains import Drain
from batkube.bridge.errors import RunFailed
from batkube.machines.failures import read_failures
from batkube.machines.places import Place, Places
from tests.bridge.test_client_pods import pod
from tests.bridge.world import JSON, World, delays, first_fit
from tests.machines.test_failures import course


async def schedulable(world: World) -> None:
    """Bind to nodes that are not cordoned."""
    for waiting in world.waiting():
        for node in world.nodes():
            metadata = waiting["metadata"]
            if node["spec"].get("unschedulable"):
                continue
            if (await world.bind(metadata["name"], node["metadata"]["name"], metadata["namespace"])).status_code == 201:
                break


def failing(text: str, count: int) -> MachineEvents:
    places = Places([Place(f"h{number}", f"h{number}", {}) for number in range(count)])
    found = read_failures(text).courses(places, seed=3, name="0")
    return MachineEvents({number: [found[f"h{number}"]] for number in range(count)})


async def test_failures_without_end_do_not_keep_a_run_from_its_end(tmp_path: Path) -> None:
    jobs = [{"id": str(number), "subtime": number} for number in range(30)]
    world = World(tmp_path, [1, 1], delays(*jobs), machine_events=failing("mtbf=1m,mttr=30s", 2))
    await world.run(first_fit)
    ended = world.simulation.control.ended
    assert len(ended) == 30
    went = [event for event in world.logged() if event["event"] == "node_not_ready"]
    assert went
    assert world.time.now == max(job.life.finish_time or 0.0 for job in ended)


async def test_a_job_waits_for_a_host_that_will_be_back(tmp_path: Path) -> None:
    events = MachineEvents({0: [course((5, 100))]})
    world = World(tmp_path, [1], delays({"id": "a", "subtime": 20}), machine_events=events)
    await world.run(first_fit)
    (job,) = world.simulation.control.ended
    assert (job.life.state, job.life.starting_time) == ("COMPLETED_SUCCESSFULLY", 100)


async def test_a_job_that_waits_for_a_host_that_never_comes_back_is_stuck(tmp_path: Path) -> None:
    events = MachineEvents({0: [course((5, math.inf))]})
    world = World(tmp_path, [1], delays({"id": "a", "subtime": 20}), machine_events=events)
    with pytest.raises(RunFailed, match="a"):
        await world.run(first_fit)


async def test_a_drained_node_is_cordoned_emptied_and_given_back(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "long"}, {"id": "late", "subtime": 6}]
    drains = [Drain(4, 30, ("h0",)), Drain(10, 20, ("h0",))]
    seen: dict[float, JSON] = {}

    async def schedule(world: World) -> None:
        seen[world.time.now] = world.nodes()[0]["spec"]
        await schedulable(world)

    world = World(tmp_path, [1], delays(*jobs), drains=drains)
    await world.run(schedule)
    ended = {job.name: (job.life.state, job.life.starting_time) for job in world.simulation.control.ended}
    assert ended == {"long": ("COMPLETED_KILLED", 0), "late": ("COMPLETED_SUCCESSFULLY", 30)}
    assert seen[6]["unschedulable"]
    assert "unschedulable" not in seen[30]
    told = [(event["event"], event["time"]) for event in world.logged() if event["event"].startswith("node_drain")]
    assert told == [("node_drained", 4), ("node_drained", 10), ("node_drain_over", 30)]


async def test_a_node_that_a_user_has_cordoned_stays_so_after_a_drain(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "a"}, p=50), drains=[Drain(4, 30, ("h1",))])

    async def schedule(world: World) -> None:
        if world.time.now == 0:
            node = world.server.get("nodes", "h1")
            world.server.update("nodes", {**node, "spec": {**node["spec"], "unschedulable": True}})
        await schedulable(world)

    await world.run(schedule)
    assert world.server.get("nodes", "h1")["spec"]["unschedulable"]


async def test_a_gang_of_which_a_part_is_driven_away_before_it_starts_gets_new_pods(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "pair", "res": 2}), drains=[Drain(4, 30, ("h0",))])

    async def one_at_a_time(world: World) -> None:
        if world.time.now == 0:
            await world.bind("w0-pair-0", "h0")
        elif world.time.now >= 30:
            await schedulable(world)

    await world.run(one_at_a_time)
    (job,) = world.simulation.control.ended
    assert (job.life.state, job.life.starting_time) == ("COMPLETED_SUCCESSFULLY", 30)


async def test_a_drain_respects_budgets_and_asks_again(tmp_path: Path) -> None:
    server = pod("web-1", duration="100", cpu="1")
    server["metadata"]["labels"] = {"app": "web"}
    world = World(tmp_path, [2], delays(), objects=[server], drains=[Drain(10, 40, ("h0",))], sharing=True)
    budget = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "web"}}},
    }
    made = world.server.create("poddisruptionbudgets.policy", budget)

    def allow(count: int) -> None:
        current = world.server.get("poddisruptionbudgets.policy", "web", "default")
        status = {
            "disruptionsAllowed": count, "currentHealthy": 1, "desiredHealthy": 1 - count, "expectedPods": 1,
            "observedGeneration": made["metadata"]["generation"],
        }  # fmt: skip
        world.server.update("poddisruptionbudgets.policy", {**current, "status": status}, "status")

    allow(0)

    async def schedule(world: World) -> None:
        if world.time.now >= 15:
            allow(1)
        await schedulable(world)

    await world.run(schedule)
    refused = [event for event in world.logged() if event["event"] == "eviction_refused"]
    assert [(event["time"], event["reason"]) for event in refused] == [
        (10, "The disruption budget web needs 1 healthy pods and has 1 currently"),
        (15, "The disruption budget web needs 1 healthy pods and has 1 currently"),
    ]
    (row,) = world.simulation.finished.pods()
    assert (row.finish_time, row.phase) == (20, "Failed")


async def test_what_a_budget_forbids_for_ever_keeps_nothing_up(tmp_path: Path) -> None:
    server = pod("web-1", duration="forever", cpu="2")
    server["metadata"]["labels"] = {"app": "web"}
    jobs = delays({"id": "a", "subtime": 20, "cpu": 2})
    drains = [Drain(10, math.inf, ("h0",))]
    world = World(tmp_path, [2], jobs, objects=[server], drains=drains, sharing=True, controllers=Which.AUTO)
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    world.server.create(
        "poddisruptionbudgets.policy", {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}
    )
    with pytest.raises(RunFailed, match="nothing can happen any more, and 1 jobs wait"):
        await world.run(schedulable)
    assert world.time.now < 60
    assert "eviction_refused" in [event["event"] for event in world.logged()]


async def test_pods_of_daemon_sets_stay_on_a_drained_node(tmp_path: Path) -> None:
    agent = pod("agent", duration="50", cpu="1")
    agent["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agents", "uid": "1", "controller": True}
    ]
    world = World(tmp_path, [2], delays(), objects=[agent], drains=[Drain(10, 40, ("h0",))], sharing=True)
    await world.run(schedulable)
    (row,) = world.simulation.finished.pods()
    assert (row.finish_time, row.phase) == (50, "Succeeded")
