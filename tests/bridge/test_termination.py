"""Pods that are deleted while their job runs: grace in simulated time, and how far the job was."""

from pathlib import Path

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
