"""The real use of pods: phases over time, ``usage.csv``, ``kubectl top``, and the end of those that use too much."""

from dataclasses import asdict
from pathlib import Path

import pytest

from batkube.bridge.occupancy import UNIT
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.usage_phases import read_usage
from batkube.live.usage import serve_usage
from batkube.results.frames import write_parquet
from batkube.results.result import Result
from batkube.results.usage import USAGE, UsageRow, read_usage_csv
from batkube.startup.durations import read_durations
from tests.bridge.test_client_pods import NO_JOBS, pod, runs
from tests.bridge.world import JSON, World, delays, first_fit

GI = 2**30
OOM = RunTimeRules(oom_killer=True)


def phases(text: str, cpu: float = 2, memory: int = GI) -> list[tuple[float, float, int]]:
    usage = read_usage(text, int(cpu * UNIT), memory * UNIT)
    return [(phase.since, phase.cpu / UNIT, phase.memory // UNIT) for phase in usage.phases]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu=500m,memory=2Gi", [(0, 0.5, 2 * GI)]),
        ("0s cpu=1; 10m memory=50%; 1h cpu=150%", [(0, 1, GI), (600, 1, GI // 2), (3600, 3, GI // 2)]),
        ("90 cpu=0", [(0, 2, GI), (90, 0, GI)]),
    ],
)
def test_phases_say_what_is_used_from_when_on(text: str, expected: list[tuple[float, float, int]]) -> None:
    assert phases(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "expected phases such as"),
        ("10m", "expected phases such as"),
        ("cpu=1; soon cpu=2", "expected seconds or a length"),
        ("cpu=1; 0 cpu=2", "phases must be in order"),
        ("disk=1", "expected phases such as .* not 'disk=1'"),
        ("cpu=many", "expected a quantity such as 500m, 1Gi or 80%, not 'many'"),
        ("memory=-1Gi", "must not be negative"),
    ],
)
def test_what_is_no_phase_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        phases(text)


def heavy(name: str, usage: str, *, policy: str = "Never", memory: str = "", limit: str = "", **notes: str) -> JSON:
    made = pod(name, policy=policy, usage=usage, **notes)
    resources = made["spec"]["containers"][0]["resources"]
    if memory:
        resources["requests"]["memory"] = memory
    if limit:
        resources["limits"] = {"memory": limit}
    return made


async def play(folder: Path, *pods: JSON, workload: JSON = NO_JOBS, run_times: RunTimeRules | None = None) -> World:
    """Run these pods on a node with a tebibyte."""
    world = World(folder, [8], workload, sharing=True, objects=pods, run_times=run_times)
    await world.run(first_fit)
    world.simulation.close()
    return world


async def test_the_use_of_a_node_is_in_a_file_beside_what_is_requested(tmp_path: Path) -> None:
    workload = delays({"id": "job", "subtime": 5, "cpu": 2, "memory": "4Gi"}, p=10)
    one = heavy("one", "cpu=250m,memory=1Gi; 10 cpu=2", memory="2Gi", duration="20")
    await play(tmp_path, one, workload=workload)
    assert list(read_usage_csv(tmp_path / "usage.csv")) == [
        UsageRow(0, "h0", 1, 1, 0.25, 2 * GI, GI),
        UsageRow(5, "h0", 2, 3, 2.25, 6 * GI, 5 * GI),
        UsageRow(10, "h0", 2, 3, 4, 6 * GI, 5 * GI),
        UsageRow(15, "h0", 1, 1, 2, 2 * GI, GI),
        UsageRow(20, "h0", 0, 0, 0, 0, 0),
    ]


async def test_it_is_a_table_like_others(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    parquet = pytest.importorskip("pyarrow.parquet")
    none = Result(tmp_path / "none")
    assert (none.usage_rows, len(none.usage), len(none.to_polars("usage"))) == ([], 0, 0)
    await play(tmp_path, heavy("one", "cpu=250m", duration="20"))
    result = Result(tmp_path)
    write_parquet(tmp_path / "usage.csv", tmp_path / "usage.parquet", USAGE)
    table = parquet.read_table(tmp_path / "usage.parquet").to_pylist()
    assert table == result.to_polars("usage").to_dicts() == [asdict(row) for row in result.usage_rows]
    assert list(result.usage.cpu_used) == [0.25, 0]


async def test_there_is_no_file_where_nobody_says_what_it_uses(tmp_path: Path) -> None:
    await play(tmp_path, pod("one", duration="20"))
    assert not (tmp_path / "usage.csv").exists()


async def test_a_job_may_say_what_its_pods_use(tmp_path: Path) -> None:
    workload = delays({"id": "job", "batkube": {"cpu": 2, "usage": "cpu=50%; 4 cpu=1500m"}}, p=10)
    await play(tmp_path, workload=workload)
    used = [(row.time, row.cpu_requested, row.cpu_used) for row in read_usage_csv(tmp_path / "usage.csv")]
    assert used == [(0, 2, 1), (4, 2, 1.5), (10, 0, 0)]


async def test_rules_say_it_for_pods_that_do_not(tmp_path: Path) -> None:
    path = tmp_path / "durations.yaml"
    path.write_text(
        "rules:\n"
        "- {selector: app=web, usage: cpu=25%; 10 cpu=3}\n"
        "- {namespace: default, duration: 20}\n"
        "- {duration: 30, usage: cpu=0}\n"
    )
    web, own, other = pod("web"), pod("own", usage="cpu=75%"), pod("other", namespace="kube-system")
    web["metadata"]["labels"] = own["metadata"]["labels"] = {"app": "web"}
    workload = delays({"id": "job", "cpu": 1, "labels": {"app": "web"}}, p=5)
    rules = RunTimeRules(read_durations(path))
    world = await play(tmp_path, web, own, other, workload=workload, run_times=rules)
    used = [(row.time, row.cpu_requested, row.cpu_used) for row in read_usage_csv(tmp_path / "usage.csv")]
    # a job of a workload uses what it requests
    assert used == [(0, 4, 2), (5, 3, 1), (10, 3, 3.75), (20, 1, 0), (30, 0, 0)]
    assert {name: finish for name, _, _, finish in runs(world)} == {
        "job": 5,
        "web": 20,
        "own": 20,
        "kube-system.other": 30,
    }


async def test_kubectl_top_shows_it(tmp_path: Path) -> None:
    workload = delays({"id": "tick", "subtime": 12, "cpu": 1, "memory": "1Gi"}, p=1)
    one = heavy("one", "cpu=250m,memory=1Gi; 10 cpu=2", duration="20")
    world = World(tmp_path, [8], workload, sharing=True, objects=[one])
    serve_usage(world.server, world.time.rfc3339)
    seen: dict[float, tuple[JSON, JSON]] = {}

    async def schedule(world: World) -> None:
        await first_fit(world)
        root = "/apis/metrics.k8s.io/v1beta1"
        pods = (await world.client.get(f"{root}/namespaces/default/pods")).json()["items"]
        (node,) = (await world.client.get(f"{root}/nodes")).json()["items"]
        if pods:
            seen[world.time.now] = {each["metadata"]["name"]: each for each in pods}["one"], node["usage"]

    await world.run(schedule)
    of_pod, of_node = seen[12]
    assert of_pod["containers"] == [{"name": "main", "usage": {"cpu": "2000m", "memory": f"{GI // 1024}Ki"}}]
    assert of_node == {"cpu": "3000m", "memory": f"{2 * GI // 1024}Ki"}


def kills(world: World) -> dict[str, tuple[str, float | None]]:
    return {row.pod: (row.reason, row.finish_time) for row in world.simulation.finished.pods()}


async def test_the_kernel_kills_the_one_of_the_lowest_class_that_is_most_over_its_request(tmp_path: Path) -> None:
    pods = [
        heavy("guaranteed", "memory=1Gi; 30 memory=500Gi", memory="500Gi", limit="500Gi", duration="100"),
        heavy("small", "memory=10Gi", memory="1Gi", duration="100"),
        heavy("large", "memory=1Gi; 20 memory=300Gi", memory="100Gi", duration="100"),
        heavy("free", "memory=1Gi; 10 memory=400Gi", duration="100"),
    ]
    pods[0]["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "1"
    del pods[3]["spec"]["containers"][0]["resources"]["requests"]
    world = await play(tmp_path, *pods, run_times=OOM)
    # At 30 they are at 1210 of 1024 GiB: the pod without requests goes first, and that is enough.
    assert kills(world) == {"guaranteed": ("", 100), "small": ("", 100), "large": ("", 100), "free": ("OOMKilled", 30)}
    status = world.server.get("pods", "free", "default")["status"]
    ends = status["containerStatuses"][0]["state"]["terminated"]
    assert (status["phase"], ends["reason"], ends["exitCode"]) == ("Failed", "OOMKilled", 137)
    (event,) = [each for each in world.server.list("events") if each["reason"] == "SystemOOM"]
    assert event["message"] == "System OOM encountered, victim process: main, pid: 1"
    assert event["involvedObject"]["name"] == "h0"


async def test_nothing_is_killed_unless_it_is_asked_for(tmp_path: Path) -> None:
    world = await play(tmp_path, heavy("one", "memory=2Ti", duration="10"))
    assert kills(world) == {"one": ("", 10)}


async def test_a_container_over_its_limit_is_killed_and_started_again_by_its_policy(tmp_path: Path) -> None:
    over = heavy("one", "memory=1Gi; 5 memory=3Gi", policy="OnFailure", limit="2Gi", duration="100")
    over["spec"]["activeDeadlineSeconds"] = 60
    world = await play(tmp_path, over, run_times=OOM)
    assert [(name, start, finish) for name, _, start, finish in runs(world)] == [
        ("one", 0, 5), ("one.run2", 5, 10), ("one.run3", 20, 25), ("one.run4", 45, 50),
    ]  # fmt: skip
    (told,) = world.server.get("pods", "one", "default")["status"]["containerStatuses"]
    assert (told["restartCount"], told["lastState"]["terminated"]["reason"]) == (3, "OOMKilled")
    assert not [each for each in world.server.list("events") if each["reason"] == "SystemOOM"]


async def test_one_that_is_killed_each_time_keeps_no_simulation_going(tmp_path: Path) -> None:
    world = await play(tmp_path, heavy("one", "memory=2Ti", policy="OnFailure", duration="100"), run_times=OOM)
    assert len(runs(world)) > 20
    assert world.time.now < 10_000


async def test_a_job_is_killed_with_its_pod(tmp_path: Path) -> None:
    workload = delays({"id": "job", "batkube": {"cpu": 2, "usage": "memory=1Gi; 4 memory=2Ti"}}, p=10)
    world = await play(tmp_path, workload=workload, run_times=OOM)
    assert runs(world) == [("job", "KILLED", 0, 4)]
    assert kills(world) == {"w0-job": ("OOMKilled", 4)}


async def test_an_annotation_that_means_nothing_fails_the_pod(tmp_path: Path) -> None:
    world = await play(tmp_path, heavy("one", "much", duration="10"))
    assert world.simulation.warnings[0].startswith("pod one: batkube.io/usage: expected phases such as")
    assert kills(world)["one"][0] == "InvalidSimulation"
