"""Pods that clients of the API make run like jobs: how long, how often, and what becomes of the simulation."""

from pathlib import Path
from typing import Any

import pytest

from batkube.bridge.run_times import RunTimeRules
from batkube.startup.durations import read_durations
from tests.bridge.world import JSON, World, delays, first_fit, outage

NO_JOBS: JSON = {"jobs": [], "profiles": {"ten": {"type": "delay", "delay": 10}}}


def pod(
    name: str,
    *,
    policy: str = "Never",
    cpu: str = "1",
    namespace: str = "default",
    command: str = "",
    **annotations: str,
) -> JSON:
    container: JSON = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    if command:
        container["command"] = ["sh", "-c", command]
    notes = {f"batkube.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {
        "metadata": {"name": name, "namespace": namespace, "annotations": notes},
        "spec": {"restartPolicy": policy, "containers": [container]},
    }


async def play(folder: Path, *pods: JSON, cores: int = 8, workload: JSON = NO_JOBS, **options: Any) -> World:
    """Run a simulation of one node with these pods in it from the start."""
    world = World(folder, [cores], workload, sharing=True, objects=pods, **options)
    await world.run(first_fit)
    return world


def runs(world: World) -> list[tuple[str, str, float | None, float | None]]:
    """Return name, end, start and finish of each job, in order of their ends."""
    return [
        (job.name, job.life.state.value.removeprefix("COMPLETED_"), job.life.starting_time, job.life.finish_time)
        for job in world.simulation.control.ended
    ]


def phase(world: World, name: str, namespace: str = "default") -> str:
    return str(world.server.get("pods", name, namespace)["status"]["phase"])


async def test_a_pod_runs_as_long_as_its_annotation_says(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("one", duration="1m30s"), pod("two", duration="5", exit_code="3"))
    assert runs(world) == [("two", "FAILED", 0, 5), ("one", "SUCCESSFULLY", 0, 90)]
    assert (phase(world, "one"), phase(world, "two")) == ("Succeeded", "Failed")
    (status,) = world.server.get("pods", "two", "default")["status"]["containerStatuses"]
    assert status["state"]["terminated"]["exitCode"] == 3
    assert world.time.now == 90


async def test_a_pod_waits_for_room_like_any_job(tmp_path: Path) -> None:
    workload = delays({"id": "job", "cpu": 1}, p=10)
    world = await play(tmp_path, pod("one", duration="7"), cores=1, workload=workload)
    assert runs(world) == [("one", "SUCCESSFULLY", 0, 7), ("job", "SUCCESSFULLY", 7, 17)]
    (record,) = [row for row in world.simulation.finished.pods() if row.pod == "w0-job"]
    assert record.wait_no_capacity == 7


async def test_pods_of_one_name_in_two_namespaces_are_two(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("one", duration="5"), pod("one", namespace="kube-system", duration="6"))
    assert runs(world) == [("one", "SUCCESSFULLY", 0, 5), ("kube-system.one", "SUCCESSFULLY", 0, 6)]
    assert [(row.namespace, row.pod) for row in world.simulation.finished.pods()] == [
        ("default", "one"),
        ("kube-system", "kube-system/one"),
    ]
    assert phase(world, "one", "kube-system") == "Succeeded"


@pytest.mark.parametrize(
    ("command", "finish", "code"),
    [("sleep 20", 20, 0), ("sleep 1m 5; exit 4", 65, 4), ("echo hi && sleep 0.5h", 1800, 0), ("/bin/sleep 3s", 3, 0)],
)
async def test_a_command_that_sleeps_says_how_long(tmp_path: Path, command: str, finish: float, code: int) -> None:
    world = await play(tmp_path, pod("one", command=command))
    (job,) = world.simulation.control.ended
    assert (job.life.finish_time, job.life.return_code) == (finish, code)


async def test_rules_of_a_file_say_it_by_label_namespace_and_owner(tmp_path: Path) -> None:
    path = tmp_path / "durations.yaml"
    path.write_text(
        "rules:\n"
        "- {namespace: kube-system, duration: 2h}\n"
        "- {selector: 'app in (a, b)', duration: 30, exitCode: 9}\n"
        "- {owner: Job, duration: 1}\n"
        "- {duration: {exponential: {mean: 100}}}\n"
    )
    labelled = pod("a")
    labelled["metadata"]["labels"] = {"app": "b"}
    rules = RunTimeRules(read_durations(path))
    pods = [labelled, pod("system", namespace="kube-system"), pod("x"), pod("y")]
    world = await play(tmp_path / "1", *pods, run_times=rules)
    ends = {name: (state, finish) for name, state, _, finish in runs(world)}
    assert ends["a"] == ("FAILED", 30)
    assert ends["kube-system.system"] == ("SUCCESSFULLY", 7200)
    drawn = ends["x"][1], ends["y"][1]
    assert drawn[0] != drawn[1]
    again = await play(tmp_path / "2", *reversed(pods), run_times=rules)
    assert {name: (state, finish) for name, state, _, finish in runs(again)} == ends  # whatever the order of the pods


