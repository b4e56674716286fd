"""The same workload gives the same schedule whoever simulates: in process, a Batsim we start, a Batsim started by hand.

The built-in simulator as a program of its own takes Batsim's place: it speaks the same protocol over the same socket.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.run.conftest import Batkube, environment
from tests.run.test_ends import started, until

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "platforms" / "small-cluster.xml"
WORKLOAD = ROOT / "workloads" / "burst-then-trickle.json"


@pytest.fixture
def batsim(tmp_path: Path) -> Path:
    """A program with Batsim's command line."""
    path = tmp_path / "batsim"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m batkube.simulator "$@"\n')
    path.chmod(0o755)
    return path


def test_a_batsim_that_we_start(batkube: Batkube, batsim: Path, tmp_path: Path) -> None:
    embedded = batkube("-p", PLATFORM, "-w", WORKLOAD)
    fingerprint, jobs = embedded.run["events_sha256"], (embedded.out / "jobs.csv").read_bytes()
    started_here = batkube("-p", PLATFORM, "-w", WORKLOAD, "--simulator", "batsim", "--batsim-binary", batsim)
    assert started_here.exit_code == 0, started_here.stderr
    assert started_here.run["events_sha256"] == fingerprint
    assert (started_here.out / "jobs.csv").read_bytes() == jobs
    assert (started_here.out / "batsim_jobs.csv").read_bytes() == jobs


def test_a_batsim_started_by_hand(tmp_path: Path, batsim: Path, free_port: Callable[[], int]) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    out = tmp_path / "out"
    with started(out, "-p", PLATFORM, "-w", WORKLOAD, "--simulator", endpoint) as run:
        by_hand = [str(batsim), "-p", str(PLATFORM), "-w", str(WORKLOAD), "-s", endpoint, "-e", str(tmp_path / "b")]
        assert subprocess.run(by_hand, env=environment(), timeout=60).returncode == 0
        _, errors = run.communicate(timeout=20)
    assert run.returncode == 0, errors
    assert (out / "jobs.csv").read_bytes() == (tmp_path / "b_jobs.csv").read_bytes()


def test_a_batsim_that_dies_fails_the_run_with_its_last_words(batkube: Batkube, tmp_path: Path) -> None:
    dying = tmp_path / "batsim"
    dying.write_text("#!/bin/sh\necho 'no such platform, says Batsim' >&2\nexit 134\n")
    dying.chmod(0o755)
    done = batkube("-p", PLATFORM, "-w", WORKLOAD, "--simulator", "batsim", "--batsim-binary", dying)
    assert done.exit_code == 1
    assert "Batsim exited with code 134" in done.stderr
    assert "no such platform, says Batsim" in done.stderr
    assert done.run["status"] == "failed"


def test_a_batsim_killed_in_mid_run(tmp_path: Path, batsim: Path) -> None:
    out = tmp_path / "out"
    arguments = ["-p", PLATFORM, "-w", WORKLOAD, "--simulator", "batsim", "--batsim-binary", batsim]
    # A scheduler that never comes keeps the simulation where it is.
    with started(out, *arguments, "--scheduler", "none") as run:
        (simulator,) = until(lambda: _children(run.pid), "a simulator")
        until(lambda: (out / "events.jsonl").exists(), "the start")
        subprocess.run(["kill", "-9", str(simulator)], check=True)
        _, errors = run.communicate(timeout=20)
    assert run.returncode == 1
    assert "Batsim was killed by SIGKILL" in errors


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_no_batsim_on_this_machine(batkube: Batkube) -> None:
    done = batkube("-p", PLATFORM, "-w", WORKLOAD, "--simulator", "batsim", "--batsim-binary", "/no/such/batsim")
    assert done.exit_code == 2
    assert "/no/such/batsim" in done.stderr
