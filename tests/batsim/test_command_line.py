"""Batsim's command line, by version."""

import subprocess
from pathlib import Path

import pytest
from pydantic import ValidationError

from batkube.batsim.command_line import BatsimInputs, arguments, batsim_version, read_version
from batkube.batsim.errors import SimulatorError
from batkube.batsim.options import BatsimOptions, Verbosity, spelled_fields
from tests.batsim.real import REAL, needs_batsim
from tests.batsim.stand_in import inputs

INPUTS = BatsimInputs(Path("/p.xml"), [Path("/w.json"), Path("/x.json")], Path("/results/out"))
EVERYTHING = BatsimOptions(
    external_events=(Path("/e.txt"), Path("/f.txt")),
    master_host="m",
    roles=("a,b:storage",),
    mmax=3,
    mmax_workload=True,
    energy=True,
    workflows=(Path("/flow.dax"),),
    workflow_starts=("/cut.dax:2.5",),
    workflow_jobs_limit=4,
    ignore_beyond_last_workflow=True,
    compute_sharing=True,
    disable_storage_sharing=True,
    dynamic_jobs=True,
    acknowledge_dynamic_jobs=True,
    profile_reuse=True,
    forward_profiles=True,
    forward_unknown_events=True,
    sched_config="x y",
    disable_schedule_tracing=True,
    disable_machine_state_tracing=True,
    verbosity=Verbosity.QUIET,
    simgrid_config=("network/TCP-gamma:1e6",),
    simgrid_log=("batsim.thresh:debug",),
    further=("--some", "thing"),
)


def test_every_option_is_spelled_as_batsim_4_does() -> None:
    assert arguments(INPUTS, EVERYTHING, "tcp://127.0.0.1:5") == [
        *("-p", "/p.xml", "-w", "/w.json", "-w", "/x.json", "-e", "/results/out", "-s", "tcp://127.0.0.1:5"),
        *("--events", "/e.txt", "--events", "/f.txt", "--master-host", "m", "--add-role-to-hosts", "a,b:storage"),
        *("--mmax", "3", "--mmax-workload", "--energy", "--workflow", "/flow.dax", "--WS", "/cut.dax", "2.5"),
        *("--workflow-jobs-limit", "4", "--ignore-beyond-last-workflow"),
        *("--enable-compute-sharing", "--disable-storage-sharing", "--enable-dynamic-jobs"),
        *("--acknowledge-dynamic-jobs", "--enable-profile-reuse", "--forward-profiles-on-submission"),
        *("--forward-unknown-events", "--sched-cfg", "x y", "--disable-schedule-tracing"),
        *("--disable-machine-state-tracing", "--verbosity", "quiet", "--sg-cfg", "network/TCP-gamma:1e6"),
        *("--sg-log", "batsim.thresh:debug", "--some", "thing"),
    ]
    given = {name for name, _, _ in EVERYTHING.given()}
    assert {name for name, _, _ in spelled_fields(BatsimOptions)} - given == {"sched_config_file"}


def test_what_batsim_3_has_not_is_refused_by_name() -> None:
    assert "--events" in arguments(INPUTS, BatsimOptions(external_events=(Path("/e"),)), "tcp://x:1", major=3)
    for options, name in ((BatsimOptions(sched_config=""), "--sched-cfg"),):
        with pytest.raises(SimulatorError, match=f"{name}: there is no such option in Batsim 3"):
            arguments(INPUTS, options, "tcp://x:1", major=3)


def test_batsim_5_has_its_own_words() -> None:
    options = BatsimOptions(
        external_events=(Path("/e.txt"),),
        roles=("a,b:storage",),
        mmax=3,
        energy=True,
        compute_sharing=True,
        verbosity=Verbosity.INFORMATION,
        simgrid_config=("network/TCP-gamma:1e6",),
        disable_schedule_tracing=True,
        further=("--trace-probe-data=always",),
    )
    assert arguments(INPUTS, options, "tcp://127.0.0.1:5", major=5) == [
        *("-p", "/p.xml", "-w", "/w.json", "-w", "/x.json", "--ee", "/e.txt", "-e", "/results/out_"),
        *(
            "-s",
            "tcp://127.0.0.1:5",
            '{"batkube": {"compute_sharing":true}}',
            "-r",
            "a",
            "storage",
            "-r",
            "b",
            "storage",
        ),
        *("--mmax", "3", "--energy-host", "--trace-machine-state", "--trace-pstate-changes"),
        *("--sg-cfg=network/TCP-gamma:1e6", "--verbosity", "info", "--trace-probe-data=always"),
    ]
    quiet = arguments(INPUTS, BatsimOptions(disable_machine_state_tracing=True), "tcp://127.0.0.1:5", major=5)
    assert "--trace-machine-state" not in quiet
    for absent in (BatsimOptions(workflows=(Path("f"),)), BatsimOptions(sched_config="x")):
        with pytest.raises(SimulatorError, match="there is no such option in Batsim 5"):
            arguments(INPUTS, absent, "tcp://127.0.0.1:5", major=5)


@pytest.mark.parametrize(
    "members",
    [
        {"roles": ["host"]},
        {"roles": [":storage"]},
        {"workflow_starts": ["flow.dax"]},
        {"workflow_starts": ["flow.dax:-1"]},
        {"simgrid_config": ["gamma"]},
        {"mmax": -1},
        {"profile_reuse": True},
        {"sched_config": "x", "sched_config_file": "y"},
    ],
)
def test_what_batsim_would_refuse_is_refused_at_once(members: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        BatsimOptions.model_validate(members)


@pytest.mark.parametrize(
    ("text", "major"), [("v4.2.1\n", 4), ("v3.1.0", 3), ("5.0.0-rc2", 5), ("batsim 4.1.0", 4), ("", None), ("no", None)]
)
def test_a_version_is_read(text: str, major: int | None) -> None:
    assert read_version(text).major == major


async def test_a_program_that_knows_no_version_has_none(tmp_path: Path) -> None:
    program = tmp_path / "batsim"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    assert (await batsim_version([program])).major is None
    with pytest.raises(SimulatorError, match="cannot start /no/such/batsim"):
        await batsim_version(["/no/such/batsim"])


@needs_batsim
async def test_the_real_one_tells_its_version() -> None:
    assert (await batsim_version([REAL])).major in (3, 4, 5)


@needs_batsim
def test_the_real_one_takes_every_option(tmp_path: Path) -> None:
    platform, workload = inputs(tmp_path)
    (tmp_path / "e.txt").write_text("")
    options = EVERYTHING.model_copy(
        update={
            "external_events": (tmp_path / "e.txt",),
            "workflows": (platform,),
            "workflow_starts": (f"{platform}:2.5",),
            "further": ("--dump-execution-context",),
        }
    )
    words = [str(REAL), *arguments(BatsimInputs(platform, [workload], tmp_path / "o"), options, "tcp://127.0.0.1:5")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f'"export_prefix":"{tmp_path / "o"}"' in done.stdout