async def test_a_share_of_the_runs_fails(tmp_path: Path) -> None:
    path = tmp_path / "durations.yaml"
    path.write_text("rules: [{duration: 10, fail: 30%, exitCode: 5}]")
    pods = [pod(f"p{number}", cpu="10m") for number in range(100)]
    world = await play(tmp_path / "1", *pods, run_times=RunTimeRules(read_durations(path)))
    codes = [job.life.return_code for job in world.simulation.control.ended]
    assert set(codes) == {0, 5}
    assert 15 < codes.count(5) < 45


async def test_a_profile_of_a_workload_or_of_its_own_is_played(tmp_path: Path) -> None:
    own = '{"type": "parallel_homogeneous", "cpu": 3e9, "com": 0}'
    workload = delays({"id": "job", "cpu": 1, "profile": "ten"}, ten=10)
    world = await play(tmp_path, pod("named", profile="ten"), pod("own", profile=own), workload=workload)
    assert sorted(runs(world)) == [
        ("job", "SUCCESSFULLY", 0, 10), ("named", "SUCCESSFULLY", 0, 10), ("own", "SUCCESSFULLY", 0, 3),
    ]  # fmt: skip


async def test_a_pod_of_which_nothing_is_known_runs_to_the_end_and_the_user_is_warned_once(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("job", duration="20"), pod("x"), pod("y"))
    assert world.time.now == 20
    assert (phase(world, "x"), phase(world, "y")) == ("Running", "Running")
    (warning,) = world.simulation.warnings
    assert warning.startswith("pod default/x: nothing says how long it runs")
    rules = RunTimeRules(default=7.0)
    world = await play(tmp_path / "2", pod("job", duration="20"), pod("x"), run_times=rules)
    assert runs(world) == [("x", "SUCCESSFULLY", 0, 7), ("job", "SUCCESSFULLY", 0, 20)]
    assert not world.simulation.warnings


async def test_a_server_holds_its_node_and_the_simulation_does_not_wait_for_its_end(tmp_path: Path) -> None:
    workload = delays({"id": "job", "subtime": 5, "cpu": 2}, p=10)
    world = await play(tmp_path, pod("server", policy="Always"), cores=3, workload=workload)
    assert runs(world) == [("job", "SUCCESSFULLY", 5, 15)]
    assert (world.time.now, phase(world, "server")) == (15, "Running")
    assert (len(world.simulation.control.clients.stopped), world.simulation.control.submitted) == (1, 2)
    (record,) = [row for row in world.simulation.finished.pods() if row.pod == "server"]
    assert (record.phase, record.starting_time, record.finish_time) == ("Running", 0, None)


async def test_a_pod_that_nobody_places_does_not_keep_the_simulation_from_its_end(tmp_path: Path) -> None:
    world = World(tmp_path, [4], NO_JOBS, sharing=True, objects=[pod("job", duration="20"), pod("huge", cpu="100")])

    async def schedule(world: World) -> None:
        if any(each["metadata"]["name"] == "job" for each in world.waiting()):
            await world.bind("job", "h0")

    await world.run(schedule)
    assert runs(world) == [("job", "SUCCESSFULLY", 0, 20)]
    assert world.simulation.warnings == ["1 pods have no node, and nothing will happen that gives them one: huge"]
    assert world.simulation.control.submitted == 1


def restarts(world: World, name: str) -> tuple[int, JSON]:
    (status,) = world.server.get("pods", name, "default")["status"]["containerStatuses"]
    return status["restartCount"], status


async def test_a_process_that_fails_is_started_again_later_and_later(tmp_path: Path) -> None:
    crashing = pod("crash", policy="OnFailure", duration="5", exit_code="1")
    world = await play(tmp_path, crashing, pod("end", duration="1000"))
    starts = [start for name, _, start, _ in runs(world) if name.startswith("crash")]
    assert starts == [0, 5, 20, 45, 90, 175, 340, 645, 950]
    assert {state for name, state, _, _ in runs(world) if name.startswith("crash")} == {"FAILED"}
    (row,) = [row for row in world.simulation.finished.pods() if row.pod == "crash"]
    assert (row.job_id, row.phase) == ("pods!crash", "Running")


