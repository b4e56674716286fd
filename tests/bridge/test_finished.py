"""Pods of jobs that are over leave the API, the oldest first, and nothing of the results is lost."""

from pathlib import Path

import pytest

from tests.bridge.world import JSON, World, delays, first_fit

JOBS = [
    {"id": str(number), "subtime": number, "res": 1 + number % 3, "profile": f"p{number % 2}"} for number in range(9)
]
JOBS += [{"id": "never", "subtime": 20, "res": 7, "profile": "p0"}]


async def played(folder: Path, keep: int | None) -> World:
    world = World(folder, [1, 1, 1], delays(*JOBS, p0=4, p1=9), keep_finished=keep)
    await world.run(first_fit)
    return world


@pytest.mark.parametrize("keep", [0, 2, 5, 100])
async def test_results_are_the_same_however_many_pods_are_kept(tmp_path: Path, keep: int) -> None:
    all_kept, some_kept = await played(tmp_path, None), await played(tmp_path, keep)
    assert all_kept.events.sha256 == some_kept.events.sha256
    assert list(some_kept.simulation.finished.records()) == [job.record() for job in all_kept.simulation.control.ended]
    assert list(some_kept.simulation.finished.pods()) == list(all_kept.simulation.control.pods.values())
    pods = len(all_kept.server.list("pods"))
    assert len(some_kept.server.list("pods")) <= min(keep, pods)
    assert some_kept.simulation.control.over == len(JOBS)
    if keep == 0:
        assert [job.name for job in some_kept.simulation.control.jobs.values()] == []


async def test_the_oldest_go_first_and_live_ones_stay(tmp_path: Path) -> None:
    short: list[JSON] = [{"id": name, "subtime": 1, "profile": "q"} for name in "ab"]
    jobs = delays({"id": "long"}, *short, {"id": "last", "subtime": 200}, p=100, q=10)
    world = World(tmp_path, [1, 1], jobs, keep_finished=1)
    seen: list[list[str]] = []

    async def schedule(world: World) -> None:
        await first_fit(world)
        seen.append([pod["metadata"]["name"] for pod in world.server.list("pods")])

    await world.run(schedule)
    assert ["w0-b", "w0-long"] in seen  # a and b have ended
    assert ["w0-b", "w0-last"] in seen  # the long one has ended last, but was created first
    assert world.simulation.control.job_of("w0-a") is None
