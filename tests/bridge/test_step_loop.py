"""The bridge between a real API server and the embedded simulator; schedulers of a few lines sit in ``wait``."""

from pathlib import Path

import httpx
import pytest

from batkube.batsim.jobs import JobState
from batkube.bridge.errors import Stuck
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from tests.bridge.world import JSON, World, delays, first_fit


async def test_a_scheduler_that_ignores_all_resources_cannot_use_an_exclusive_host_twice(tmp_path: Path) -> None:
    world = World(tmp_path, [4, 4], delays(*({"id": str(index), "cpu": "100m"} for index in range(6))))
    await world.run(first_fit)
    starts = sorted(job.life.starting_time or 0.0 for job in world.simulation.control.ended)
    assert starts == [0, 0, 10, 10, 20, 20]


async def test_binding_to_a_host_in_use_is_a_conflict_that_says_why(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "a"}, {"id": "b"}))
    answers: list[httpx.Response] = []

    async def stubborn(world: World) -> None:
        for pod in world.waiting():
            answers.append(await world.bind(pod["metadata"]["name"], "h0"))

    await world.run(stubborn)
    refused = [answer for answer in answers if answer.status_code != 201]
    assert refused
    for answer in refused:
        status = answer.json()
        assert (status["code"], status["reason"]) == (409, "Conflict")
        assert 'node "h0" is in use, and its host is exclusive' in status["message"]


async def test_alike_exclusive_hosts_look_full_to_those_who_count_cores(tmp_path: Path) -> None:
    world = World(tmp_path, [4, 4], delays({"id": "a", "cpu": 1}))

    async def look(world: World) -> None:
        for pod in world.waiting():
            assert pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "4"
        await first_fit(world)

    await world.run(look)
    assert world.nodes()[0]["status"]["allocatable"]["pods"] == "1"


async def test_an_exclusive_host_of_another_size_offers_no_more_than_its_job_has(tmp_path: Path) -> None:
    world = World(tmp_path, [2, 8], delays({"id": "a", "cpu": 1}))
    offered: list[str] = []

    async def look(world: World) -> None:
        if world.waiting():
            await world.bind("w0-a", "h1")
        offered.append(world.nodes()[1]["status"]["allocatable"]["cpu"])

    await world.run(look)
    assert offered[0] == "8"
    assert "1" in offered
    assert offered[-1] == "8"


async def test_a_job_starts_when_the_last_of_its_pods_is_bound(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1, 1], delays({"id": "gang", "res": 2}, {"id": "tick", "subtime": 5}))

    async def one_at_a_time(world: World) -> None:
        if world.time.now == 0 and len(world.waiting()) == 2:
            await world.bind("w0-gang-1", "h2")
        elif world.time.now >= 5:
            await first_fit(world)

    await world.run(one_at_a_time)
    gang = world.simulation.control.jobs["w0!gang"]
    assert (gang.life.starting_time, gang.life.finish_time) == (5, 15)
    assert gang.hosts == [0, 2]
    record = world.simulation.control.pods["w0-gang-1"]
    assert (record.bound_time, record.starting_time) == (0, 5)


async def test_the_younger_of_two_half_bound_jobs_gives_way(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "a", "res": 2}, {"id": "b", "res": 2}))

    async def interleaved(world: World) -> None:
        for pod in sorted((pod["metadata"]["name"] for pod in world.waiting()), key=lambda name: name[-1]):
            for node in ("h0", "h1"):
                if (await world.bind(pod, node)).status_code == 201:
                    break

    await world.run(interleaved)
    ended = [(job.name, job.life.starting_time, job.life.finish_time) for job in world.simulation.control.ended]
    assert ended == [("a", 0, 10), ("b", 10, 20)]


async def test_pods_share_a_node_by_their_requests(tmp_path: Path) -> None:
    jobs = [{"id": str(index), "cpu": 1.5} for index in range(5)]
    world = World(tmp_path, [6], delays(*jobs), sharing=True)
    await world.run(first_fit)
    assert sorted(job.life.starting_time or 0.0 for job in world.simulation.control.ended) == [0, 0, 0, 0, 10]


async def test_several_pods_of_a_job_on_one_shared_host_are_mapped(tmp_path: Path) -> None:
    world = World(tmp_path, [4], delays({"id": "gang", "res": 3}), sharing=True)
    await world.run(first_fit)
    assert world.simulation.control.jobs["w0!gang"].hosts == [0, 0, 0]
    assert world.simulation.control.jobs["w0!gang"].life.state == "COMPLETED_SUCCESSFULLY"


