"""Pods that take time to start and to end, between a real API server and the embedded simulator."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from batkube.batsim.external_events import ExternalEvent
from batkube.batsim.jobs import JobState
from batkube.batsim.platform import read_platform
from batkube.batsim.workload import parse_workload
from batkube.bridge.errors import InputError
from batkube.bridge.startup import Startup
from batkube.results.pods import PodRecord
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions
from batkube.startup.model import StartupModel
from tests.bridge import test_client_pods
from tests.bridge.world import World, delays, first_fit, outage

JSON = dict[str, Any]

STAGES = {"pulling": 0.5, "pulled": 1.0, "created": 0.25, "started": 0.25, "ended": 3.0}
"""Two seconds from binding to Running."""


def world(tmp_path: Path, hosts: int, workload: JSON, stages: JSON = STAGES) -> World:
    model = StartupModel.model_validate(stages)
    return World(tmp_path, [1] * hosts, workload, startup=Startup(model, seed=0))


def pods(world: World) -> dict[str, PodRecord]:
    return world.simulation.control.pods


def job_times(world: World) -> dict[str, tuple[float | None, float | None]]:
    return {job.name: (job.life.starting_time, job.life.finish_time) for job in world.simulation.control.jobs.values()}


async def test_constants_give_exact_dates(tmp_path: Path) -> None:
    """Two jobs, one host: the second is bound when the first one's pod has ended, not when its process has."""
    cluster = world(tmp_path, 1, delays({"id": "a"}, {"id": "b"}))
    await cluster.run(first_fit)
    assert job_times(cluster) == {"a": (2.0, 12.0), "b": (17.0, 27.0)}
    assert [(record.job_id, record.starting_time) for record in cluster.simulator.records] == [("a", 2.0), ("b", 17.0)]
    second = pods(cluster)["w0-b"]
    assert (second.bound_time, second.starting_time, second.finish_time) == (15.0, 17.0, 30.0)
    assert second.stages is not None
    assert (second.stages.pulling_time, second.stages.pulled_time) == (15.5, 16.5)
    assert (second.stages.container_created_time, second.stages.exit_time) == (16.75, 27.0)


