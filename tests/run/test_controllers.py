"""Objects that controllers carry on, with `batkube run` and no other program."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.conftest import BuiltTool
from tests.run.conftest import Batkube, Outcome
from tests.run.test_ends import started
from tests.waiting import wait_until

PLATFORM = Path(__file__).parents[2] / "platforms" / "small-cluster.xml"
OBJECTS = """\
apiVersion: batch/v1
kind: Job
metadata: {name: waves}
spec:
  completions: 5
  parallelism: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: app, command: [sleep, "30"], resources: {requests: {cpu: "1"}}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "*/2 * * * *"
  jobTemplate:
    spec:
      ttlSecondsAfterFinished: 60
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: app, command: [sleep, "10"], resources: {requests: {cpu: "1"}}}]
"""


@pytest.fixture
def objects(tmp_path: Path) -> Path:
    path = tmp_path / "objects.yaml"
    path.write_text(OBJECTS)
    return path


def test_jobs_and_cron_jobs_run_without_any_binary_the_same_each_time(
    two_at_once: Callable[..., list[Outcome]], objects: Path
) -> None:
    given = ["-p", PLATFORM, "--enable-compute-sharing", "--objects", objects, "--until", "10m", "--strict"]
    one, other = two_at_once(*given)
    assert one.exit_code == 0, one.stderr
    rows = [(row["pod"].rpartition("-")[0], row["created_time"], row["finish_time"]) for row in one.rows("pods.csv")]
    waves = [("0", 0, 30), ("1", 0, 30), ("2", 31, 61), ("3", 31, 61), ("4", 62, 92)]
    expected = [(f"waves-{index}", f"{start:.6f}", f"{end:.6f}") for index, start, end in waves]
    ticks = [120.1, 240.1, 360.1, 480.1]
    assert [row for row in rows if row[0].startswith("waves")] == expected
    assert [row[1:] for row in rows if row[0].startswith("tick")] == [
        (f"{date:.6f}", f"{date + 10:.6f}") for date in ticks
    ]
    assert one.run["repeatable"]
    assert one.fingerprints == other.fingerprints


APPS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: app}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: main, image: app}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: main, image: app}]
"""


def test_services_run_to_the_end_with_an_agent_on_each_node_the_same_each_time(
    two_at_once: Callable[..., list[Outcome]], tmp_path: Path
) -> None:
    path = tmp_path / "apps.yaml"
    path.write_text(APPS)
    one, other = two_at_once(
        "-p", "3 x 8cpu", "--enable-compute-sharing", "--objects", path, "--until", "1m", "--strict"
    )
    assert one.exit_code == 0, one.stderr
    rows = one.rows("pods.csv")
    names = sorted(row["pod"].rpartition("-")[0] for row in rows)
    assert names == [*["agent"] * 3, "db", "db", *["web-74b475b586"] * 4]
    assert {row["phase"] for row in rows} == {"Running"}
    assert len({row["node"] for row in rows if row["pod"].startswith("agent")}) == 3
    assert one.run["events_sha256"] == other.run["events_sha256"]


def test_without_controllers_they_are_only_objects(batkube: Batkube, objects: Path, tmp_path: Path) -> None:
    given = ["-p", PLATFORM, "--enable-compute-sharing", "--objects", objects]
    done = batkube(*given, "--controllers", "none")
    assert done.exit_code == 0
    assert "Jobs have not ended, and nothing carries them on: default/waves" in done.stderr
    wrong = batkube(*given, "--controllers", "some")
    assert wrong.exit_code == 2
    assert wrong.stderr == "batkube: --controllers: some is none of auto, builtin, none, and no file\n"
    file = tmp_path / "controllers.yaml"
    file.write_text("controllers: '*,-job-controller'\n")
    chosen = batkube(*given, "--controllers", file)
    assert chosen.exit_code == 0
    assert "nothing carries them on: default/waves" in chosen.stderr
    assert chosen.run["controllers"]["path"] == str(file)


@pytest.mark.slow
def test_users_make_jobs_and_delete_namespaces_while_it_goes_on(tmp_path: Path, built_tool: BuiltTool) -> None:
    out, kubectl = tmp_path / "out", built_tool("kubectl-1.36.3")
    kubeconfig = out / "kubeconfig"

    def ask(*arguments: str) -> str:
        command = [str(kubectl), "--kubeconfig", str(kubeconfig), *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=120).stdout

    with started(out, "-p", PLATFORM, "--enable-compute-sharing", "--until", "6h", "--pace", "60") as process:
        wait_until("the kubeconfig", kubeconfig.exists)
        ask("create", "namespace", "team")
        ask("create", "job", "work", "-n", "team", "--image=busybox", "--", "sleep", "60")
        ask("wait", "job/work", "-n", "team", "--for=condition=Complete", "--timeout=110s")
        assert "SuccessfulCreate" in ask("describe", "job/work", "-n", "team")
        ask("create", "cronjob", "tick", "--image=busybox", "--schedule=* * * * *", "--", "sleep", "5")
        wait_until("a Job of the CronJob", lambda: "tick-" in ask("get", "jobs", "-o", "name"))
        ask("delete", "cronjob", "tick")
        wait_until("its Jobs are gone", lambda: ask("get", "jobs,pods", "-o", "name") == "")
        ask("delete", "namespace", "team")  # kubectl waits until it is gone
        assert ask("get", "namespace", "team", "--ignore-not-found") == ""
        url = ask("config", "view", "--raw", "-o", "jsonpath={.clusters[0].cluster.server}")
        httpx.put(f"{url}/batkube/v1/clock/pace", json={"factor": None}, timeout=60).raise_for_status()
        process.wait(timeout=240)
    run = json.loads((out / "run.json").read_text())
    assert run["status"] == "finished"
    assert run["simulated_seconds"] == 6 * 3600
