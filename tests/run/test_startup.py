"""``--startup``: whole runs whose pods take time to start and to end."""

from collections.abc import Callable
from pathlib import Path

from tests.run.conftest import Batkube

ROOT = Path(__file__).parents[2]
STAGES = "pulling: 0.5\npulled: 1\ncreated: 0.25\nstarted: 0.25\nended: 3\n"


def test_a_run_with_start_up_times(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], scheduler: list[str], tmp_path: Path
) -> None:
    """Three jobs of 10 s, two of them of one host each, then one of both."""
    jobs = [
        {"id": "a", "subtime": 0, "res": 1, "profile": "p"},
        {"id": "b", "subtime": 0, "res": 1, "profile": "p"},
        {"id": "gang", "subtime": 1, "res": 2, "profile": "p"},
    ]
    model = tmp_path / "startup.yaml"
    model.write_text(STAGES)
    done = batkube(
        "-p", platform(2), "-w", workload(jobs, {"p": {"type": "delay", "delay": 10}}), "--startup", model, *scheduler
    )
    assert done.exit_code == 0, done.stderr
    assert {row["job_id"]: row["starting_time"] for row in done.rows("jobs.csv")} == {
        "a": "2.000000", "b": "2.000000", "gang": "17.000000",
    }  # fmt: skip
    pods = {row["pod"]: row for row in done.rows("pods.csv")}
    times = ("bound_time", "pulling_time", "pulled_time", "container_created_time", "starting_time", "exit_time")
    assert [float(pods["w0-gang-1"][name]) for name in (*times, "finish_time")] == [15, 15.5, 16.5, 16.75, 17, 27, 30]
    assert done.run["startup"]["path"] == str(model)
    assert done.run["simulated_seconds"] == 30
    told = [(event["time"], event["event"]) for event in done.events if event.get("pod") == "w0-gang-1"]
    assert told == [(15, "pod_bound"), (17, "pod_started"), (30, "pod_ended")]


def test_the_same_seed_gives_the_same_start_up_times(batkube: Batkube, tmp_path: Path) -> None:
    model = tmp_path / "startup.yaml"
    model.write_text("pulled: {lognormal: {median: 2, sigma: 1}}\nended: {exponential: {mean: 1}}\n")
    arguments = ["-p", ROOT / "platforms" / "small-cluster.xml", "-w", ROOT / "workloads" / "burst-then-trickle.json"]
    hashes = []
    for seed in (1, 1, 2):
        done = batkube(*arguments, "--startup", model, "--seed", seed)
        assert done.exit_code == 0, done.stderr
        hashes.append(done.run["events_sha256"])
    assert hashes[0] == hashes[1] != hashes[2]


def test_without_a_model_pods_start_and_end_at_once(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    jobs = [{"id": str(number), "subtime": 0, "res": 1, "profile": "p"} for number in range(2)]
    done = batkube("-p", platform(1), "-w", workload(jobs, {"p": {"type": "delay", "delay": 10}}))
    assert [row["starting_time"] for row in done.rows("jobs.csv")] == ["0.000000", "10.000000"]
    assert not {"pod_started", "pod_ended"} & {event["event"] for event in done.events}
    assert "pulling_time" not in done.rows("pods.csv")[0]
    assert done.run["startup"] is None


def test_a_wrong_model_is_told_before_anything_starts(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], tmp_path: Path
) -> None:
    model = tmp_path / "startup.yaml"
    model.write_text("pulled: 1\nstarted: {lognormal: {median: 0, sigma: 1}}\n")
    jobs = [{"id": "a", "subtime": 0, "res": 1, "profile": "p"}]
    done = batkube("-p", platform(1), "-w", workload(jobs, {"p": {"type": "delay", "delay": 10}}), "--startup", model)
    assert done.exit_code == 2
    assert done.stderr == (
        f"batkube: {model}: line 2: started.lognormal.median: Input should be greater than 0, not 0\n"
    )
    assert not done.out.exists()
