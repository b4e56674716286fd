"""Hosts that sleep while nobody uses them."""

from pathlib import Path

from batkube.bridge.power import PSTATE, SHOWN, WISH
from tests.bridge.world import JSON, World, delays, first_fit, outage


def powers(world: World, node: str = "h0") -> list[tuple[float, str]]:
    events = [event for event in world.logged() if event["event"] == "node_power" and event["node"] == node]
    return [(event["time"], event["state"]) for event in events]


def times(world: World) -> dict[str, tuple[float | None, float | None]]:
    return {job.name: (job.life.starting_time, job.life.finish_time) for job in world.simulation.control.ended}


async def annotate(world: World, node: str, **annotations: str | None) -> None:
    body = {"metadata": {"annotations": annotations}}
    headers = {"content-type": "application/merge-patch+json"}
    answer = await world.client.patch(f"/api/v1/nodes/{node}", json=body, headers=headers)
    assert answer.status_code == 200


async def cordon(world: World, node: str, wanted: bool) -> None:
    headers = {"content-type": "application/merge-patch+json"}
    await world.client.patch(f"/api/v1/nodes/{node}", json={"spec": {"unschedulable": wanted}}, headers=headers)


async def test_an_idle_host_is_switched_off_and_a_pod_wakes_it_up(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 200}]
    world = World(tmp_path, [1], delays(*jobs), energy=True, power_off_after=60)
    phases: list[tuple[float, str]] = []

    async def look(world: World) -> None:
        await first_fit(world)
        phases.extend((world.time.now, pod["status"]["phase"]) for pod in world.server.list("pods"))

    await world.run(look)
    assert times(world) == {"a": (0, 10), "b": (220, 230)}
    assert powers(world) == [(70, "switching-off"), (80, "off"), (200, "switching-on"), (220, "on")]
    assert (200, "Pending") in phases
    assert (220, "Running") in phases


async def test_what_hosts_consume_without_a_job_is_measured(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 200}]
    world = World(tmp_path, [1], delays(*jobs), energy=True, power_off_after=60)
    await world.run(first_fit)
    meter = world.simulation.power.meter
    meter.read(world.time.now)
    # Used 0 to 10, idle to 70, falls asleep to 80, asleep to 200, wakes up to 220, used to 230.
    assert meter.seconds == {"used": 20, "idle": 60, "switching": 30, "off": 120}
    assert meter.joules == {"used": 0, "idle": 60 * 60, "switching": 10 * 70 + 20 * 120, "off": 120 * 8}


async def test_a_pod_that_comes_as_the_host_falls_asleep_waits_for_both(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 75}]
    world = World(tmp_path, [1], delays(*jobs), energy=True, power_off_after=60)
    await world.run(first_fit)
    assert times(world)["b"] == (100, 110)
    assert powers(world) == [(70, "switching-off"), (80, "off"), (80, "switching-on"), (100, "on")]


async def test_a_host_in_use_is_never_switched_off_nor_does_the_end_wait_for_it(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "a"}, p=500), energy=True, power_off_after=60)
    await world.run(first_fit)
    assert powers(world, "h0") == []
    assert powers(world, "h1") == [(60, "switching-off"), (70, "off")]
    assert world.time.now == 500


async def test_a_cordoned_node_is_switched_off_when_idle_and_an_uncordoned_one_on(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 5}, {"id": "c", "subtime": 100}]
    world = World(tmp_path, [1], delays(*jobs), energy=True)

    async def schedule(world: World) -> None:
        if world.time.now == 5:
            await cordon(world, "h0", True)
        elif world.time.now == 100:
            await cordon(world, "h0", False)
        elif world.time.now == 0 or world.time.now >= 120:
            await first_fit(world)

    await world.run(schedule)
    assert powers(world) == [(10, "switching-off"), (20, "off"), (100, "switching-on"), (120, "on")]
    assert times(world) == {"a": (0, 10), "b": (120, 130), "c": (130, 140)}


async def test_an_annotation_puts_a_node_to_sleep_or_keeps_it_awake(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 200}]
    world = World(tmp_path, [1, 1, 1], delays(*jobs), energy=True, power_off_after=60)

    async def schedule(world: World) -> None:
        if world.time.now == 0:
            await annotate(world, "h1", **{WISH: "off"})
            await annotate(world, "h2", **{WISH: "on"})
        await first_fit(world)

    await world.run(schedule)
    assert powers(world, "h1")[0] == (0, "switching-off")
    assert powers(world, "h2") == []
    shown = {node["metadata"]["name"]: node["metadata"]["annotations"].get(SHOWN) for node in world.nodes()}
    assert shown == {"h0": "on", "h1": "off", "h2": None}


async def test_an_annotation_chooses_the_pstate_in_which_a_node_computes(tmp_path: Path) -> None:
    flops = {"h": {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}}
    jobs = [{"id": "a", "subtime": 0, "res": 1, "profile": "h"}, {"id": "b", "subtime": 100, "res": 1, "profile": "h"}]
    world = World(tmp_path, [1], {"jobs": jobs, "profiles": flops}, energy=True)

    async def schedule(world: World) -> None:
        if world.time.now == 10:
            await annotate(world, "h0", **{PSTATE: "1"})
        await first_fit(world)

    await world.run(schedule)
    assert times(world) == {"a": (0, 10), "b": (100, 120)}


async def test_wishes_that_cannot_be_are_told(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}), energy=True)

    async def schedule(world: World) -> None:
        await annotate(world, "h0", **{WISH: "maybe", PSTATE: "3"})
        await first_fit(world)

    await world.run(schedule)
    assert world.simulation.warnings == [
        "node h0: annotation batkube.io/power: expected on or off, not 'maybe'",
        "node h0: annotation batkube.io/pstate: expected one to compute in (0, 1), not '3'",
    ]


async def test_a_host_that_is_to_go_is_not_put_to_sleep_before(tmp_path: Path) -> None:
    """Batsim aborts on a host that comes back while it switches."""
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "subtime": 400}]
    events = outage(0, 75, 100)
    world = World(tmp_path, [1], delays(*jobs), energy=True, power_off_after=60, external_events=events)
    await world.run(first_fit)
    assert powers(world)[:2] == [(100, "switching-off"), (110, "off")]
    assert times(world)["b"] == (420, 430)
