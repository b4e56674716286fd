"""Play a mix as a user does: ``batkube run``, with a scheduler of its own process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.mixes.mix import Files, Mix
from tests.mixes.outcome import Outcome, read_jobs_csv
from tests.tools import tools_folder

KUBE_SCHEDULER = "kube-scheduler-1.36.3"
ENDLESS = "Batsim itself computes for ever"
"""An error: SimGrid's solver does not return from some overlaps of parallel tasks."""


def run(mix: Mix, files: Files, out: Path, *, scheduler: str, batsim: Path | None, timeout: float) -> Outcome:
    """The outcome of a run with ``batsim``, or with the built-in simulator in its exact mode."""
    words = [sys.executable, "-m", "batkube", "run", "-o", str(out), *arguments(mix, files)]
    words += ["--scheduler", scheduler]
    if scheduler == "kube-scheduler":
        words += ["--scheduler-binary", str(tools_folder() / KUBE_SCHEDULER)]
    words += ["--simulator", "batsim", "--batsim-binary", str(batsim)] if batsim else ["--exact"]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, said = running.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        endless = any(is_computing(pid) for pid in _children(running.pid, "batsim"))
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=120)
        return Outcome(error=ENDLESS if endless else f"no end within {timeout:g} s: {said.strip()}")
    outcome = Outcome(read_jobs_csv(out / "jobs.csv"))
    outcome.own = read_jobs_csv(out / ("batsim_jobs.csv" if batsim else "jobs.csv"))
    if running.returncode:
        outcome.error = f"exit code {running.returncode}: {said.strip()}"
    return outcome


def batkube_run(words: list[str], out: Path, timeout: float) -> subprocess.CompletedProcess[str]:
    """Play an experiment by its words for ``batkube run``; TimeoutExpired if that takes more real seconds."""
    command = [sys.executable, "-m", "batkube", "run", "-q", "-o", str(out), *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)


def arguments(mix: Mix, files: Files) -> list[str]:
    """The inputs and options of a mix for ``batkube run``."""
    words = ["-p", str(files.platform)]
    for path in files.workloads:
        words += ["-w", str(path)]
    if files.events:
        words += ["--events", str(files.events)]
    if files.startup:
        words += ["--startup", str(files.startup)]
    if mix.sharing:
        words.append("--enable-compute-sharing")
    if mix.energy:
        words.append("--energy")
    if mix.decision_time:
        words += ["--decision-time", f"{mix.decision_time:f}"]
    return [*words, "--timers", mix.timers]


def is_computing(pid: int, during: float = 0.5) -> bool:
    """Tell whether a process uses most of a processor for ``during`` real seconds."""
    try:
        before = _processor_time(pid)
        time.sleep(during)
        return _processor_time(pid) - before > during / 4
    except FileNotFoundError:
        return False


def _processor_time(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children(pid: int, name: str) -> Iterator[int]:
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if Path(f"/proc/{child}/comm").read_text().strip() == name:
            yield int(child)
