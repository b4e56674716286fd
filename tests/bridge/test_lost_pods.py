"""Hosts that fail: what the API shows of the pods of clients, and what becomes of them."""

from pathlib import Path
from typing import Any

from batkube.bridge.controller_settings import Which
from tests.bridge.test_client_pods import NO_JOBS, pod
from tests.bridge.test_membership import new_node, ticks
from tests.bridge.test_requeue import runs
from tests.bridge.world import JSON, World, delays, first_fit, outage


class Seen(World):
    """A world that keeps its pods and nodes, by date and name."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.seen: dict[float, dict[str, JSON]] = {}

    async def schedule(self, world: World) -> None:
        """Place pods, then look."""
        await first_fit(world)
        self.seen[self.time.now] = {
            each["metadata"]["name"]: each for each in (*self.server.list("pods"), *self.nodes())
        }


async def play(folder: Path, *pods: JSON, lasts: float, looks: tuple[float, ...] = (), **more: Any) -> Seen:
    """Play pods on a host that fails at 10, with looks at the cluster."""
    more = {"controllers": Which.BUILTIN, "until": 400.0, **more}
    world = Seen(
        folder, [8, 8], delays(*ticks(*looks)), sharing=True, objects=pods,
        external_events=outage(0, 10, 10 + lasts), **more,
    )  # fmt: skip
    await world.run(world.schedule)
    return world


def ready(obj: JSON) -> tuple[str, str]:
    (found,) = [each for each in obj["status"]["conditions"] if each["type"] == "Ready"]
    return found["status"], found["lastTransitionTime"][14:19]


def rows(world: World) -> dict[str, tuple[str, str, float | None, float]]:
    found = world.simulation.finished.pods()
    return {row.pod: (row.phase, row.reason, row.finish_time, row.lost_work) for row in found if row.node}


async def test_a_pod_whose_host_is_back_in_time_starts_again_or_fails_as_its_policy_says(tmp_path: Path) -> None:
    pods = [
        pod("always", policy="Always"),
        pod("again", policy="OnFailure", duration="50"),
        pod("never", duration="50"),
    ]
    world = await play(tmp_path, *pods, lasts=100, looks=(50, 111))
    for name in ("always", "again", "never"):
        shown = world.seen[50][name]
        assert (shown["status"]["phase"], ready(shown)) == ("Running", ("False", "00:10"))
        assert "running" in shown["status"]["containerStatuses"][0]["state"]
        assert "deletionTimestamp" not in shown["metadata"]
    lost = {"exitCode": 255, "reason": "Unknown", "startedAt": "1970-01-01T00:00:00Z"}
    lost["finishedAt"] = "1970-01-01T00:01:50Z"
    for name in ("always", "again"):
        (container,) = world.seen[111][name]["status"]["containerStatuses"]
        assert (container["restartCount"], container["lastState"]) == (1, {"terminated": lost})
        assert container["state"] == {"running": {"startedAt": "1970-01-01T00:01:50Z"}}
        assert ready(world.seen[111][name]) == ("True", "01:50")
    failed = world.seen[111]["never"]["status"]
    assert (failed["phase"], failed["containerStatuses"][0]["state"]) == ("Failed", {"terminated": lost})
    assert runs(world)[:3] == [("always", "KILLED", 0, 10), ("again", "KILLED", 0, 10), ("never", "KILLED", 0, 10)]
    assert ("again.run2", "SUCCESSFULLY", 110, 160) in runs(world)
    assert rows(world)["again"] == ("Succeeded", "", 160, 10)
    assert rows(world)["never"] == ("Failed", "NodeLost", 10, 10)


async def test_a_pod_that_is_deleted_meanwhile_stays_until_its_host_is_back(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("one", policy="Always"), lasts=350, looks=(309, 311, 359, 361))
    assert "deletionTimestamp" not in world.seen[309]["one"]["metadata"]
    assert world.seen[311]["one"]["metadata"]["deletionTimestamp"].endswith("00:05:40Z")
    assert world.seen[359]["one"]["status"]["phase"] == "Running"
    assert "one" not in world.seen[361]
    assert rows(world) == {"one": ("Failed", "NodeLost", 10, 10)}


async def test_a_failure_is_noticed_at_once_or_when_the_grace_is_over(tmp_path: Path) -> None:
    at_once = await play(tmp_path / "at-once", pod("one", policy="Always"), lasts=200, looks=(11,))
    later = await play(tmp_path / "later", pod("one", policy="Always"), lasts=200, looks=(11, 59, 61, 211), grace=50.0)
    assert ready(at_once.seen[11]["h0"]) == ("Unknown", "00:10")
    assert [taint["effect"] for taint in at_once.seen[11]["h0"]["spec"]["taints"]] == ["NoSchedule", "NoExecute"]
    assert ready(later.seen[59]["h0"]) == ("True", "00:00")
    assert ready(later.seen[61]["h0"]) == ("Unknown", "01:00")
    assert "taints" not in later.seen[211]["h0"]["spec"]


async def test_it_is_noticed_at_once_though_no_controllers_are_played(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("one", policy="Always"), lasts=350, looks=(11, 320), controllers=Which.NONE)
    assert ready(world.seen[11]["h0"])[0] == "Unknown"
    assert "deletionTimestamp" not in world.seen[320]["one"]["metadata"]  # there is nobody who would


async def test_a_job_that_is_bound_to_a_host_before_its_failure_is_noticed_gets_new_pods_then(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a", "subtime": 20}, {"id": "b", "subtime": 100, "res": 2, "cpu": 5}]
    world = World(
        tmp_path, [8, 8], delays(*jobs, *ticks(11), p=10), sharing=True, external_events=outage(0, 10, 200),
        controllers=Which.BUILTIN, grace=50.0,
    )  # fmt: skip
    await world.run(first_fit)
    ended = {job.name: (job.life.starting_time, job.hosts) for job in world.simulation.control.ended if job.hosts}
    assert ended == {"a": (60, [1]), "b": (200, [1, 0])}
    assert [event["time"] for event in world.logged() if event["event"] == "pods_replaced"] == [60]


async def test_a_job_that_is_bound_to_a_host_that_is_back_before_anybody_notices_starts_then(tmp_path: Path) -> None:
    world = World(
        tmp_path, [8], delays({"id": "a", "subtime": 20}, p=10), sharing=True, external_events=outage(0, 10, 30),
        controllers=Which.BUILTIN, grace=50.0,
    )  # fmt: skip
    await world.run(first_fit)
    assert runs(world) == [("a", "SUCCESSFULLY", 30, 40)]


async def test_a_node_that_is_created_again_starts_its_pods_again(tmp_path: Path) -> None:
    world = World(
        tmp_path, [8], delays(*ticks(10, 30)), sharing=True, objects=[pod("one", policy="OnFailure", duration="40")]
    )

    async def schedule(world: World) -> None:
        if world.time.now == 10 and world.nodes():
            world.server.delete("nodes", "h0")
        elif world.time.now == 30 and not world.nodes():
            world.server.create("nodes", new_node("h0"))
        await first_fit(world)

    await world.run(schedule)
    assert [run for run in runs(world) if not run[0].startswith("tick")] == [
        ("one", "KILLED", 0, 10), ("one.run2", "SUCCESSFULLY", 30, 70),
    ]  # fmt: skip
    assert world.server.get("pods", "one", "default")["status"]["phase"] == "Succeeded"


async def test_the_simulation_goes_on_for_a_pod_whose_host_will_be_back(tmp_path: Path) -> None:
    one = pod("one", policy="OnFailure", duration="40")
    world = World(tmp_path, [8], NO_JOBS, sharing=True, objects=[one], external_events=outage(0, 10, 5000))
    await world.run(first_fit)
    assert runs(world)[-1] == ("one.run2", "SUCCESSFULLY", 5000, 5040)
