"""Whole runs as a user starts them: ``batkube run`` as a process, its folder of results read back."""

import csv
import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests import warm

JSON = dict[str, Any]


@dataclass
class Outcome:
    """The results of a run."""

    exit_code: int
    stdout: str
    stderr: str
    out: Path
    run: JSON = field(default_factory=dict)

    def rows(self, name: str) -> list[dict[str, str]]:
        """A CSV file of the results."""
        with (self.out / name).open(newline="") as file:
            return list(csv.DictReader(file))

    @property
    def fingerprints(self) -> tuple[str, str]:
        """The hashes of ``events.jsonl`` and of ``jobs.csv``."""
        return self.run["events_sha256"], self.run["jobs_sha256"]

    @property
    def events(self) -> list[JSON]:
        """``events.jsonl``."""
        return [json.loads(line) for line in (self.out / "events.jsonl").read_text().splitlines()]


Batkube = Callable[..., Outcome]

FIFO_PROGRAM = ["--scheduler-cmd", f"{sys.executable} -m batkube.schedulers.fifo --kubeconfig {{kubeconfig}}"]
"""The options for fifo as a process of its own, which talks HTTP."""


@pytest.fixture
def batkube(tmp_path: Path) -> Batkube:
    """Run ``batkube run ARGUMENTS`` to its end, results in a folder of the test's own."""

    def run(*arguments: object, timeout: float = 600) -> Outcome:
        (done,) = _run_at_once([tmp_path / "out"], arguments, timeout)
        return done

    return run


@pytest.fixture
def two_at_once(tmp_path: Path) -> Callable[..., list[Outcome]]:
    """Run ``batkube run ARGUMENTS`` twice at the same time: each keeps the machine busy for the other."""

    def run(*arguments: object, timeout: float = 900) -> list[Outcome]:
        return _run_at_once([tmp_path / "one", tmp_path / "other"], arguments, timeout)

    return run


def _run_at_once(folders: list[Path], arguments: Iterable[object], timeout: float) -> list[Outcome]:
    words = [sys.executable, "-m", "batkube", "run", *map(str, arguments)]
    with ExitStack() as stack:
        started = []
        for out in folders:
            process = warm.Popen([*words, "-o", str(out)], stdout=PIPE, stderr=PIPE, text=True, env=environment())
            stack.enter_context(process)
            stack.callback(process.kill)  # does nothing to one that has ended
            started.append(process)
        outcomes = []
        for out, process in zip(folders, started, strict=True):
            stdout, stderr = process.communicate(timeout=timeout)
            outcomes.append(Outcome(process.returncode, stdout, stderr, out))
            if (out / "run.json").exists():
                outcomes[-1].run = json.loads((out / "run.json").read_text())
    return outcomes


def environment() -> dict[str, str]:
    """Ours, without what would change how output looks."""
    return {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}


@pytest.fixture
def platform(tmp_path: Path) -> Callable[..., Path]:
    """Write a platform of ``hosts`` equal hosts of ``cores`` cores."""

    def write(hosts: int, cores: int = 1, memory: str = "4Gi") -> Path:
        lines = [
            f'<host id="node-{index}" speed="1Gf" core="{cores}"><prop id="memory" value="{memory}"/></host>'
            for index in range(hosts)
        ]
        path = tmp_path / f"{hosts}-hosts.xml"
        path.write_text(
            '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
            '<platform version="4.1"><zone id="site" routing="Full">\n'
            + "\n".join(lines)
            + '\n<host id="master_host" speed="1Gf"/>\n</zone></platform>\n'
        )
        return path

    return write


@pytest.fixture
def workload(tmp_path: Path) -> Callable[..., Path]:
    """Write a workload; each call makes another file."""
    count = 0

    def write(jobs: Iterable[JSON], profiles: dict[str, JSON], nb_res: int = 16) -> Path:
        nonlocal count
        path = tmp_path / f"workload-{count}.json"
        count += 1
        path.write_text(json.dumps({"nb_res": nb_res, "jobs": list(jobs), "profiles": profiles}))
        return path

    return write


@pytest.fixture(params=["fifo", "kube-scheduler-1.36.3"])
def scheduler(request: pytest.FixtureRequest, built_tool: Callable[[str], Path]) -> list[str]:
    """The options that choose a scheduler: the reference, and the real one."""
    if request.param == "fifo":
        return ["--scheduler", "fifo"]
    return ["--scheduler", "kube-scheduler", "--scheduler-binary", str(built_tool(request.param))]