async def test_deleting_a_running_pod_kills_its_job_and_frees_the_node_then(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "victim"}, {"id": "next", "subtime": 3}))

    async def preempt(world: World) -> None:
        waiting = [pod["metadata"]["name"] for pod in world.waiting()]
        if waiting == ["w0-next"] and any(pod["metadata"]["name"] == "w0-victim" for pod in world.server.list("pods")):
            await world.client.delete("/api/v1/namespaces/default/pods/w0-victim")
        await first_fit(world)

    await world.run(preempt)
    victim, after = (world.simulation.control.jobs[f"w0!{name}"] for name in ("victim", "next"))
    assert (victim.life.state, victim.life.finish_time) == ("COMPLETED_KILLED", 3)
    assert victim.reason == "pod w0-victim was deleted"
    assert (after.life.starting_time, after.life.finish_time) == (3, 13)
    assert [pod["metadata"]["name"] for pod in world.server.list("pods")] == ["w0-next"]


async def test_deleting_a_pod_that_waits_rejects_its_job(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "gang", "res": 2}))

    async def give_up(world: World) -> None:
        if world.waiting():
            await world.bind("w0-gang-0", "h0")
            await world.client.delete("/api/v1/namespaces/default/pods/w0-gang-1")

    await world.run(give_up)
    assert world.states() == {"gang": JobState.REJECTED}
    assert world.server.list("pods") == []


@pytest.mark.parametrize("on_deadlock", list(OnDeadlock))
async def test_a_scheduler_that_does_nothing_is_found_out(tmp_path: Path, on_deadlock: OnDeadlock) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}, {"id": "b"}))

    async def idle(world: World) -> None:
        return

    settings = StepSettings(patience=0.01, on_deadlock=on_deadlock)
    if on_deadlock is OnDeadlock.FAIL:
        with pytest.raises(Stuck) as stuck:
            await world.run(idle, settings)
        assert "2 jobs wait" in str(stuck.value)
        assert "job w0!a: w0-a unbound; default-scheduler said nothing of it" in str(stuck.value)
    else:
        await world.run(idle, settings)
        assert set(world.states().values()) == {JobState.REJECTED}


async def test_priorities_are_priority_classes(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a", "priority": 1000}, {"id": "b", "priority": -5}, {"id": "c"}]
    world = World(tmp_path, [1, 1, 1], delays(*jobs))
    seen: dict[str, int] = {}

    async def look(world: World) -> None:
        seen.update({pod["metadata"]["name"]: pod["spec"].get("priority", 0) for pod in world.waiting()})
        await first_fit(world)

    await world.run(look)
    assert seen == {"w0-a": 1000, "w0-b": -5, "w0-c": 0}


async def test_a_pod_fragment_is_merged_over_ours(tmp_path: Path) -> None:
    fragment = {
        "metadata": {"labels": {"team": "red"}},
        "spec": {
            "containers": [{"name": "job", "image": "mine"}],
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
        },
    }
    world = World(tmp_path, [1], delays({"id": "a", "pod": fragment, "labels": {"app": "x"}}))
    seen: list[JSON] = []

    async def look(world: World) -> None:
        seen.extend(world.waiting())
        await first_fit(world)

    await world.run(look)
    pod = seen[0]
    assert pod["metadata"]["labels"] == {"app": "x", "team": "red", "batkube.io/job": "w0-a"}
    assert [container["image"] for container in pod["spec"]["containers"]] == ["mine"]
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    assert pod["spec"]["tolerations"][0]["key"] == "gpu"


async def test_the_same_run_twice_writes_the_same_bytes(tmp_path: Path) -> None:
    prints = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        world = World(folder, [1, 1], delays(*({"id": str(index), "subtime": index % 3} for index in range(9))))
        await world.run(first_fit)
        prints.append(world.events.sha256)
    assert prints[0] == prints[1]


async def test_all_but_the_oldest_give_way_and_come_again_one_by_one(tmp_path: Path) -> None:
    """Pod by pod, and the last first: each time all come at once they would take the same places again."""
    jobs = [{"id": str(number), "res": 3} for number in range(6)]
    world = World(tmp_path, [1] * 4, delays(*jobs))

    async def last_first(world: World) -> None:
        for pod in sorted((pod["metadata"]["name"] for pod in world.waiting()), key=lambda name: name[::-1]):
            for node in world.nodes():
                if (await world.bind(pod, node["metadata"]["name"])).status_code == 201:
                    break

    await world.run(last_first)
    ended = [(job.name, job.life.starting_time, job.life.state) for job in world.simulation.control.ended]
    assert ended == [(str(number), 10.0 * number, "COMPLETED_SUCCESSFULLY") for number in range(6)]
    assert sum(event["event"] == "gang_gave_way" for event in world.logged()) == 5
