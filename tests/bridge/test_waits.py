"""The reasons why pods wait, as the API tells them: gates, cordons, lost nodes, pods that are not of jobs."""

from pathlib import Path

import pytest

from tests.bridge.world import JSON, World, delays, outage


def reasons(world: World) -> dict[str, dict[str, float]]:
    """Return the seconds by reason of each pod, when the run is over."""
    world.simulation.close()
    return {
        record.pod.removeprefix("w0-"): {
            name[5:]: value
            for name in type(record).__slots__
            if name.startswith("wait_") and (value := getattr(record, name))
        }
        for record in world.simulation.finished.pods()
    }


async def bind_first_fit(world: World) -> None:
    """Bind each pod that waits to the first node that takes it."""
    for pod in world.waiting():
        if pod["spec"].get("schedulingGates"):
            continue
        for node in world.nodes():
            if node["spec"].get("unschedulable"):
                continue
            if (await world.bind(pod["metadata"]["name"], node["metadata"]["name"])).is_success:
                break


def job(name: str, **more: object) -> JSON:
    return {"id": name, **more}


@pytest.mark.parametrize("keep", [None, 0])
async def test_a_pod_with_gates_waits_for_who_takes_them_away(tmp_path: Path, keep: int | None) -> None:
    gated = {"pod": {"spec": {"schedulingGates": [{"name": "example.com/quota"}]}}}
    workload = delays(job("a"), job("gated", **gated), job("later", subtime=6), p=10)
    world = World(tmp_path, [1, 1], workload, sharing=True, keep_finished=keep)

    async def schedule(world: World) -> None:
        if world.time.now >= 6:
            for pod in world.waiting():
                if pod["spec"].get("schedulingGates"):
                    path = f"/api/v1/namespaces/default/pods/{pod['metadata']['name']}"
                    answer = await world.client.patch(
                        path,
                        json=[{"op": "remove", "path": "/spec/schedulingGates"}],
                        headers={"Content-Type": "application/json-patch+json"},
                    )
                    assert answer.is_success, answer.text
        await bind_first_fit(world)

    await world.run(schedule)
    # At 6 the gated pod takes the second node, which was free; the last comes to the first at 10.
    assert reasons(world) == {"a": {}, "gated": {"gates": 6}, "later": {"no_capacity": 4}}


async def test_a_cordoned_node_forbids_pods(tmp_path: Path) -> None:
    workload = delays(job("a"), job("b", subtime=5), p=10)
    world = World(tmp_path, [1, 1], workload, sharing=True)

    async def schedule(world: World) -> None:
        if world.time.now == 0:
            await world.client.patch(
                "/api/v1/nodes/h1",
                json={"spec": {"unschedulable": True}},
                headers={"Content-Type": "application/merge-patch+json"},
            )
        await bind_first_fit(world)

    await world.run(schedule)
    assert reasons(world) == {"a": {}, "b": {"constraints": 5}}


async def test_a_lost_node_offers_nothing(tmp_path: Path) -> None:
    workload = delays(job("a", subtime=2), p=10)
    world = World(tmp_path, [1], workload, sharing=True, external_events=outage(0, 1, 8))
    await world.run(bind_first_fit)
    assert reasons(world) == {"a": {"no_capacity": 6}}


async def test_a_pod_that_is_not_of_a_job_takes_room(tmp_path: Path) -> None:
    workload = delays(job("a"), job("b", subtime=3), p=10)
    world = World(tmp_path, [2], workload, sharing=True)
    container = {"name": "agent", "image": "agent", "resources": {"requests": {"cpu": "1"}}}
    agent = {"metadata": {"name": "agent"}, "spec": {"nodeName": "h0", "containers": [container]}}

    async def schedule(world: World) -> None:
        if world.time.now == 0 and world.server.store.get("pods", "default", "agent") is None:
            world.server.create("pods", agent, "default")
        if world.time.now == 3:  # it knows of the agent
            return
        await bind_first_fit(world)

    await world.run(schedule)
    assert reasons(world) == {"a": {}, "b": {"no_capacity": 7}, "agent": {}}
