"""The same workload gives the same schedule whoever simulates: in process, a Batsim we start, a Batsim started by hand.

The built-in simulator as a program of its own takes Batsim's place: it speaks the same protocol over the same socket.
"""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from batkube.batsim.platform import read_platform
from batkube.batsim.workload import read_workload
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.standalone.batsim4 import talk
from tests import warm
from tests.batsim.real import REAL, needs_batsim
from tests.run.conftest import Batkube, environment
from tests.run.test_ends import children_of, started
from tests.waiting import wait_until

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


@contextmanager
def by_itself(*words: object) -> Iterator[subprocess.Popen[str]]:
    """A program that somebody else starts; it is ended if it has not."""
    process = warm.Popen([*map(str, words)], env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture(params=["standalone", pytest.param("real", marks=needs_batsim)])
def any_batsim(request: pytest.FixtureRequest, batsim: Path) -> Path:
    """The standalone simulator, and the real one."""
    return REAL if request.param == "real" else batsim


@pytest.mark.parametrize("first", ["batkube", "Batsim"])
def test_a_batsim_started_by_hand(tmp_path: Path, any_batsim: Path, free_port: Callable[[], int], first: str) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    out, prefix = tmp_path / "out", tmp_path / "b"
    by_hand = [any_batsim, "-p", PLATFORM, "-w", WORKLOAD, "-s", endpoint, "-e", prefix]
    arguments = ["-p", PLATFORM, "-w", WORKLOAD, "--simulator", endpoint, "--batsim-out", prefix]

    with ExitStack() as stack:
        simulator = stack.enter_context(by_itself(*by_hand)) if first == "Batsim" else None
        run = stack.enter_context(started(out, *arguments))
        simulator = simulator or stack.enter_context(by_itself(*by_hand))
        assert simulator.wait(timeout=120) == 0
        _, errors = run.communicate(timeout=120)
    assert (run.returncode, errors) == (0, "")
    assert (out / "jobs.csv").read_bytes() == (out / "batsim_jobs.csv").read_bytes()
    assert (out / "batsim_jobs.csv").read_bytes() == (tmp_path / "b_jobs.csv").read_bytes()
    assert (out / "batsim_schedule.csv").exists()


def is_connected(endpoint: str) -> bool:
    """Tell whether somebody has a connection to a port of ours (proc(5): ports in hexadecimal, 01 is an open one)."""
    port = f":{int(endpoint.rpartition(':')[2]):04X}"
    rows = (line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(local.endswith(port) and state == "01" for _, local, _, state, *_ in rows)


@pytest.mark.parametrize("why", ["Ctrl-C", "scheduler"])
def test_a_batsim_started_by_hand_is_not_left_hanging(
    tmp_path: Path, any_batsim: Path, free_port: Callable[[], int], why: str
) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    out = tmp_path / "out"
    by_hand = [any_batsim, "-p", PLATFORM, "-w", WORKLOAD, "-s", endpoint, "-e", tmp_path / "b"]
    # Nobody places the pods: the simulation goes on until we end it.
    end = tmp_path / "end"
    waits = f"sh -c 'until [ -e {end} ]; do sleep 0.05; done'"
    scheduler = ["--scheduler", "none"] if why == "Ctrl-C" else ["--scheduler-cmd", waits, "--clock", "real"]
    arguments = ["-p", PLATFORM, "-w", WORKLOAD, "--simulator", endpoint, *scheduler, "--patience", "600"]
    with started(out, *arguments) as run, by_itself(*by_hand) as simulator:
        wait_until("the start", lambda: (out / "events.jsonl").exists())
        wait_until("Batsim's call", lambda: is_connected(endpoint))
        if why == "Ctrl-C":
            run.send_signal(signal.SIGINT)
        else:
            end.touch()
        said, _ = run.communicate(timeout=120)
        assert simulator.wait(timeout=120) == 0
    assert run.returncode == (130 if why == "Ctrl-C" else 1)
    assert "Batsim was told to give up its jobs, and came to its end" in said
    assert len((tmp_path / "b_jobs.csv").read_text().splitlines()) == 101


def test_a_batsim_that_waits_already_is_not_left_hanging_by_a_bad_input(
    batkube: Batkube, free_port: Callable[[], int]
) -> None:
    endpoint = f"tcp://127.0.0.1:{free_port()}"
    simulator = EmbeddedSimulator(read_platform(PLATFORM), [read_workload(WORKLOAD)])
    with ThreadPoolExecutor() as threads:
        # In this process, so that it calls before batkube has started.
        talk_over = threads.submit(talk, simulator, endpoint)
        done = batkube("-p", "/no/such/platform.xml", "-w", WORKLOAD, "--simulator", endpoint)
        talk_over.result(timeout=120)
    assert done.exit_code == 2
    assert "came to its end" in done.stderr
    assert {record.final_state for record in simulator.records} == {"REJECTED"}


@needs_batsim
def test_our_jobs_have_the_dates_of_batsims_file(batkube: Batkube) -> None:
    done = batkube("-p", PLATFORM, "-w", WORKLOAD, "--simulator", "batsim", "--batsim-binary", REAL)
    assert done.exit_code == 0, done.stderr
    assert done.run["warnings"] == []
    assert (done.out / "jobs.csv").read_bytes() == (done.out / "batsim_jobs.csv").read_bytes()
    (theirs,) = done.rows("batsim_schedule.csv")
    assert done.run["makespan"] == float(theirs["makespan"])
    assert done.rows("schedule.csv")[0]["mean_waiting_time"] == theirs["mean_waiting_time"]


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
        wait_until("the start", lambda: (out / "events.jsonl").exists())
        (simulator,) = wait_until("Batsim", lambda: children_of(run.pid))
        subprocess.run(["kill", "-9", str(simulator)], check=True)
        _, errors = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "Batsim was killed by SIGKILL" in errors


def test_no_batsim_on_this_machine(batkube: Batkube) -> None:
    done = batkube("-p", PLATFORM, "-w", WORKLOAD, "--simulator", "batsim", "--batsim-binary", "/no/such/batsim")
    assert done.exit_code == 2
    assert "/no/such/batsim" in done.stderr
