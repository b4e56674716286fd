"""Pods that are deleted while their job runs: grace in simulated time, and how far the job was."""

from pathlib import Path
from typing import Any

import pytest

from tests.bridge.test_client_pods import pod
from tests.bridge.world import JSON, World, delays, first_fit


def with_grace(seconds: int) -> JSON:
    return {"pod": {"spec": {"terminationGracePeriodSeconds": seconds}}}


async def delete_at_three(world: World, query: str = "") -> None:
    """Delete the pod of job ``a`` when job ``tick`` comes; place what waits."""
    if any(pod["metadata"]["name"] == "w0-tick" for pod in world.waiting()):
        await world.client.delete(f"/api/v1/namespaces/default/pods/w0-a{query}")
    await first_fit(world)


async def run(folder: Path, job: JSON, query: str = "") -> World:
    world = World(folder, [1], delays({"id": "a", **job}, {"id": "tick", "subtime": 3}))
    await world.run(lambda world: delete_at_three(world, query))
    return world


async def test_a_process_ends_at_sigterm_where_nothing_else_is_said(tmp_path: Path) -> None:
    world = await run(tmp_path, {})
    job = world.simulation.control.jobs["w0!a"]
    assert (job.life.state, job.life.finish_time) == ("COMPLETED_KILLED", 3)
    assert job.progress == {"profile_name": "p", "progress": 0.3}
    (told,) = [event for event in world.logged() if event["event"] == "job_killed"]
    assert told == {"time": 3.0, "event": "job_killed", "job": "w0!a", "progress": job.progress}


async def test_a_job_that_names_its_grace_period_runs_on_for_so_long_on_its_node(tmp_path: Path) -> None:
    world = await run(tmp_path, with_grace(4))
    ended = {
        job.name: (job.life.state, job.life.starting_time, job.life.finish_time)
        for job in world.simulation.control.ended
    }
    assert ended == {"a": ("COMPLETED_KILLED", 0, 7), "tick": ("COMPLETED_SUCCESSFULLY", 7, 17)}
    assert world.simulation.control.jobs["w0!a"].progress == {"profile_name": "p", "progress": 0.7}


async def test_it_may_come_to_its_own_end_within_it(tmp_path: Path) -> None:
    world = await run(tmp_path, with_grace(30))
    ended = {job.name: (job.life.state, job.life.finish_time) for job in world.simulation.control.ended}
    assert ended == {"a": ("COMPLETED_SUCCESSFULLY", 10), "tick": ("COMPLETED_SUCCESSFULLY", 20)}
    assert [pod["metadata"]["name"] for pod in world.server.list("pods")] == ["w0-tick"]


async def test_who_deletes_may_give_it_less(tmp_path: Path) -> None:
    world = await run(tmp_path, with_grace(30), "?gracePeriodSeconds=2")
    assert world.simulation.control.jobs["w0!a"].life.finish_time == 5
    forced = tmp_path / "forced"
    forced.mkdir()
    world = await run(forced, with_grace(30), "?gracePeriodSeconds=0")
    assert world.simulation.control.jobs["w0!a"].life.finish_time == 3


TICKS = delays({"id": "tick", "subtime": 3, "cpu": 1}, {"id": "tock", "subtime": 4, "cpu": 1}, p=1)


async def delete_a_pod(folder: Path, query: str = "", policy: str = "Always", **notes: str) -> World:
    """Run a pod that takes all of its node, and is deleted at 3; then a job."""
    world = World(folder, [4], TICKS, sharing=True, objects=[pod("server", policy=policy, cpu="4", **notes)])
    shown: list[Any] = []

    async def schedule(world: World) -> None:
        if world.time.now == 3:
            await world.client.delete(f"/api/v1/namespaces/default/pods/server{query}")
        found = world.server.store.get("pods", "default", "server")
        shown.append(found and (world.time.now, found["status"]["phase"], found["metadata"].get("deletionTimestamp")))
        await first_fit(world)

    await world.run(schedule)
    assert not [pod for pod in world.server.list("pods") if pod["metadata"]["name"] == "server"]
    if any(each and each[0] == 4 for each in shown):  # it takes its time
        assert (4, "Running", "1970-01-01T00:00:33Z") in shown or query
    return world


@pytest.mark.parametrize(
    ("notes", "query", "end"),
    [
        ({}, "", 3),
        ({"termination_duration": "12"}, "", 15),
        ({"termination_duration": "forever"}, "", 33),  # 30 s of grace are the default
        ({"termination_duration": "12"}, "?gracePeriodSeconds=5", 8),
        ({"termination_duration": "12"}, "?gracePeriodSeconds=0", 3),
    ],
)
async def test_a_deleted_pod_of_a_client_holds_its_node_as_long_as_its_process_needs(
    tmp_path: Path, notes: dict[str, str], query: str, end: float
) -> None:
    world = await delete_a_pod(tmp_path, query, **notes)
    ends = {job.name: (job.life.state, job.life.finish_time) for job in world.simulation.control.ended}
    assert ends["server"] == ("COMPLETED_KILLED", end)
    assert ends["tick"] == ("COMPLETED_SUCCESSFULLY", end + 1)
    (row,) = [row for row in world.simulation.finished.pods() if row.pod == "server"]
    assert (row.phase, row.finish_time) == ("Failed", end)


async def test_a_process_that_ends_by_itself_meanwhile_is_not_started_again(tmp_path: Path) -> None:
    world = await delete_a_pod(tmp_path, duration="10", termination_duration="1m")
    ends = {job.name: (job.life.state, job.life.finish_time) for job in world.simulation.control.ended}
    assert ends["server"] == ("COMPLETED_SUCCESSFULLY", 10)
    assert not [name for name in ends if name.startswith("server.run")]
