"""Nodes that are slow, for a while or always: work takes longer there, and none is lost."""

import random
from pathlib import Path

import pytest

from batkube.bridge.speeds import Slowdown
from tests.bridge.test_client_pods import NO_JOBS, phase, play, pod, runs
from tests.bridge.test_init_containers import Seen, container, states, with_init
from tests.bridge.test_membership import Administrator, new_node, ticks
from tests.bridge.world import World, delays, first_fit

FOREVER = float("inf")


def slow(begin: float, end: float, speed: float, node: str = "h0") -> Slowdown:
    return Slowdown(begin, end, (node,), speed)


async def test_what_a_pod_has_still_to_do_takes_longer_while_its_node_is_slow(tmp_path: Path) -> None:
    world = await play(
        tmp_path, pod("one", duration="100"), pod("before", duration="10"), slowdowns=[slow(10, 50, 0.5)]
    )
    assert runs(world) == [("before", "SUCCESSFULLY", 0, 10), ("one", "SUCCESSFULLY", 0, 120)]
    told = [(event["time"], event["event"], event.get("speed")) for event in world.logged() if "slow" in event["event"]]
    assert told == [(10, "node_slowed", 0.5), (50, "node_slow_over", None)]


async def test_of_what_slows_a_node_at_one_time_the_slowest_counts(tmp_path: Path) -> None:
    slowdowns = [slow(0, 40, 0.5), slow(10, 30, 0.25), slow(40, FOREVER, 0.5)]
    world = await play(tmp_path, pod("one", duration="25"), slowdowns=slowdowns)
    # 5 + 5 + 5 by second 40, and the rest at half speed
    assert runs(world) == [("one", "SUCCESSFULLY", 0, 60)]
    told = [event["time"] for event in world.logged() if "slow" in event["event"]]
    assert told == [0, 10, 30]


async def test_delays_of_workloads_take_as_long_on_any_node_and_tasks_do_not(tmp_path: Path) -> None:
    workload = delays({"id": "delay"}, {"id": "task", "profile": "t"}, p=10)
    workload["profiles"]["t"] = {"type": "parallel_homogeneous", "cpu": 10e9, "com": 0}
    world = World(tmp_path, [4], workload, sharing=True, slowdowns=[slow(4, 8, 0.5)])
    await world.run(first_fit)
    assert runs(world) == [("delay", "SUCCESSFULLY", 0, 10), ("task", "SUCCESSFULLY", 0, 12)]


async def test_init_containers_and_containers_of_their_own_length_slow_down_with_their_node(tmp_path: Path) -> None:
    given = with_init(pod("one", command="sleep 10"), container("first", "sleep 10"))
    given["spec"]["containers"].append(container("longer", "sleep 20"))
    world = await Seen(tmp_path, given, slowdowns=[slow(5, 30, 0.5)]).play()
    # Of the first 5 s are left at second 5, which take 10; then 7.5 of work by 30.
    assert {date: states(told, "containerStatuses") for date, told in world.statuses.items()} == {
        0: ["PodInitializing", "PodInitializing"],
        15: ["running", "running"],
        32.5: ["Completed", "running"],
        42.5: ["Completed", "Completed"],
    }
    assert runs(world) == [("one", "SUCCESSFULLY", 15, 42.5)]


async def test_a_deadline_waits_for_no_slow_node(tmp_path: Path) -> None:
    late = pod("late", duration="100")
    late["spec"]["activeDeadlineSeconds"] = 110
    world = await play(tmp_path, late, slowdowns=[slow(20, 60, 0.5), slow(80, 81, 0.5)])
    assert runs(world) == [("late", "WALLTIME_REACHED", 0, 110)]
    assert phase(world, "late") == "Failed"


async def test_nodes_of_another_speed_say_so_in_an_annotation(tmp_path: Path) -> None:
    workload = delays(*ticks(1))
    workload["profiles"]["p"]["delay"] = 1
    node = new_node("quick")
    node["metadata"]["annotations"] = {"batkube.io/speed": "4"}
    task = pod("task", cpu="2", profile='{"type": "parallel_homogeneous", "cpu": 12e9, "com": 0}')
    big = with_init(pod("big", cpu="2", duration="100"), container("first", "sleep 20"))
    world = World(
        tmp_path, [1], workload, sharing=True, objects=[big, task], until=2, slowdowns=[slow(11, 16, 0.5, "quick")]
    )
    created: list[int] = []

    async def schedule(world: World) -> None:
        if world.time.now == 1 and not created:
            created.append((await world.client.post("/api/v1/nodes", json=node)).status_code)
        elif created:
            for waiting in world.waiting():
                await world.bind(waiting["metadata"]["name"], "quick")

    await world.run(schedule)
    assert created == [201]
    # 20 and 100 at four times the speed are 5 and 25; half of it for five seconds costs 2.5 more.
    ended = [row for row in runs(world) if row[1] != "REJECTED"]
    assert ended == [("task", "SUCCESSFULLY", 1, 4), ("big", "SUCCESSFULLY", 6, 33.5)]


@pytest.mark.parametrize("text", ["0", "-1", "fast", "nan", "1e9"])
async def test_a_speed_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    node = new_node("odd")
    node["metadata"]["annotations"] = {"batkube.io/speed": text}
    act = Administrator(at1=node)
    await World(tmp_path, [1], delays({"id": "a"}, *ticks(1)), sharing=True).run(act)
    assert act.codes == [422]
    assert f"batkube.io/speed: expected a number from 0.001 to 1000, not '{text}'" in act.messages[0]


def finish(start: float, work: float, slowdowns: list[Slowdown]) -> float:
    """Return when a work is done, by going from change to change."""
    changes = sorted({date for one in slowdowns for date in (one.begin, one.end) if date > start})
    now = start
    for date in [*changes, FOREVER]:
        speed = min((one.speed for one in slowdowns if one.begin <= now < one.end), default=1.0)
        if work <= (date - now) * speed:
            return now + work / speed
        work, now = work - (date - now) * speed, date
    raise AssertionError


@pytest.mark.parametrize("seed", range(12))
async def test_no_work_is_lost_or_done_twice_whatever_slows_it(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    slowdowns = []
    for _ in range(rng.randint(1, 8)):
        begin = float(rng.randint(0, 200))
        end = rng.choice((FOREVER, begin + rng.randint(1, 80)))
        slowdowns.append(slow(begin, end, rng.choice((0.1, 0.25, 0.5, 0.9)), rng.choice(("h0", "h1"))))
    lengths = {f"p{number}": rng.randint(1, 150) for number in range(10)}
    pods = []
    for name, length in lengths.items():
        made = pod(name, duration=str(length), cpu=str(rng.randint(1, 3)))
        pods.append(with_init(made, container("first", f"sleep {rng.randint(1, 20)}")) if rng.random() < 0.5 else made)
    world = World(tmp_path, [4, 4], NO_JOBS, sharing=True, objects=pods, slowdowns=slowdowns)

    async def schedule(world: World) -> None:
        living = world.server.list("pods")
        if rng.random() < 0.02 and living:
            name = rng.choice(list(living))["metadata"]["name"]
            await world.client.delete(f"/api/v1/namespaces/default/pods/{name}")
        await first_fit(world)

    await world.run(schedule)
    rows = {row.pod: row for row in world.simulation.finished.pods()}
    for name, state, began, ended in runs(world):
        assert began is not None
        assert ended is not None
        here = [one for one in slowdowns if one.nodes == (rows[name].node,)]
        due = finish(began, lengths[name], here)
        assert ended == pytest.approx(due, abs=1e-5) if state == "SUCCESSFULLY" else ended <= due + 1e-5
