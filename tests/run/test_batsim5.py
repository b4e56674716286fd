"""A Batsim 5 in the place of Batsim 4: the same schedules, in both forms of its protocol.

The built-in simulator as a program of its own takes Batsim 5's place; beside a real one where there is a ``batsim5``.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import warm
from tests.run.conftest import Batkube, Outcome, environment
from tests.run.test_ends import started
from tests.run.test_serve import PLATFORM, ROOT, Serve, serve, stranger

__all__ = ["serve"]

WORKLOAD = ROOT / "workloads" / "batsim5.json"
STAND_IN = [sys.executable, "-m", "batkube.simulator", "--protocol", "5"]
REAL = shutil.which("batsim5")

WHERE = {"job_id", "final_state", "allocated_resources"}
WHEN = {"starting_time", "execution_time", "finish_time"}


def init_of(form: str) -> str:
    return json.dumps({"batkube": {"form": form}})


def by_hand(
    program: list[str], endpoint: str, out: Path, init: str, *, workload: Path = WORKLOAD, platform: Path = PLATFORM
) -> None:
    """A Batsim 5 that somebody starts, from its beginning to its end."""
    out.mkdir(exist_ok=True)
    words = ["-p", str(platform), "-w", str(workload), "-s", endpoint, init, "-e", f"{out}/"]
    done = warm.run([*program, *words], env=environment(), timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


def beside(program: list[str], tmp_path: Path, endpoint: str, form: str) -> Outcome:
    """A run beside a Batsim 5 started by hand."""
    out = tmp_path / form
    with started(out, "-p", PLATFORM, "-w", WORKLOAD, "--simulator", endpoint) as run:
        by_hand(program, endpoint, tmp_path / "batsim", init_of(form))
        output, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    return Outcome(0, output, errors, out, json.loads((out / "run.json").read_text()))


def test_the_schedule_is_that_of_the_built_in_simulator(
    batkube: Batkube, tmp_path: Path, free_port: Callable[[], int]
) -> None:
    embedded = batkube("-p", PLATFORM, "-w", WORKLOAD)
    assert embedded.exit_code == 0, embedded.stderr
    columns = ["job_id", "final_state", "allocated_resources", "starting_time", "finish_time"]
    expected = sorted([row[name] for name in columns] for row in embedded.rows("jobs.csv"))
    assert len(expected) == 12
    for form in ("json", "binary"):
        told = beside(STAND_IN, tmp_path, f"tcp://127.0.0.1:{free_port()}", form)
        assert sorted([row[name] for name in columns] for row in told.rows("jobs.csv")) == expected


@pytest.mark.skipif(REAL is None, reason="there is no batsim5 on PATH")
@pytest.mark.parametrize("form", ["json", "binary"])
def test_beside_a_real_batsim_5(batkube: Batkube, tmp_path: Path, free_port: Callable[[], int], form: str) -> None:
    embedded = {row["job_id"]: row for row in batkube("-p", PLATFORM, "-w", WORKLOAD).rows("jobs.csv")}
    assert REAL is not None
    told = beside([REAL], tmp_path, f"tcp://127.0.0.1:{free_port()}", form)
    rows = told.rows("jobs.csv")
    assert len(rows) == len(embedded)
    for row in rows:
        assert {name: row[name] for name in WHERE} == {name: embedded[row["job_id"]][name] for name in WHERE}
        for name in WHEN:
            assert float(row[name]) == pytest.approx(float(embedded[row["job_id"]][name]), abs=0.02)


def test_batsim_4_and_5_by_turns_at_one_server(serve: Callable[..., Serve], tmp_path: Path) -> None:
    """Without a platform file: Batsim 5 tells the cores of its hosts, so that a pod may ask for several."""
    workload = tmp_path / "cores.json"
    jobs = [{"id": "wide", "subtime": 0, "res": 1, "profile": "p", "extra_data": {"cpu": 8}}]
    profiles = {"p": {"type": "DelayProfile", "delay": 2}}
    workload.write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
    server = serve()
    with stranger([sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(server.out / "kubeconfig")]):
        big = ROOT / "platforms" / "two-big-nodes.xml"
        by_hand(STAND_IN, server.endpoint, tmp_path / "one", init_of("binary"), workload=workload, platform=big)
        server.finished(1)
        assert server.simulate(tmp_path / "two") == 0
        server.finished(2)
        by_hand(STAND_IN, server.endpoint, tmp_path / "three", init_of("json"))
        server.finished(3)
    first = json.loads((server.out / "simulation-1" / "run.json").read_text())
    assert first["jobs"]["succeeded"] == 1, first["rejected"]
    third = json.loads((server.out / "simulation-3" / "run.json").read_text())
    assert third["jobs"]["submitted"] == 12