async def test_the_back_off_is_shown_as_a_kubelet_shows_it(tmp_path: Path) -> None:
    world = World(
        tmp_path,
        [4],
        NO_JOBS,
        sharing=True,
        objects=[pod("crash", policy="OnFailure", duration="5", exit_code="1")],
        until=30,
    )
    seen: list[tuple[float, int, str]] = []

    async def schedule(world: World) -> None:
        await first_fit(world)
        count, status = restarts(world, "crash") if world.time.now else (0, {"state": {"running": {}}})
        (state,) = status["state"]
        seen.append((world.time.now, count, state))
        if (world.time.now, state) == (10, "waiting"):
            assert status["state"]["waiting"]["message"].startswith(
                "back-off 10s restarting failed container=main pod=crash_default("
            )
            assert status["lastState"]["terminated"]["exitCode"] == 1

    await world.run(schedule)
    assert [told for told in dict.fromkeys(seen) if told[0] in (5, 10, 20)] == [
        (5, 1, "running"), (10, 1, "waiting"), (20, 2, "running"),
    ]  # fmt: skip


async def test_a_process_that_has_ended_well_is_started_again_where_the_policy_is_always(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("again", policy="Always", duration="600"), pod("end", duration="2000"))
    # Each run is longer than what a back-off is remembered for: it begins at once.
    assert [run[2] for run in runs(world) if run[0].startswith("again")] == [0, 600, 1200]


async def test_a_deadline_ends_a_pod_while_it_runs_or_backs_off(tmp_path: Path) -> None:
    runner = pod("runner", duration="100")
    runner["spec"]["activeDeadlineSeconds"] = 40
    crashing = pod("crash", policy="OnFailure", duration="5", exit_code="1")
    crashing["spec"]["activeDeadlineSeconds"] = 35
    world = await play(tmp_path, runner, crashing)
    for name, date in (("runner", 40), ("crash", 35)):
        status = world.server.get("pods", name, "default")["status"]
        assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
        (record,) = [row for row in world.simulation.finished.pods() if row.pod == name]
        assert (record.reason, record.finish_time) == ("DeadlineExceeded", date)
    assert world.time.now == 40


async def test_pods_that_are_deleted_free_their_nodes(tmp_path: Path) -> None:
    workload = delays({"id": "tick", "subtime": 3, "cpu": 1}, {"id": "later", "subtime": 4, "cpu": 2}, p=10)
    crashing = pod("crash", policy="OnFailure", duration="1", exit_code="1")
    world = World(tmp_path, [3], workload, sharing=True, objects=[pod("server", policy="Always"), crashing])

    async def schedule(world: World) -> None:
        if world.time.now == 3:
            for name in ("server", "crash"):
                await world.client.delete(f"/api/v1/namespaces/default/pods/{name}")
        await first_fit(world)

    await world.run(schedule)
    ends = {name: (state, start, finish) for name, state, start, finish in runs(world)}
    assert ends["server"] == ("KILLED", 0, 3)
    assert ends["later"] == ("SUCCESSFULLY", 4, 14)
    assert {each["metadata"]["name"] for each in world.server.list("pods")} == {"w0-tick", "w0-later"}
    assert world.simulation.control.clients.deleted == 1


async def test_a_pod_that_is_made_again_under_its_name_is_another_job(tmp_path: Path) -> None:
    workload = delays({"id": "tick", "subtime": 50, "cpu": 1}, p=1)
    world = World(tmp_path, [3], workload, sharing=True, objects=[pod("web-0", duration="10")])

    async def schedule(world: World) -> None:
        if world.time.now == 50 and world.server.get("pods", "web-0", "default")["status"]["phase"] == "Succeeded":
            await world.client.delete("/api/v1/namespaces/default/pods/web-0")
            world.server.create("pods", pod("web-0", duration="20"), "default")
        await first_fit(world)

    await world.run(schedule)
    assert runs(world) == [
        ("web-0", "SUCCESSFULLY", 0, 10), ("tick", "SUCCESSFULLY", 50, 51), ("web-0-2", "SUCCESSFULLY", 50, 70),
    ]  # fmt: skip
    rows = [(row.pod, row.job_id, row.phase) for row in world.simulation.finished.pods()]
    assert sorted(rows) == [
        ("w0-tick", "w0!tick", "Succeeded"),
        ("web-0", "pods!web-0", "Succeeded"),
        ("web-0", "pods!web-0-2", "Succeeded"),
    ]


