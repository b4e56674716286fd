"""``batkube run --repeat`` and ``batkube compare``: the same each time, or where it is not."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from batkube.commands.repeat import settings_for
from batkube.settings import RunSettings
from tests import warm
from tests.run.conftest import FIFO_PROGRAM, Batkube, environment
from tests.run.test_ends import PATIENCE, SOON, children_of, is_gone, started
from tests.waiting import wait_until

PROFILES = {"p": {"type": "delay", "delay": 10}}

MOODY = """
import json, pathlib, sys
from kubernetes import client, config, watch

runs = pathlib.Path(sys.argv[2])
runs.write_text((runs.read_text() if runs.exists() else "") + "+")
config.load_kube_config(sys.argv[1])
api = client.CoreV1Api()
node = "node-0" if len(runs.read_text()) < 3 else "node-1"
for event in watch.Watch().stream(api.list_namespaced_pod, "default"):
    pod = event["object"]
    if not pod.spec.node_name:
        binding = {"metadata": {"name": pod.metadata.name}, "target": {"kind": "Node", "name": node}}
        api.create_namespaced_pod_binding(pod.metadata.name, "default", binding, _preload_content=False)
"""
"""A scheduler that has another favourite node when it is started the third time."""


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compare(*folders: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "batkube", "compare", *map(str, folders)]
    return warm.run(words, timeout=120, env=environment())


@pytest.fixture
def sample(platform: Callable[..., Path], workload: Callable[..., Path]) -> list[object]:
    """Five jobs for two hosts."""
    jobs = [{"id": str(index), "subtime": index, "res": 1, "profile": "p"} for index in range(5)]
    return ["-p", platform(2), "-w", workload(jobs, PROFILES)]


def test_runs_that_agree(batkube: Batkube, sample: list[object]) -> None:
    done = batkube(*sample, "--repeat", 2)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "all 2 agree" in done.stdout
    folders = [done.out, done.out / "2"]
    for folder in folders:
        run = json.loads((folder / "run.json").read_text())
        assert run["status"] == "finished"
        assert run["events_sha256"] == sha256(folder / "events.jsonl")
        assert run["jobs_sha256"] == sha256(folder / "jobs.csv")
        assert run["events_sha256"][:12] in done.stdout
    assert (folders[0] / "events.jsonl").read_bytes() == (folders[1] / "events.jsonl").read_bytes()
    record = json.loads((done.out / "repeat.json").read_text())
    assert record["agree"] is True
    assert [run["status"] for run in record["runs"]] == ["finished"] * 2


def test_runs_that_part_say_where(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], tmp_path: Path
) -> None:
    program = tmp_path / "moody.py"
    program.write_text(MOODY)
    given = workload(
        [{"id": str(index), "subtime": 20 * index, "res": 1, "profile": "p"} for index in range(2)], PROFILES
    )
    command = f"{sys.executable} {program} {{kubeconfig}} {tmp_path / 'runs'}"
    done = batkube("-p", platform(2), "-w", given, "--scheduler-cmd", command, "--repeat", 3)
    assert done.exit_code == 1
    record = json.loads((done.out / "repeat.json").read_text())
    assert record["agree"] is False
    (difference,) = record["differences"]
    assert difference["right"] == str(done.out / "3")
    first, third = ((folder / "events.jsonl").read_text().splitlines() for folder in (done.out, done.out / "3"))
    line = difference["line"] - 1
    assert first[:line] == third[:line]
    assert json.loads(first[line])["node"] == "node-0"
    assert json.loads(third[line])["node"] == "node-1"
    assert difference["fields"] == ["node"]
    assert f"part at line {line + 1} of events.jsonl" in done.stdout
    (shown,) = [row for row in done.stdout.splitlines() if "differs" in row]
    assert "node-0" in shown
    assert "node-1" in shown
    told = compare(done.out, done.out / "3")
    assert told.returncode == 1
    assert "part at line" in told.stdout
    assert compare(done.out, done.out / "2").returncode == 0


def test_runs_that_fail_alike_have_failed(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    given = workload([{"id": "a", "subtime": 0, "res": 1, "profile": "p", "nodeSelector": {"no": "such"}}], PROFILES)
    done = batkube("-p", platform(1), "-w", given, "--repeat", 2)
    assert done.exit_code == 1
    assert done.stderr.count("nothing can happen any more") == 2
    record = json.loads((done.out / "repeat.json").read_text())
    assert [run["status"] for run in record["runs"]] == ["failed"] * 2
    assert "job w0!a" in record["runs"][1]["reason"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_run_and_the_repetition(
    tmp_path: Path, platform: Callable[..., Path], workload: Callable[..., Path], number: signal.Signals
) -> None:
    out = tmp_path / "out"
    program = tmp_path / "silent.py"
    program.write_text("import sys, time\nprint('here', flush=True)\ntime.sleep(1000)")
    given = workload([{"id": "a", "subtime": 0, "res": 1, "profile": "p"}], PROFILES)
    command = f"{sys.executable} {program}"
    arguments = ["-p", platform(1), "-w", given, "--clock", "real", "--patience", PATIENCE, "--scheduler-cmd", command]
    with started(out, *arguments, "--repeat", "3") as process:
        log = out / "scheduler.log"
        wait_until("the start of the scheduler", lambda: log.exists() and "here" in log.read_text())
        (run,) = wait_until("a run", lambda: children_of(process.pid))
        (scheduler,) = wait_until("a scheduler", lambda: children_of(run))
        process.send_signal(number)
        _, errors = process.communicate(timeout=SOON)
    assert process.returncode == 128 + number
    assert "Traceback" not in errors
    assert json.loads((out / "run.json").read_text())["status"] == "interrupted"
    assert not (out / "2").exists()
    assert is_gone(run)
    assert is_gone(scheduler)


def test_a_run_that_loses_its_parent_ends(
    tmp_path: Path, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    out = tmp_path / "out"
    given = workload([{"id": "a", "subtime": 0, "res": 1, "profile": "p", "nodeSelector": {"no": "such"}}], PROFILES)
    arguments = ["-p", platform(1), "-w", given, *FIFO_PROGRAM, "--clock", "real", "--patience", PATIENCE]
    with started(out, *arguments, "--repeat", "2") as process:
        wait_until("the start", lambda: (out / "run.json").exists())
        (run,) = wait_until("a run", lambda: children_of(process.pid))
        process.kill()
        wait_until("its end", lambda: is_gone(run))
    assert json.loads((out / "run.json").read_text())["status"] == "interrupted"


def test_bad_input_is_told_once(tmp_path: Path) -> None:
    words = ["run", "-p", "nowhere.xml", "-w", "nowhere.json", "--repeat", "5", "-o", str(tmp_path / "out")]
    done = warm.run([sys.executable, "-m", "batkube", *words], env=environment(), timeout=120)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_folders_without_results_are_named(batkube: Batkube, sample: list[object], tmp_path: Path) -> None:
    done = batkube(*sample)
    assert done.exit_code == 0
    told = compare(done.out, tmp_path / "nowhere")
    assert told.returncode == 2
    assert told.stderr == f"batkube: {tmp_path / 'nowhere'} holds no results of a run: it has no run.json\n"
    strange = tmp_path / "strange"
    shutil.copytree(done.out, strange)
    (strange / "run.json").write_text("[]")
    assert "was not written by batkube" in compare(done.out, strange).stderr


def test_each_run_keeps_its_own_exchange(tmp_path: Path) -> None:
    given = RunSettings(
        platform=tmp_path / "p.xml", workloads=(tmp_path / "w.json",), out=tmp_path, record=tmp_path / "kept" / "x.gz"
    )
    assert settings_for(given, tmp_path).record == given.record
    assert settings_for(given, tmp_path / "2").record == tmp_path / "2" / "x.gz"
