"""Init containers of pods that clients make: in order, for as long as they take, with a kubelet's statuses."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from batkube.bridge.errors import Stuck
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.startup import Startup
from batkube.startup.durations import read_durations
from batkube.startup.model import StartupModel
from tests.bridge.test_client_pods import NO_JOBS, phase, pod, runs
from tests.bridge.world import JSON, World, delays, first_fit, outage


def container(name: str, command: str = "", **more: Any) -> JSON:
    words = {"command": ["sh", "-c", command]} if command else {}
    return {"name": name, "image": "app", **words, **more}


def with_init(given: JSON, *containers: JSON) -> JSON:
    given["spec"]["initContainers"] = list(containers)
    return given


class Seen(World):
    """A world that keeps the statuses of a pod."""

    def __init__(self, folder: Path, *pods: JSON, name: str = "one", cores: int = 8, **options: Any) -> None:
        super().__init__(folder, [cores], options.pop("workload", NO_JOBS), sharing=True, objects=pods, **options)
        self.statuses: dict[float, JSON] = {}
        """The last status at each date."""

        def keep(change: Any) -> None:
            metadata = change.object["metadata"]
            if change.resource.storage == "pods" and metadata["name"] == name:
                self.statuses[self.time.now] = change.object["status"]

        self.server.subscribe(keep)

    async def play(self) -> "Seen":
        await self.run(first_fit)
        return self


def states(status: JSON, kind: str = "initContainerStatuses") -> list[str]:
    """Return the state of each container, with its reason."""
    told = []
    for each in status[kind]:
        ((state, detail),) = each["state"].items()
        told.append(detail.get("reason", state))
    return told


def condition(status: JSON, kind: str) -> tuple[str, str, str]:
    (found,) = [each for each in status["conditions"] if each["type"] == kind]
    return found["status"], found.get("reason", ""), found.get("message", "")


def three() -> Sequence[JSON]:
    return container("a", "sleep 10"), container("beside", restartPolicy="Always"), container("b", "sleep 5")


async def test_init_containers_run_one_after_the_other_and_then_the_process(tmp_path: Path) -> None:
    given = with_init(pod("one", duration="100"), *three())
    world = await Seen(tmp_path, given, workload=delays({"id": "two", "cpu": 8}, p=1)).play()
    assert runs(world) == [("one", "SUCCESSFULLY", 15, 115), ("two", "SUCCESSFULLY", 115, 116)]  # it holds its node
    at = world.statuses
    assert [at[date]["phase"] for date in (0, 10, 15, 115)] == ["Pending", "Pending", "Running", "Succeeded"]
    assert states(at[0]) == ["running", "PodInitializing", "PodInitializing"]
    assert states(at[10]) == ["Completed", "running", "running"]
    assert states(at[15]) == ["Completed", "running", "Completed"]
    assert states(at[115]) == ["Completed", "Completed", "Completed"]
    assert states(at[10], "containerStatuses") == ["PodInitializing"]
    incomplete = "containers with incomplete status: [a beside b]"
    assert condition(at[0], "Initialized") == ("False", "ContainersNotInitialized", incomplete)
    assert condition(at[10], "Initialized")[2] == "containers with incomplete status: [b]"
    assert condition(at[15], "Initialized")[0] == "True"
    dates = [
        [each["state"]["terminated"][key][-6:] for key in ("startedAt", "finishedAt")]
        for each in at[115]["initContainerStatuses"]
    ]
    assert dates == [["00:00Z", "00:10Z"], ["00:10Z", "01:55Z"], ["00:10Z", "00:15Z"]]
    (row,) = [row for row in world.simulation.finished.pods() if row.pod == "one"]
    assert (row.bound_time, row.starting_time, row.finish_time) == (0, 15, 115)


async def test_annotations_and_rules_say_how_long_each_takes(tmp_path: Path) -> None:
    path = tmp_path / "durations.yaml"
    path.write_text("rules: [{container: b, duration: 7}, {container: c, duration: 70}, {duration: 30}]")
    notes = {"duration.a": "3", "duration.c": "4"}
    given = with_init(pod("one", **notes), container("a", "sleep 50"), container("b"), container("c"), container("d"))
    world = await Seen(tmp_path / "1", given, run_times=RunTimeRules(read_durations(path))).play()
    assert runs(world) == [("one", "SUCCESSFULLY", 14, 44)]


async def test_start_up_comes_first(tmp_path: Path) -> None:
    given = with_init(pod("one", duration="100"), container("a", "sleep 10"))
    startup = Startup(StartupModel.model_validate({"pulling": 1, "pulled": 2}), seed=0)
    world = await Seen(tmp_path, given, startup=startup).play()
    assert runs(world) == [("one", "SUCCESSFULLY", 13, 113)]


async def test_one_that_fails_fails_the_pod_where_nothing_is_started_again(tmp_path: Path) -> None:
    given = with_init(pod("one", duration="100"), container("a", "sleep 10; exit 3"), container("b"))
    world = await Seen(tmp_path, given, workload=delays({"id": "two", "cpu": 8}, p=1)).play()
    assert runs(world) == [("two", "SUCCESSFULLY", 10, 11)]
    status = world.statuses[10]
    assert (status["phase"], states(status)) == ("Failed", ["Error", "PodInitializing"])
    assert status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 3
    assert states(status, "containerStatuses") == ["PodInitializing"]
    assert condition(status, "Ready")[:2] == ("False", "PodFailed")
    (row,) = [row for row in world.simulation.finished.pods() if row.pod == "one"]
    assert (row.phase, row.reason, row.starting_time, row.finish_time) == ("Failed", "Init:Error", None, 10)


async def test_one_that_fails_is_started_again_later_and_later(tmp_path: Path) -> None:
    given = with_init(pod("one", policy="OnFailure", duration="100"), container("a", "sleep 5; exit 1"))
    world = await Seen(tmp_path, given, pod("end", duration="60")).play()
    at = world.statuses
    assert world.time.now == 90  # nobody waits for it: the restart that was planned then is the last
    assert [date for date in at if states(at[date]) == ["running"]] == [0, 5, 20, 45, 90]
    assert [date for date in at if states(at[date]) == ["CrashLoopBackOff"]] == [10, 25, 50]
    (told,) = at[50]["initContainerStatuses"]
    assert (told["restartCount"], told["lastState"]["terminated"]["exitCode"]) == (3, 1)
    assert told["state"]["waiting"]["message"].startswith("back-off 40s restarting failed container=a pod=one_default(")
    (row,) = [row for row in world.simulation.finished.pods() if row.pod == "one"]
    assert (row.phase, row.starting_time, row.finish_time) == ("Pending", None, None)


async def test_a_deadline_counts_from_the_start_of_the_first(tmp_path: Path) -> None:
    early, late = (with_init(pod(name, duration="100"), container("a", "sleep 10")) for name in ("one", "late"))
    early["spec"]["activeDeadlineSeconds"], late["spec"]["activeDeadlineSeconds"] = 7, 40
    world = await Seen(tmp_path, early, late).play()
    status = world.statuses[7]
    assert (status["phase"], status["reason"], states(status)) == ("Failed", "DeadlineExceeded", ["Error"])
    assert runs(world) == [("late", "WALLTIME_REACHED", 10, 40)]
    assert phase(world, "late") == "Failed"


async def test_a_pod_may_be_deleted_or_lose_its_node_before_it_runs(tmp_path: Path) -> None:
    workload = delays({"id": "tick", "subtime": 3, "cpu": 1}, p=10)
    pods = [with_init(pod(name, duration="100"), container("a", "sleep 10")) for name in ("one", "two")]
    world = World(tmp_path, [4], workload, sharing=True, objects=pods, external_events=outage(0, 5, 8))

    async def schedule(world: World) -> None:
        if world.time.now == 3:
            await world.client.delete("/api/v1/namespaces/default/pods/one")
        await first_fit(world)

    await world.run(schedule)
    ends = {row.pod: (row.phase, row.reason, row.finish_time) for row in world.simulation.finished.pods()}
    assert (ends["one"], ends["two"]) == (("Failed", "Deleted", 3), ("Failed", "NodeLost", 5))


async def test_containers_end_each_at_its_own_time(tmp_path: Path) -> None:
    given = pod("one")
    given["spec"]["containers"] = [container("a", "sleep 10; exit 4"), container("b", "sleep 30")]
    world = await Seen(tmp_path, given).play()
    assert runs(world) == [("one", "FAILED", 0, 30)]
    at = world.statuses
    assert (at[10]["phase"], states(at[10], "containerStatuses")) == ("Running", ["Error", "running"])
    assert condition(at[10], "Ready") == ("False", "ContainersNotReady", "containers with unready status: [a]")
    assert [each["ready"] for each in at[10]["containerStatuses"]] == [False, True]
    ends = [each["state"]["terminated"] for each in at[30]["containerStatuses"]]
    assert [(each["exitCode"], each["finishedAt"][-6:]) for each in ends] == [(4, "00:10Z"), (0, "00:30Z")]
    assert at[30]["phase"] == "Failed"


async def test_one_container_may_be_given_a_length_beside_others(tmp_path: Path) -> None:
    given = pod("one", **{"duration": "40", "duration.b": "15"})
    given["spec"]["containers"].append(container("b"))
    world = await Seen(tmp_path, given).play()
    assert runs(world) == [("one", "SUCCESSFULLY", 0, 40)]
    assert states(world.statuses[15], "containerStatuses") == ["running", "Completed"]


@pytest.mark.parametrize(
    ("notes", "why"),
    [
        ({"duration.a": "soon"}, "batkube.io/duration.a: expected seconds or a length such as 1h30m"),
        ({"duration.a": "1", "exit_code.a": "x"}, "batkube.io/exit-code.a: expected a number from 0 to 255, not 'x'"),
        ({"duration.main": "1", "profile": "ten"}, "batkube.io/profile: its containers have durations of their own"),
    ],
)
async def test_what_cannot_be_read_fails_the_pod(tmp_path: Path, notes: dict[str, str], why: str) -> None:
    world = await Seen(tmp_path, with_init(pod("one", **notes), container("a"))).play()
    assert phase(world, "one") == "Failed"
    assert world.simulation.warnings[-1].startswith(f"pod default/one: {why}")


def job_with(*containers: JSON, policy: str = "Never", **more: Any) -> JSON:
    """Return a job of a workload whose pods have init containers."""
    spec = {"initContainers": list(containers), "restartPolicy": policy}
    return {"id": "a", "batkube": {"cpu": 1, "pod": {"spec": spec}}, **more}


async def test_a_job_starts_when_the_init_containers_of_all_its_pods_are_done(tmp_path: Path) -> None:
    job = job_with(container("first", "sleep 5"), container("beside", restartPolicy="Always"), res=2, walltime=8)

    async def one_by_one(world: World) -> None:
        waiting = [pod["metadata"]["name"] for pod in world.waiting()]
        if waiting and (len(waiting) == 2 or world.time.now >= 3):
            await world.bind(waiting[0], "h0")

    tick = {"id": "tick", "subtime": 3, "cpu": 1000}
    world = Seen(tmp_path, workload=delays(job, tick, p=10), name="w0-a-0")
    await world.run(one_by_one)
    assert [row for row in runs(world) if row[0] == "a"] == [("a", "WALLTIME_REACHED", 8, 16)]
    at = world.statuses
    assert states(at[0]) == ["running", "PodInitializing"]
    assert (states(at[5]), at[5]["phase"]) == (["Completed", "running"], "Pending")
    assert condition(at[5], "Initialized")[0] == "True"
    assert at[8]["phase"] == "Running"
    ends = [(event["time"], event["pod"]) for event in world.logged() if event["event"] == "init_container_ended"]
    assert ends == [(5, "w0-a-0"), (8, "w0-a-1")]


@pytest.mark.parametrize(
    ("command", "policy", "reason"),
    [
        ("sleep 3; exit 4", "Never", "pod w0-a: init container first has failed with exit code 4"),
        ("sleep 1; exit 2", "OnFailure", "pod w0-a: init container first has failed with exit code 2"),
    ],
)
async def test_a_job_whose_init_container_fails_is_rejected(
    tmp_path: Path, command: str, policy: str, reason: str
) -> None:
    jobs = job_with(container("first", command), policy=policy), {"id": "b", "cpu": 8}
    world = await Seen(tmp_path, workload=delays(*jobs, p=10)).play()
    assert {name: state for name, state, *_ in runs(world)} == {"a": "REJECTED", "b": "SUCCESSFULLY"}
    assert world.simulation.control.rejections == {"w0!a": reason}


async def test_a_job_whose_init_container_never_ends_is_stuck(tmp_path: Path) -> None:
    world = Seen(tmp_path, workload=delays(job_with(container("first", "sleep infinity"))))
    with pytest.raises(Stuck, match="job w0!a: pod w0-a: init container first runs for ever"):
        await world.play()


async def test_jobs_begin_their_init_containers_anew_where_their_node_is_lost(tmp_path: Path) -> None:
    job = job_with(container("first", "sleep 20"))
    world = World(tmp_path, [8], delays(job, p=10), sharing=True, external_events=outage(0, 5, 7))
    await world.run(first_fit)
    assert runs(world) == [("a", "SUCCESSFULLY", 27, 37)]


async def test_init_containers_of_jobs_come_after_the_start_up_of_their_pods(tmp_path: Path) -> None:
    startup = Startup(StartupModel.model_validate({"pulled": 2}), seed=0)
    job = job_with(container("first", "sleep 20"), res=2)
    world = World(tmp_path, [8], delays(job, p=10), sharing=True, startup=startup)
    await world.run(first_fit)
    assert runs(world) == [("a", "SUCCESSFULLY", 22, 32)]


async def test_a_pod_of_a_job_that_is_deleted_as_it_initializes_takes_its_job_along(tmp_path: Path) -> None:
    jobs = job_with(container("first", "sleep 20")), {"id": "b", "subtime": 4, "cpu": 8}
    world = World(tmp_path, [8], delays(*jobs, p=10), sharing=True)

    async def delete(world: World) -> None:
        await first_fit(world)
        if world.time.now == 4:
            await world.client.delete("/api/v1/namespaces/default/pods/w0-a")

    await world.run(delete)
    assert {(name, state, start) for name, state, start, _ in runs(world)} == {
        ("a", "REJECTED", None),
        ("b", "SUCCESSFULLY", 4),
    }