async def test_a_node_without_room_fails_the_pod_as_a_kubelet_does(tmp_path: Path) -> None:
    big = pod("big", cpu="3", duration="10")
    late = pod("late", cpu="3", duration="10")
    late["spec"]["nodeName"] = "h0"
    world = World(tmp_path, [4], NO_JOBS, sharing=True, objects=[big])

    async def schedule(world: World) -> None:
        await first_fit(world)
        if world.server.store.get("pods", "default", "late") is None:
            world.server.create("pods", late, "default")

    await world.run(schedule)
    status = world.server.get("pods", "late", "default")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
    assert runs(world) == [("big", "SUCCESSFULLY", 0, 10)]


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        ({"duration": "soon"}, "batkube.io/duration: expected seconds or a length such as 1h30m"),
        ({"duration": "5", "exit_code": "many"}, "batkube.io/exit-code: expected a number from 0 to 255, not 'many'"),
        ({"profile": "none"}, "batkube.io/profile: no workload has a profile 'none'"),
        ({"profile": "{"}, "batkube.io/profile: "),
    ],
)
async def test_an_annotation_that_means_nothing_fails_the_pod_and_warns(
    tmp_path: Path, annotations: dict[str, str], why: str
) -> None:
    world = await play(tmp_path, pod("bad", **annotations), pod("good", duration="3"))
    assert runs(world) == [("good", "SUCCESSFULLY", 0, 3)]
    assert phase(world, "bad") == "Failed"
    (warning,) = world.simulation.warnings
    assert warning.startswith(f"pod default/bad: {why}")


async def test_it_goes_on_until_the_date_that_was_asked_for(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("one", duration="3"), until=500.0)
    assert world.time.now == 500
    workload = delays({"id": "long"}, p=1000)
    world = await play(tmp_path / "2", workload=workload, until=500.0)
    assert world.time.now == 1000


async def test_all_containers_have_a_status(tmp_path: Path) -> None:
    several = pod("several", duration="10")
    several["spec"]["containers"].append({"name": "two", "image": "app"})
    several["spec"]["initContainers"] = [
        {"name": "first", "image": "app"},
        {"name": "beside", "image": "app", "restartPolicy": "Always"},
    ]
    world = await play(tmp_path, several)
    status = world.server.get("pods", "several", "default")["status"]
    assert [each["name"] for each in status["containerStatuses"]] == ["main", "two"]
    assert [each["name"] for each in status["initContainerStatuses"]] == ["first", "beside"]
    ends = [
        each["state"]["terminated"]["reason"]
        for kind in ("containerStatuses", "initContainerStatuses")
        for each in status[kind]
    ]
    assert ends == ["Completed"] * 4


async def test_ended_pods_leave_the_api_where_few_are_kept(tmp_path: Path) -> None:
    pods = [pod(f"p{number}", duration=str(10 + number)) for number in range(5)]
    crashing = pod("crash", policy="OnFailure", duration="1", exit_code="1")
    crashing["spec"]["activeDeadlineSeconds"] = 12
    world = await play(tmp_path, *pods, crashing, keep_finished=2)
    assert len(world.server.list("pods")) <= 3
    rows = {row.pod: row.phase for row in world.simulation.finished.pods()}
    assert rows == {**{f"p{number}": "Succeeded" for number in range(5)}, "crash": "Failed"}
    names = [record.job_id for record in world.simulation.finished.records()]
    assert names == ["crash", "crash.run2", "p0", "p1", "p2", "p3", "p4"]


async def test_a_simulator_that_registers_no_jobs_is_told_of_in_a_warning(tmp_path: Path) -> None:
    world = World(
        tmp_path, [4], delays({"id": "job"}, p=10), sharing=True, objects=[pod("one", duration="5")], dynamic=False
    )
    await world.run(first_fit)
    assert [name for name, *_ in runs(world)] == ["job"]
    assert world.simulation.warnings == [
        "pods that clients make do not run: Batsim was started without --enable-dynamic-jobs"
    ]


async def test_a_pod_that_backs_off_begins_anew_when_its_host_is_back(tmp_path: Path) -> None:
    crashing = pod("crash", policy="OnFailure", duration="5", exit_code="1")
    world = World(
        tmp_path, [4], NO_JOBS, sharing=True, objects=[crashing], external_events=outage(0, 12, 100), until=200.0
    )
    await world.run(first_fit)
    # The third would have begun at 20; the host is back at 100, where no kubelet knows of a back-off.
    assert [run[2] for run in runs(world)][:3] == [0, 5, 100]


async def test_a_pod_that_comes_to_a_node_whose_host_has_failed_waits_for_it(tmp_path: Path) -> None:
    late = pod("late", duration="5")
    late["spec"]["nodeName"] = "h0"
    workload = delays({"id": "tick", "subtime": 50}, p=1)
    world = World(tmp_path, [4, 4], workload, sharing=True, external_events=outage(0, 10, 100))

    async def schedule(world: World) -> None:
        if world.time.now == 50 and world.server.store.get("pods", "default", "late") is None:
            world.server.create("pods", late, "default")
        await first_fit(world)

    await world.run(schedule)
    assert world.server.get("pods", "late", "default")["status"]["phase"] == "Succeeded"
    assert [(run[0], run[2]) for run in runs(world)] == [("tick", 50), ("late", 100)]
