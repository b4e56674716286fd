"""`python -m tests.mixes.conservation`: random clusters whose jobs are disrupted, and whose work must be accounted for.

Gangs and priorities, machines that fail and are drained, users who evict and delete; each job that came must come to
its end once, over all its attempts, and each of `batkube check`'s invariants must hold.
"""

import argparse
import csv
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from batkube.checks.invariants import INVARIANTS, look
from batkube.comparison.facts import RecordedRun
from batkube.results.jobs import JobRow
from tests.mixes.processes import KUBE_SCHEDULER, batkube_run
from tests.tools import tools_folder

JSON = dict[str, Any]
SCHEDULERS = ("kube-scheduler", "kube-scheduler", "kube-scheduler", "easy", "fifo", "tests.mixes.ruthless:Ruthless")
EQUAL = 1e-3
"""Seconds by which a job's work may differ from its length: each attempt's dates have six decimals."""


def draw(seed: int, folder: Path) -> list[str]:
    """Write the files of an experiment; return the words of `batkube run` for it."""
    random = Random(seed)
    hosts, cores = random.randint(2, 8), random.choice((2, 4, 8))
    folder.mkdir(parents=True, exist_ok=True)
    _write_jobs(random, hosts, cores, folder / "jobs.csv")
    words = ["-p", f"{hosts} x {cores}cpu,32Gi zone=a", "-w", str(folder / "jobs.csv"), "--seed", str(seed % 5)]
    if random.random() < 0.7:
        words.append("--enable-compute-sharing")
    if random.random() < 0.5:
        mtbf, mttr = random.choice((200, 900, 4000)), random.choice((5, 60, 600))
        words += ["--failures", f"mtbf={mtbf}s,mttr={mttr}s,per={random.choice(('host', 'host', 'zone'))}"]
    if events := list(_events(random, hosts)):
        lines = ["events:", *(f"- {json.dumps(event)}" for event in events)]
        (folder / "events.yaml").write_text("\n".join(lines))
        words += ["--events", str(folder / "events.yaml")]
    words += ["--requeue", random.choice(("restart", "checkpoint:10s", "checkpoint:1m"))]
    if random.random() < 0.2:
        (folder / "startup.yaml").write_text("started: {exponential: {mean: 2, shift: 0.5}}\nended: 1\n")
        words += ["--startup", str(folder / "startup.yaml")]
    if random.random() < 0.2:
        words += ["--decision-time", "0.25"]
    scheduler = random.choice(SCHEDULERS)
    if scheduler == "kube-scheduler":
        words += ["--scheduler-binary", str(tools_folder() / KUBE_SCHEDULER)]
    return [*words, "--scheduler", scheduler, "--on-deadlock", "reject"]


def _write_jobs(random: Random, hosts: int, cores: int, path: Path) -> None:
    priorities: Sequence[object] = random.choice((("",), (0, 10), (0, 0, 0, 100), (0, 1, 2, 3)))
    largest = random.choice((1, 2, hosts))
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["submit", "duration", "cpu", "count", "priority"])
        date = 0.0
        for _ in range(random.randint(3, 40)):
            date += random.choice((0, 0, 1, random.expovariate(1 / 20)))
            length = random.choice((0.5, 10, 60, 300, round(random.expovariate(1 / 60) + 0.001, 3)))
            count = random.choice((1, 1, random.randint(1, largest)))
            writer.writerow([round(date, 3), length, random.randint(1, cores), count, random.choice(priorities)])


def _events(random: Random, hosts: int) -> Iterator[JSON]:
    for _ in range(random.choice((0, 0, 1, 3))):
        nodes = [f"node-{number}" for number in random.sample(range(1, hosts + 1), random.choice((1, 1, hosts)))]
        kind = random.choice(("down", "drain", "drain"))
        event: JSON = {
            "at": random.choice((0, 10, random.randint(0, 400))),
            "node": nodes,
            kind: random.randint(1, 200),
        }
        if random.random() < 0.3:
            event |= {"every": event[kind] + random.randint(1, 100), "times": random.randint(2, 6)}
        yield event


def faults(words: list[str], out: Path, timeout: float) -> list[str]:
    """Run it; return all that is wrong with what came of it."""
    try:
        done = batkube_run(words, out, timeout)
    except subprocess.TimeoutExpired:
        return [f"no end within {timeout:g} s"]
    if done.returncode or not (out / "run.json").exists():
        return [f"exit code {done.returncode}: {done.stderr.strip()[-400:]}"]
    run = RecordedRun(out)
    shared = "--enable-compute-sharing" in words
    found = [breach for name in INVARIANTS for breach in look(name, run, shared=shared).breaches]
    return found + list(_unfinished(run, words))


def _unfinished(run: RecordedRun, words: list[str]) -> Iterator[str]:
    """Yield the jobs whose attempts do not end in one that succeeds, after exactly their length of work."""
    with Path(words[words.index("-w") + 1]).open(newline="") as file:
        lengths = {str(number): float(row["duration"]) for number, row in enumerate(csv.DictReader(file), 1)}
    attempts: dict[str, list[JobRow]] = {}
    for row in run.job_rows:
        attempts.setdefault(row.job_id.partition(".attempt")[0], []).append(row)
    for name, length in lengths.items():
        rows = attempts.get(name, [])
        states = [row.final_state.removeprefix("COMPLETED_") for row in rows]
        if states == ["REJECTED"]:  # it can never run, or not while others hold what it needs
            continue
        if not states or set(states[:-1]) - {"KILLED"} or states[-1] != "SUCCESSFULLY":
            yield f"job {name} came to {states}"
            continue
        done = sum(float(row.metadata.partition("done=")[2].partition(";")[0]) for row in rows)
        if abs(done - length) > EQUAL * len(rows):
            yield f"job {name} takes {length} s, and has done {done}"


def main() -> int:
    """Return 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.mixes.conservation", description=__doc__)
    add = parser.add_argument
    add("--count", type=int, default=200, help="how many experiments (%(default)s)")
    add("--seconds", type=float, default=float("inf"), help="begin no more after so many real seconds")
    add("--seed", type=int, default=1, help="of the first experiment (%(default)s)")
    add("--timeout", type=float, default=180, help="real seconds a run (%(default)s)")
    options = parser.parse_args()
    begun = time.monotonic()
    played = wrong = jobs = 0
    causes: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.count):
        if time.monotonic() - begun > options.seconds:
            break
        with TemporaryDirectory() as name:
            out = Path(name) / "out"
            found = faults(draw(seed, Path(name)), out, options.timeout)
            if (out / "run.json").exists():
                run = json.loads((out / "run.json").read_text())
                jobs += run["jobs"]["submitted"]
                causes.update(run["requeued"]["causes"])
        played += 1
        if found:
            wrong += 1
            print(f"mix {seed}:", *found[:4], sep="\n    ", flush=True)
    print(f"{played} mixes from seed {options.seed} in {time.monotonic() - begun:.0f} s: {wrong} wrong")
    print(f"{jobs} jobs and attempts; disruptions: {dict(causes)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
