"""Is a seed a fair draw? The mean waiting times of so many seeds, beside those of as many runs without determinism.

One line a workload and way; then how often as large a difference of the means comes of shuffling the runs.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cases import Case
from contention import Contention
from processes import StartError
from servers import built_tool

SHUFFLES = 10_000


def write(name: str, folder: Path) -> list[str]:
    """The words of ``batkube run`` for a workload, whose files are written into ``folder``."""
    if name == "gangs":
        return Case(16, 40, "kube-scheduler", largest=8).write(folder)
    urgent = 0.2 if name == "preemption" else 0.0
    platform, workload = Contention(pods=120, hours=14.0, urgent=urgent, seed=3).write(folder)
    words = ["--platform", str(platform), "--workload", str(workload), "--enable-compute-sharing"]
    return [*words, "--scheduler", "kube-scheduler"]


def mean_wait(words: list[str], out: Path) -> float:
    """Simulated seconds that the jobs of a run waited on average. Raises StartError."""
    command = [sys.executable, "-m", "batkube", "run", "-q", "-o", str(out), *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise StartError(f"{' '.join(command)}\nended with exit code {done.returncode}: {done.stderr.strip()}")
    return float(json.loads((out / "run.json").read_text())["mean_waiting_time"])


def chance(one: Sequence[float], other: Sequence[float]) -> float:
    """The share of shuffled halves whose means lie as far apart."""
    apart = abs(statistics.fmean(one) - statistics.fmean(other))
    together, shuffled, count = [*one, *other], random.Random(1), 0
    for _ in range(SHUFFLES):
        shuffled.shuffle(together)
        halves = together[: len(one)], together[len(one) :]
        count += abs(statistics.fmean(halves[0]) - statistics.fmean(halves[1])) >= apart - 1e-9
    return count / SHUFFLES


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--workload", action="append", choices=("sharing", "preemption", "gangs"))
    parser.add_argument("--determinism", default="strict", choices=("strict", "fast"))
    options = parser.parse_args()
    print("| workload | runs | mean wait | deviation | least | most |\n|---|---|---:|---:|---:|---:|")
    try:
        scheduler = ["--scheduler-binary", str(built_tool("kube-scheduler-1.36.3"))]
        for name in options.workload or ("sharing", "preemption", "gangs"):
            found: dict[str, list[float]] = {}
            with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as folder:
                words = [*write(name, Path(folder)), *scheduler]
                for way in (f"{options.runs} seeds, {options.determinism}", f"{options.runs} runs, none"):
                    waits = found[way] = []
                    for run in range(1, options.runs + 1):
                        kind = way.rpartition(" ")[2]
                        seed = "0" if kind == "none" else str(run)  # then chance is all that differs
                        drawn = ["--determinism", kind, "--seed", seed]
                        waits.append(mean_wait([*words, *drawn], Path(folder) / "out"))
                    print(
                        f"| {name} | {way} | {statistics.fmean(waits):.2f} s | {statistics.stdev(waits):.2f} "
                        f"| {min(waits):.2f} | {max(waits):.2f} |",
                        flush=True,
                    )
            print(f"{name}: as far apart by chance in {chance(*found.values()):.1%}", file=sys.stderr)
    except (StartError, OSError, ValueError) as error:
        print(f"seed_spread: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
