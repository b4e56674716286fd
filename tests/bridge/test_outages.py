"""Hosts that go at the very date at which something else happens."""

from pathlib import Path

import httpx
import pytest

from tests.bridge.world import JSON, World, delays, first_fit, outage


async def test_a_host_that_goes_as_a_job_comes_takes_it_no_more(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "a", "subtime": 20}), external_events=outage(0, 20, 100))
    answers: list[httpx.Response] = []

    async def stubborn(world: World) -> None:
        for pod in world.waiting():
            answers.append(await world.bind(pod["metadata"]["name"], "h0"))
        await first_fit(world)

    await world.run(stubborn)
    assert answers[0].status_code == 409
    assert 'node "h0" is not ready: its host is unavailable' in answers[0].json()["message"]
    (job,) = world.simulation.control.ended
    assert (job.hosts, job.life.starting_time, job.life.state) == ([1], 20, "COMPLETED_SUCCESSFULLY")


async def test_a_host_that_goes_as_its_job_ends_costs_the_job_nothing(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 3}]
    world = World(tmp_path, [1], delays(*jobs), external_events=outage(0, 10, 15))
    await world.run(first_fit)
    ended = {job.name: (job.life.state, job.life.starting_time) for job in world.simulation.control.ended}
    assert ended == {"a": ("COMPLETED_SUCCESSFULLY", 0), "b": ("COMPLETED_SUCCESSFULLY", 15)}


async def test_a_host_that_goes_kills_the_job_on_it_whose_pods_fail(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}), external_events=outage(0, 4, 15))
    await world.run(first_fit)
    (job,) = world.simulation.control.ended
    assert (job.life.state, job.life.finish_time, job.reason) == ("COMPLETED_KILLED", 4, "node h0 became unavailable")
    (pod,) = world.server.list("pods")
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "Killed")


async def test_a_host_that_goes_and_comes_at_one_date_ends_what_was_on_it_and_is_there(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}, {"id": "b", "subtime": 4}), external_events=outage(0, 4, 4))
    await world.run(first_fit)
    states = {job.name: (job.life.state, job.life.finish_time) for job in world.simulation.control.ended}
    assert states == {"a": ("COMPLETED_KILLED", 4), "b": ("COMPLETED_SUCCESSFULLY", 14)}


@pytest.mark.parametrize("after", [0.0, 0.0004, 0.001, 0.01, 0.2])
async def test_no_job_is_sent_to_a_host_that_goes_before_the_decision_is_handled(tmp_path: Path, after: float) -> None:
    jobs = [{"id": f"{number:02}", "subtime": 20} for number in range(12)]
    events = outage(11, 20 + after, 100)
    world = World(tmp_path, [1] * 12, delays(*jobs), external_events=events, control_latency=0.0006)
    await world.run(first_fit)
    ended = world.simulation.control.ended
    assert len(ended) == 12
    lost = [job for job in ended if job.life.state == "COMPLETED_KILLED"]
    # The last of them was on its way to the host, or had just come there.
    assert all(job.life.finish_time is not None and job.life.finish_time <= 20.3 for job in lost)
    assert len(lost) == (1 if after == 0.2 else 0)
