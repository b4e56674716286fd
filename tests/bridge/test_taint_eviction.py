"""Pods go from nodes that get NoExecute taints, at once or when their patience is over."""

from pathlib import Path

from batkube.bridge.controller_settings import Which
from tests.bridge.test_client_pods import pod
from tests.bridge.test_membership import ticks
from tests.bridge.world import JSON, World, delays, first_fit, outage

TAINT: JSON = {"key": "broken", "effect": "NoExecute"}


def tolerant(name: str, seconds: int | None) -> JSON:
    made = pod(name, duration="100")
    tolerated = {"key": "broken", "operator": "Exists", "effect": "NoExecute"}
    made["spec"]["tolerations"] = [{**tolerated, **({} if seconds is None else {"tolerationSeconds": seconds})}]
    return made


async def ends(folder: Path, spans: list[tuple[float, float]]) -> tuple[World, dict[str, float | None]]:
    """Play four pods on a node that is tainted in these spans of time; return when each ended."""
    pods = [pod("plain", duration="100"), tolerant("short", 20), tolerant("long", 60), tolerant("ever", None)]
    dates = [date for span in spans for date in span]
    world = World(
        folder, [8], delays(*ticks(*dates)), objects=pods, sharing=True, controllers=Which.BUILTIN, until=max(dates)
    )

    async def act(world: World) -> None:
        now = world.time.now
        if now in dates:
            node = world.server.get("nodes", "h0")
            taints = [TAINT] if any(since <= now < until for since, until in spans) else []
            world.server.update("nodes", {**node, "spec": {**node["spec"], "taints": taints}})
            dates.remove(now)
        await first_fit(world)

    await world.run(act)
    return world, {row.pod: row.finish_time for row in world.simulation.finished.pods() if row.node}


async def test_pods_go_when_their_patience_is_over(tmp_path: Path) -> None:
    world, ended = await ends(tmp_path, [(10, 90)])
    assert ended == {"plain": 10, "short": 30, "long": 70, "ever": 100}
    told = [(event["involvedObject"]["name"], event["message"]) for event in world.server.list("events")]
    assert sorted(each for each in told if "deletion" in each[1]) == [
        (name, f"Marking for deletion Pod default/{name}") for name in ("long", "plain", "short")
    ]
    (event, *_) = [event for event in world.server.list("events") if event["reason"] == "TaintManagerEviction"]
    assert (event["source"]["component"], event["type"]) == ("taint-eviction-controller", "Normal")


async def test_a_taint_that_goes_again_in_time_costs_patient_pods_nothing(tmp_path: Path) -> None:
    world, ended = await ends(tmp_path, [(10, 25), (30, 45)])
    assert ended == {"plain": 10, "short": 100, "long": 100, "ever": 100}
    told = {event["message"] for event in world.server.list("events")}
    assert "Cancelling deletion of Pod default/short" in told


async def test_the_failure_of_a_host_makes_nobody_wait_for_the_patience_of_its_pods(tmp_path: Path) -> None:
    world = World(
        tmp_path, [8], delays({"id": "a"}, p=50), objects=[pod("one", duration="50")], sharing=True,
        controllers=Which.BUILTIN, external_events=outage(0, 10, 15),
    )  # fmt: skip
    await world.run(first_fit)
    assert world.time.now == 15
