"""The schedulers of ``examples/`` on the simulated clock: their decisions lie where their own sleeps put them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from batkube.bridge.clock_quiescence import LEAD
from tests.run.conftest import JSON, Batkube, Outcome

EXAMPLES = Path(__file__).parents[2] / "examples"
BASH = str(EXAMPLES / "bash-scheduler" / "scheduler.sh") + " 6"
PYTHON = f"{sys.executable} {EXAMPLES}/python-scheduler/scheduler.py --period 5"
ONE_SECOND = f"{sys.executable} {EXAMPLES}/one-second-cycle/scheduler.py"
JAVA = f"java -XX:-UsePerfData -XX:+UseSerialGC {EXAMPLES}/java-scheduler/Scheduler.java {{server}}"

LATE = 0.05
"""Simulated seconds by which a decision may lie behind a sleep's end: each stop is rounded up, and cycles drift."""


@pytest.fixture
def jobs(workload: Callable[..., Path]) -> Callable[[int], Path]:
    """Write a workload for two hosts: jobs come every 37.5 s, and each takes one to three times as long."""

    def write(count: int) -> Path:
        profiles: dict[str, JSON] = {f"p{k}": {"type": "delay", "delay": 40.25 + 38 * k} for k in range(3)}
        each = [{"id": i, "subtime": 37.5 * i, "res": 1, "profile": f"p{i % 3}"} for i in range(count)]
        return workload(each, profiles)

    return write


@pytest.fixture
def with_kubectl(built_tool: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``kubectl`` is found on PATH, beside bash and curl."""
    for name in ("bash", "curl"):
        if shutil.which(name) is None:
            pytest.skip(f"no {name}")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kubectl").symlink_to(built_tool("kubectl-1.36.3"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))  # where it keeps what it knows of servers


@pytest.fixture
def with_java() -> None:
    """There is a JDK that runs a source file with records."""
    if shutil.which("java") is None:
        pytest.skip("no java")
    told = subprocess.run(["java", "--version"], capture_output=True, text=True, check=False)
    version = told.stdout.split()[1:2]
    if told.returncode or not version or int(version[0].partition(".")[0]) < 17 or shutil.which("javac") is None:
        pytest.skip("no JDK of version 17 or newer")


def on_the_clock(done: Outcome) -> Outcome:
    """It ran to its end, and on the simulated clock."""
    assert done.exit_code == 0, done.stderr
    if done.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot take over the waits of programs")
    assert {row["final_state"] for row in done.rows("jobs.csv")} == {"COMPLETED_SUCCESSFULLY"}
    return done


def starts(done: Outcome) -> list[float]:
    return sorted(float(row["starting_time"]) for row in done.rows("jobs.csv"))


def test_a_shell_script_decides_after_its_sleeps(
    batkube: Batkube, platform: Callable[..., Path], jobs: Callable[[int], Path], with_kubectl: None
) -> None:
    """Each pod is placed at the first look after it came and a node was free; looks are six seconds apart."""
    done = on_the_clock(batkube("-p", platform(2), "-w", jobs(6), "--scheduler-cmd", BASH))
    assert "w0-5 -> " in (done.out / "scheduler.log").read_text()
    ends = sorted(float(row["finish_time"]) for row in done.rows("jobs.csv"))
    for number, start in enumerate(starts(done)):
        possible = max(37.5 * number, ends[number - 2] if number >= 2 else 0.0)
        assert possible <= start <= possible + 6 + LATE


def test_a_python_scheduler_decides_every_five_seconds(
    batkube: Batkube, platform: Callable[..., Path], jobs: Callable[[int], Path]
) -> None:
    """Its watches tell it at once; its rounds are where its sleeps end."""
    done = on_the_clock(batkube("-p", platform(2), "-w", jobs(10), "--scheduler-cmd", PYTHON))
    dates = starts(done)
    assert dates[0] <= 5 + LATE
    ends = sorted(float(row["finish_time"]) for row in done.rows("jobs.csv"))
    for number, start in enumerate(dates):
        possible = max(37.5 * number, ends[number - 2] if number >= 2 else 0.0)
        assert possible <= start <= possible + 5 + LATE


def test_a_cycle_of_one_second_decides_at_full_seconds(
    batkube: Batkube, platform: Callable[..., Path], jobs: Callable[[int], Path]
) -> None:
    done = on_the_clock(batkube("-p", platform(2), "-w", jobs(10), "--scheduler-cmd", ONE_SECOND))
    dates = starts(done)
    assert all(date % 1 <= LATE for date in dates)
    ends = sorted(float(row["finish_time"]) for row in done.rows("jobs.csv"))
    for number, start in enumerate(dates):
        possible = max(37.5 * number, ends[number - 2] if number >= 2 else 0.0)
        assert possible <= start <= possible + 1 + LATE


def test_a_java_scheduler_decides_at_the_event(
    batkube: Batkube, platform: Callable[..., Path], jobs: Callable[[int], Path], with_java: None
) -> None:
    """Its watches wake it up: a pod is placed when it comes, or when another has ended; the same bytes each time."""
    done = on_the_clock(batkube("-p", platform(2), "-w", jobs(4), "--scheduler-cmd", JAVA, "--repeat", 2, timeout=400))
    assert "00:00:00 w0-0 -> node-0" in (done.out / "scheduler.log").read_text()
    ends = sorted(float(row["finish_time"]) for row in done.rows("jobs.csv"))
    for number, start in enumerate(starts(done)):
        assert start == max(37.5 * number, ends[number - 2] if number >= 2 else 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("timers", ["window", "lazy"])
def test_one_that_looks_every_ten_minutes_is_waited_for(
    batkube: Batkube, platform: Callable[..., Path], jobs: Callable[[int], Path], with_kubectl: None, timers: str
) -> None:
    """Nothing else is to come meanwhile; other than at the sleeps of a program that never does anything."""
    command = BASH.removesuffix(" 6") + " 600"
    done = on_the_clock(
        batkube("-p", platform(2), "-w", jobs(3), "--scheduler-cmd", command, "--timers", timers, timeout=120)
    )
    starts = [float(job["starting_time"]) for job in done.rows("jobs.csv")]
    assert len(starts) == 3
    looks = 600 - LEAD  # it began so much before the simulation's 0
    assert all(abs(start % 600 - looks) < 2 for start in starts), starts


@pytest.mark.parametrize("command", [BASH, PYTHON, ONE_SECOND], ids=["bash", "python", "one-second"])
def test_the_same_bytes_also_on_a_busy_machine(
    two_at_once: Callable[..., list[Outcome]],
    platform: Callable[..., Path],
    jobs: Callable[[int], Path],
    with_kubectl: None,
    command: str,
) -> None:
    one, other = map(on_the_clock, two_at_once("-p", platform(2), "-w", jobs(5), "--scheduler-cmd", command))
    assert one.run["events_sha256"] == other.run["events_sha256"]
    assert (one.out / "jobs.csv").read_bytes() == (other.out / "jobs.csv").read_bytes()
