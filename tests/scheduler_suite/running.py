"""Runs the tests: one process for each top-level test, so that one that hangs or crashes spoils no other."""

import os
import re
import signal
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from .binaries import Binary
from .expected import Leaf

_MARK = re.compile(r"\x16=== RUN +(?P<started>\S+)|\x16--- (?P<result>PASS|FAIL|SKIP): (?P<ended>\S+) \(")
"""The lines of a test binary with -test.v=test2json by which a test starts and ends."""

_OVERTIME = 15.0
"""Seconds given to a test binary that has noticed itself that it takes too long, to say where it hangs."""


class Task(NamedTuple):
    """A top-level test, and what of it is left out (as for `-test.skip`)."""

    binary: Binary
    test: str
    skip: str = ""


@dataclass(frozen=True)
class Outcome:
    """The results that one process told: PASS, FAIL or SKIP of each leaf, or UNFINISHED."""

    leaf: Leaf
    results: dict[Leaf, str]
    seconds: float
    log: Path


def run_all(tasks: Iterable[Task], server: str, out: Path, jobs: int, limit: float) -> Iterable[Outcome]:
    """Run them, `jobs` at a time, each against servers that the command starts; outcomes as they come."""
    out.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(_run, task, server, out, limit) for task in tasks]
        for future in as_completed(futures):
            yield future.result()


def _run(task: Task, server: str, out: Path, limit: float) -> Outcome:
    top = Leaf(task.binary.package, task.test)
    log = out / f"{top.package.replace('/', '.')}.{top.test}.log"
    words = [str(task.binary.path), "-test.v=test2json", f"-test.run=^{task.test}$", f"-test.timeout={limit:g}s"]
    if task.skip:
        words.append(f"-test.skip={task.skip}")
    begun = monotonic()
    with log.open("wb") as file:
        process = subprocess.Popen(
            words,
            cwd=task.binary.folder,
            stdout=file,
            stderr=subprocess.STDOUT,
            env=os.environ | {"SUITE_SERVER_CMD": server},
            start_new_session=True,
        )
        try:
            process.wait(limit + _OVERTIME)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Outcome(top, results_of(top, log), monotonic() - begun, log)


def results_of(top: Leaf, log: Path) -> dict[Leaf, str]:
    """Return what the log of a top-level test says of its leaves."""
    results = {top.test: "UNFINISHED"}
    for mark in _MARK.finditer(log.read_text(errors="replace")):
        if mark["started"]:
            results[mark["started"]] = "UNFINISHED"
        else:
            results[mark["ended"]] = mark["result"]
    parents = {name[:end] for name in results for end in _ends_of_parents(name)}
    return {Leaf(top.package, name): result for name, result in results.items() if name not in parents}


def _ends_of_parents(name: str) -> list[int]:
    return [at for at, letter in enumerate(name) if letter == "/"]