async def test_a_gang_starts_when_its_last_pod_has(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("pod,pull\nw0-a-0,1\nw0-a-1,7.5\nw0-a-2,3\n")
    stages = {"pulled": {"trace": {"file": str(trace), "column": "pull"}}}
    cluster = world(tmp_path, 3, delays({"id": "a", "res": 3}), stages)
    await cluster.run(first_fit)
    assert [record.starting_time for record in pods(cluster).values()] == [1.0, 7.5, 3.0]
    assert job_times(cluster) == {"a": (7.5, 17.5)}


async def test_a_pod_that_starts_looks_as_a_kubelet_leaves_it(tmp_path: Path) -> None:
    cluster = world(tmp_path, 1, delays({"id": "a"}))
    seen: dict[float, JSON] = {}

    async def look(world: World) -> None:
        await first_fit(world)
        for pod in world.server.list("pods"):
            seen[world.time.now] = pod["status"]

    await cluster.run(look)
    starting, running, ended = seen[0.0], seen[2.0], seen[15.0]

    def conditions(status: JSON) -> dict[str, str]:
        return {condition["type"]: condition["status"] for condition in status["conditions"]}

    assert starting["phase"] == "Pending"
    assert starting["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert conditions(starting) == {
        "PodScheduled": "True", "Initialized": "True", "PodReadyToStartContainers": "False",
        "Ready": "False", "ContainersReady": "False",
    }  # fmt: skip
    unready = next(condition for condition in starting["conditions"] if condition["type"] == "Ready")
    assert (unready["reason"], unready["message"]) == (
        "ContainersNotReady", "containers with unready status: [job]",
    )  # fmt: skip
    assert running["phase"] == "Running"
    assert running["startTime"].startswith("1970-01-01T00:00:00")
    assert running["containerStatuses"][0]["state"] == {"running": {"startedAt": "1970-01-01T00:00:02Z"}}
    assert set(conditions(running).values()) == {"True"}
    assert ended["phase"] == "Succeeded"
    terminated = ended["containerStatuses"][0]["state"]["terminated"]
    assert (terminated["startedAt"], terminated["finishedAt"]) == ("1970-01-01T00:00:02Z", "1970-01-01T00:00:12Z")
    events = cluster.server.list("events")
    assert [(event["reason"], event["lastTimestamp"]) for event in events] == [
        ("Pulling", "1970-01-01T00:00:00Z"), ("Pulled", "1970-01-01T00:00:01Z"),
        ("Created", "1970-01-01T00:00:01Z"), ("Started", "1970-01-01T00:00:02Z"),
    ]  # fmt: skip
    assert "in 1s (1s including waiting)" in events[1]["message"]


def deletes(pod: str, at: float, grace: int) -> Callable[[World], Awaitable[None]]:
    """First fit, and ``pod`` is deleted at the first step from ``at`` on."""

    async def schedule(world: World) -> None:
        await first_fit(world)
        if world.time.now >= at and any(found["metadata"]["name"] == pod for found in world.server.list("pods")):
            url = f"/api/v1/namespaces/default/pods/{pod}?gracePeriodSeconds={grace}"
            assert (await world.client.delete(url)).status_code in (200, 202)

    return schedule


@pytest.mark.parametrize("grace", [0, 30])
async def test_a_pod_deleted_while_it_starts_never_executes(tmp_path: Path, grace: int) -> None:
    workload = delays({"id": "a"}, {"id": "b", "subtime": 1}, {"id": "c", "subtime": 20})
    cluster = world(tmp_path, 1, workload)
    await cluster.run(deletes("w0-a", 1.0, grace))
    assert cluster.states() == {
        "a": JobState.REJECTED,
        "b": JobState.COMPLETED_SUCCESSFULLY,
        "c": JobState.COMPLETED_SUCCESSFULLY,
    }
    # Its node is free at once.
    assert job_times(cluster)["b"] == (3.0, 13.0)
    assert [record.job_id for record in cluster.simulator.records if record.starting_time is not None] == ["b", "c"]


async def test_a_gang_with_a_pod_deleted_while_it_starts_never_executes(tmp_path: Path) -> None:
    cluster = world(tmp_path, 3, delays({"id": "a", "res": 3}, {"id": "b", "subtime": 1}))
    await cluster.run(deletes("w0-a-1", 1.0, 0))
    assert cluster.states() == {"a": JobState.REJECTED, "b": JobState.COMPLETED_SUCCESSFULLY}
    assert cluster.server.list("pods", field_selector="status.phase=Running") == []


@pytest.mark.parametrize("grace", [0, 30])
async def test_a_pod_deleted_while_it_ends_holds_its_node_to_its_end(tmp_path: Path, grace: int) -> None:
    cluster = world(tmp_path, 1, delays({"id": "a"}, {"id": "b", "subtime": 13}))
    await cluster.run(deletes("w0-a", 13.0, grace))
    assert job_times(cluster) == {"a": (2.0, 12.0), "b": (17.0, 27.0)}
    assert [pod["metadata"]["name"] for pod in cluster.server.list("pods")] == ["w0-b"]


async def test_the_walltime_counts_from_the_start_of_the_job(tmp_path: Path) -> None:
    cluster = world(tmp_path, 1, delays({"id": "a", "walltime": 5}))
    await cluster.run(first_fit)
    assert job_times(cluster) == {"a": (2.0, 7.0)}
    record = pods(cluster)["w0-a"]
    assert (record.phase, record.reason, record.finish_time) == ("Failed", "DeadlineExceeded", 10.0)


async def test_starts_and_ends_are_events_to_come(tmp_path: Path) -> None:
    """The run is not stuck while the only thing to come is a start, or a node that becomes free."""
    asked: list[float] = []
    cluster = world(tmp_path, 2, delays({"id": "a", "res": 2}, {"id": "b", "res": 2}))

    async def schedule(world: World) -> None:
        asked.append(world.time.now)
        await first_fit(world)

    await cluster.run(schedule)
    assert job_times(cluster) == {"a": (2.0, 12.0), "b": (17.0, 27.0)}
    assert {0.0, 2.0, 12.0, 15.0, 17.0} <= set(asked)


async def test_stages_that_take_no_time_change_no_date(tmp_path: Path) -> None:
    cluster = world(tmp_path, 2, delays(*({"id": str(index)} for index in range(4))), {"pulled": 0})
    await cluster.run(first_fit)
    assert sorted(start or 0.0 for start, _ in job_times(cluster).values()) == [0, 0, 10, 10]


async def test_a_delay_does_not_depend_on_other_pods(tmp_path: Path) -> None:
    stages = {"started": {"exponential": {"mean": 5}}}
    both, alone = tmp_path / "both", tmp_path / "alone"
    both.mkdir()
    alone.mkdir()
    many = world(both, 3, delays({"id": "a"}, {"id": "b"}, {"id": "c"}), stages)
    await many.run(first_fit)
    one = world(alone, 3, delays({"id": "c"}), stages)
    await one.run(first_fit)
    assert job_times(one)["c"] == job_times(many)["c"]
    assert len({start for start, _ in job_times(many).values()}) == 3


async def test_a_pod_that_its_trace_does_not_know_ends_the_run(tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("job_id,pull\nz,1\n")
    stages = {"pulled": {"trace": {"file": str(tmp_path / "trace.csv"), "column": "pull"}}}
    with pytest.raises(InputError, match=r"trace\.csv: no row has job_id a, which needs its pull"):
        await world(tmp_path, 1, delays({"id": "a"}), stages).run(first_fit)


async def test_a_job_whose_node_is_lost_while_it_starts_gets_new_pods(tmp_path: Path) -> None:
    workload = delays({"id": "a"})
    cluster = world(tmp_path, 2, workload)
    outage = ExternalEvent(timestamp=1.0, type="machine_unavailable", hosts=(0,), raw={})
    cluster.simulator = EmbeddedSimulator(
        read_platform(tmp_path / "platform.xml"),
        [parse_workload({"nb_res": 1, **workload})],
        SimulatorOptions(external_events=(outage,)),
    )

    async def schedule(world: World) -> None:
        for pod in world.waiting():
            node = "h0" if world.time.now == 0 else "h1"
            assert (await world.bind(pod["metadata"]["name"], node)).status_code == 201

    await cluster.run(schedule)
    assert pods(cluster)["w0-a"].node == "h1"
    assert job_times(cluster) == {"a": (3.0, 13.0)}


async def test_a_pod_that_is_made_anew_at_the_same_date_goes_through_its_stages_again(tmp_path: Path) -> None:
    """The one host goes and comes back at the date at which the pod is bound."""
    cluster = world(tmp_path, 1, delays({"id": "a", "subtime": 5}), {"pulled": 1})
    again: list[bool] = []

    async def schedule(cluster: World) -> None:
        await first_fit(cluster)
        if cluster.time.now == 5 and not again:
            again.append(True)
            cluster.simulation.settle()
            cluster.simulation.control.replace_pods(cluster.simulation.control.jobs["w0!a"], "the node was lost")
            await first_fit(cluster)

    await cluster.run(schedule)
    assert job_times(cluster) == {"a": (6.0, 16.0)}
    told = [event["reason"] for event in cluster.server.list("events") if event["reason"] == "Pulling"]
    assert len(told) == 2


async def test_a_pod_of_a_client_whose_host_fails_while_it_starts_starts_anew_when_that_is_back(tmp_path: Path) -> None:
    startup = Startup(StartupModel.model_validate(STAGES), seed=0)
    workload = delays({"id": "a", "subtime": 30})
    cluster = World(
        tmp_path,
        [1],
        workload,
        startup=startup,
        objects=[test_client_pods.pod("one", duration="5")],
        external_events=outage(0, 1, 20),
    )
    await cluster.run(first_fit)
    (record,) = [row for row in cluster.simulation.finished.pods() if row.pod == "one"]
    assert (record.phase, record.reason, record.starting_time) == ("Succeeded", "", 22.0)
    assert [job.name for job in cluster.simulation.control.ended] == ["one.run2", "a"]
    assert record.job_id == "pods!one.run2"
