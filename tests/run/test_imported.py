"""``batkube run`` on workloads in other formats than Batsim's."""

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Batkube

TABLE = "submit,duration,count,cpu,user,queue\n0,100,2,2,ada,short\n5,0,1,1,ada,short\n10,50,1,2,bob,long\n"
LOG = "1 0 -1 100 2 -1 -1 6 -1 -1 1 1 1 1 1 1 -1 -1\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three rows, one of which is no job."""
    path = tmp_path / "jobs.csv"
    path.write_text(TABLE)
    return path


def test_a_table_is_run_and_the_record_names_the_original(
    batkube: Batkube, platform: Callable[..., Path], table: Path
) -> None:
    done = batkube("-p", platform(2, cores=2), "-w", table, "--enable-compute-sharing")
    assert done.exit_code == 0, done.stderr
    left_out = f"{table}: 1 of 3 records are left out: 1 last 0 seconds"
    assert left_out in done.stderr
    assert left_out in done.run["warnings"]
    assert done.run["workloads"] == [
        {
            "path": str(table),
            "sha256": hashlib.sha256(table.read_bytes()).hexdigest(),
            "format": "csv",
            "jobs": 2,
            "skipped": {"last 0 seconds": 1},
        }
    ]
    ends = {row["job_id"]: float(row["finish_time"]) for row in done.rows("jobs.csv")}
    assert ends == {"1": 100, "3": 150}  # all cores are taken until then
    assert {(row["user"], row["queue"]) for row in done.rows("pods.csv")} == {("ada", "short"), ("bob", "long")}


def test_the_workload_that_was_made_runs_alike(
    batkube: Batkube, platform: Callable[..., Path], table: Path, tmp_path: Path
) -> None:
    options = ["-p", platform(2, cores=2), "--enable-compute-sharing"]
    done = batkube(*options, "-w", table)
    made = tmp_path / "made.json"
    made.write_bytes((done.out / "imported-w0.json").read_bytes())
    jobs = (done.out / "jobs.csv").read_bytes()
    again = batkube(*options, "-w", made)
    assert (again.out / "jobs.csv").read_bytes() == jobs
    assert not (again.out / "imported-w0.json").exists()  # nothing of an earlier run stays


def test_jitter_moves_imported_jobs_too(batkube: Batkube, platform: Callable[..., Path], table: Path) -> None:
    done = batkube("-p", platform(2, cores=2), "-w", table, "--enable-compute-sharing", "--jitter", 5)
    assert done.exit_code == 0, done.stderr
    jobs = json.loads((done.out / "jittered-w0.json").read_text())["jobs"]
    assert [0 < job["subtime"] - date < 5 for job, date in zip(jobs, (0, 10), strict=True)] == [True, True]
    assert done.run["workloads"][0]["path"] == str(table)


def test_a_packed_log_is_packed_into_cores_of_the_hosts(
    batkube: Batkube, platform: Callable[..., Path], tmp_path: Path
) -> None:
    log = tmp_path / "log.gz"
    log.write_bytes(gzip.compress(LOG.encode()))
    done = batkube("-p", platform(2, cores=4), "-w", log, "--packing", "cores", "--enable-compute-sharing")
    assert done.exit_code == 0, done.stderr
    assert [row["cpu"] for row in done.rows("pods.csv")] == ["3.000000"] * 2


def test_bad_input_is_told_in_a_line(batkube: Batkube, platform: Callable[..., Path], table: Path) -> None:
    table.write_text("submit,duration\n0,1\n0,soon\n")
    done = batkube("-p", platform(2), "-w", table)
    assert done.exit_code == 2
    assert done.stderr == f"batkube: {table}: line 3: duration: expected seconds, or such as 1h30m, not 'soon'\n"
    done = batkube("-p", platform(2), "-w", table, "--format", "swf")
    assert done.stderr == f"batkube: {table}: line 1: expected 18 fields, found 1\n"
    done = batkube("-p", platform(2), "-w", table, "--packing", "tight")
    assert done.stderr == "batkube: --packing: expected pods, cores or cores=N, not 'tight'\n"


def test_a_cluster_in_a_few_words_runs_a_trace_with_shares_of_gpus(batkube: Batkube, tmp_path: Path) -> None:
    pods, nodes = tmp_path / "pods.csv", tmp_path / "nodes.csv"
    pods.write_text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time,scheduled_time\n"
        "a,1000,1024,1,600,,LS,0,100,0\nb,1000,1024,1,600,,LS,0,100,0\nc,1000,1024,1,400,P100,LS,0,100,0\n"
    )
    nodes.write_text("sn,cpu_milli,memory_mib,gpu,model\nm1,8000,8192,1,P100\n")
    done = batkube("-p", nodes, "-p", "2 x 4cpu,8Gi zone=a", "-w", pods, "--enable-compute-sharing")
    assert done.exit_code == 0, done.stderr
    assert {row["job_id"]: float(row["finish_time"]) for row in done.rows("jobs.csv")} == {"a": 100, "c": 200, "b": 200}
    assert [row["node"] for row in done.rows("nodes.csv")] == ["m1", "node-1", "node-2"]
    assert [source["path"] for source in done.run["platform_sources"]] == [str(nodes)]
    again = batkube("-p", done.out / "imported-platform.xml", "-w", pods, "--enable-compute-sharing")
    assert [row["node"] for row in again.rows("nodes.csv")] == ["m1", "node-1", "node-2"]
