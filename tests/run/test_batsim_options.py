"""Batsim's options on the command line of ``batkube run``, with the built-in simulator and with a Batsim."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batkube.batsim.options import host_limit
from tests.batsim.real import REAL, needs_batsim
from tests.run.conftest import Batkube

TEN = {"ten": {"type": "delay", "delay": 10}}


def job(name: str, subtime: float = 0, res: int = 1) -> dict[str, Any]:
    return {"id": name, "subtime": subtime, "res": res, "profile": "ten"}


@pytest.fixture(params=["embedded", pytest.param("batsim", marks=needs_batsim)])
def simulator(request: pytest.FixtureRequest) -> list[str]:
    """Both simulators take these options."""
    return ["--simulator", request.param] + (["--batsim-binary", str(REAL)] if request.param == "batsim" else [])


Write = Callable[..., Path]


def write_hosts(path: Path, *names: str) -> None:
    """A platform of these hosts, none of them a master by its name."""
    hosts = "".join(f'<host id="{name}" speed="1Gf"/>' for name in names)
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1"><zone id="z" routing="Full">{hosts}</zone></platform>'
    )


def test_platform_events_and_messages_as_told(
    batkube: Batkube, workload: Write, tmp_path: Path, simulator: list[str]
) -> None:
    platform, later, sooner = tmp_path / "hosts.xml", tmp_path / "later.txt", tmp_path / "sooner.txt"
    write_hosts(platform, "boss", "disk", "a", "b", "c")
    later.write_text(json.dumps({"type": "machine_available", "resources": "0", "timestamp": 30}) + "\n")
    sooner.write_text(json.dumps({"type": "machine_unavailable", "resources": "0", "timestamp": 5}) + "\n")
    options = ["--events", later, "--events", sooner, "-m", "boss", "-r", "disk:storage", "--mmax", "2"]
    options += ["--mmax-workload", "--enable-dynamic-jobs", "--acknowledge-dynamic-jobs", "--enable-profile-reuse"]
    options += ["--sched-cfg", "x y", "--forward-profiles-on-submission", "--forward-unknown-events"]
    jobs = workload([job("early", 0), job("late", 10)], TEN, nb_res=1)
    done = batkube("-p", platform, "-w", jobs, *options, "--disable-storage-sharing", *simulator)
    assert done.exit_code == 0, done.stderr
    (begin,) = [event for event in done.events if event["event"] == "simulation_begins"]
    assert begin["nodes"] == ["a"]
    early, late = done.rows("jobs.csv")
    assert early["final_state"] == "COMPLETED_KILLED"
    assert float(late["starting_time"]) == pytest.approx(30, abs=0.01)
    assert done.run["batsim"]["external_events"] == [str(later), str(sooner)]
    assert done.run["batsim"]["sched_config"] == "x y"
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (later, sooner)]
    assert [file["sha256"] for file in done.run["batsim_inputs"]] == hashes


@pytest.mark.parametrize(
    ("options", "limit"),
    [({"mmax": 3}, 3), ({"mmax_workload": True}, 2), ({"mmax": 1, "mmax_workload": True}, 1), ({"mmax": 0}, None)],
)
def test_the_builtin_simulator_limits_hosts_as_batsim_does(options: dict[str, int], limit: int | None) -> None:
    assert host_limit(options.get("mmax"), [2] if options.get("mmax_workload") else None) == limit


def test_what_means_nothing_to_the_builtin_simulator_is_said(
    batkube: Batkube, platform: Write, workload: Write
) -> None:
    options = ["--disable-schedule-tracing", "--batsim-verbosity", "quiet", "--sg-log", "batsim.thresh:debug"]
    done = batkube("-p", platform(1), "-w", workload([job("one")], TEN), *options)
    assert done.exit_code == 0, done.stderr
    assert (
        "--disable-schedule-tracing, --batsim-verbosity, --sg-log: only Batsim itself has a use for that" in done.stderr
    )


@pytest.mark.parametrize("option", [["--cfg", "network/TCP-gamma:1"], ["--batsim-arg=--energy"]])
def test_what_only_batsim_can_do_is_refused_by_the_builtin_simulator(
    batkube: Batkube, platform: Write, workload: Write, option: list[str]
) -> None:
    done = batkube("-p", platform(1), "-w", workload([job("one")], TEN), *option)
    assert done.exit_code == 2
    assert "only Batsim can do that (--simulator batsim)" in done.stderr


def test_a_platform_without_master_runs_in_the_builtin_simulator(
    batkube: Batkube, workload: Write, tmp_path: Path
) -> None:
    path = tmp_path / "hosts.xml"
    write_hosts(path, "a")
    done = batkube("-p", path, "-w", workload([job("one")], TEN))
    assert done.exit_code == 0, done.stderr
    assert [row["finish_time"] for row in done.rows("jobs.csv")] == ["10.000000"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-r", "nobody"], "--add-role-to-hosts: expected HOST[,HOST]:ROLE"),
        (["--WS", "flow.dax"], "--workflow-start: expected FILE:SECONDS"),
        (["--mmax", "-1"], "--mmax: expected a value greater than or equal to 0"),
        (["--enable-profile-reuse"], "needs --enable-dynamic-jobs"),
        (["--events", "/no/such/file"], "/no/such/file"),
        (["-m", "nobody"], "there is no host 'nobody' to be master"),
    ],
)
def test_a_bad_option_is_named(
    batkube: Batkube, platform: Write, workload: Write, options: list[str], words: str
) -> None:
    done = batkube("-p", platform(1), "-w", workload([job("one")], TEN), *options)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.replace("│", " ").split())


def test_without_any_jobs_there_is_nothing_to_run(batkube: Batkube, platform: Write) -> None:
    done = batkube("-p", platform(1))
    assert done.exit_code == 2
    assert "there are no jobs" in done.stderr


@needs_batsim
def test_what_batsim_writes_is_kept(batkube: Batkube, platform: Write, workload: Write) -> None:
    arguments = ["-p", platform(1), "-w", workload([job("one")], TEN), "--simulator", "batsim", "--batsim-binary", REAL]
    done = batkube(*arguments, "--batsim-arg=--energy")
    assert done.exit_code == 1
    assert "No power range properties specified for host node-0" in done.stderr
    assert "No power range properties" in (done.out / "batsim.log").read_text()
