"""Is a run the same each time, byte for byte, whatever else the machine is doing? One line a run, then the answer."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from contention import Contention
from processes import StartError, hogs
from servers import built_tool


@dataclass(frozen=True)
class Outcome:
    """What a run left. ``real`` in seconds."""

    events: str
    """SHA-256 of events.jsonl."""
    jobs: str
    """SHA-256 of jobs.csv."""
    ended: dict[str, int]
    """How many jobs ended in which way."""
    simulated: float
    real: float


def play(words: list[str]) -> Outcome:
    """Run once. Raises StartError with what the command said when it failed."""
    with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as folder:
        command = [sys.executable, "-m", "batkube", "run", "--quiet", "--out", folder, *words]
        begun = time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        real = time.monotonic() - begun
        if done.returncode:
            raise StartError(f"{' '.join(command)}\nended with exit code {done.returncode}: {done.stderr.strip()}")
        run = json.loads((Path(folder) / "run.json").read_text())
    ended = {how: count for how, count in run["jobs"].items() if count and how != "submitted"}
    return Outcome(run["events_sha256"], run["jobs_sha256"], ended, run["simulated_seconds"], real)


def main() -> int:
    """Entry point; exit code 1 where runs differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--hogs", type=int, default=0, help="processes beside it that want a core each")
    parser.add_argument("--scheduler", default="kube-scheduler", choices=("kube-scheduler", "fifo"))
    parser.add_argument("--scheduler-cmd", help="instead: a program of your own, as for batkube run")
    parser.add_argument("--timers", default="window", help="as for batkube run")
    parser.add_argument("--pods", type=int, default=Contention.pods)
    parser.add_argument("--nodes", type=int, default=Contention.nodes)
    parser.add_argument("--hours", type=float, default=Contention.hours, help="simulated, over which the pods come")
    parser.add_argument("--urgent", type=float, default=0.0, help="share of pods that may preempt the others")
    parser.add_argument("--seed", type=int, default=Contention.seed, help="of the workload")
    options = parser.parse_args()
    given = Contention(options.pods, options.nodes, options.hours, options.urgent, options.seed)
    prints = set()
    try:
        with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as folder, hogs(options.hogs):
            platform, workload = given.write(Path(folder))
            words = ["--platform", str(platform), "--workload", str(workload), "--enable-compute-sharing"]
            words += ["--timers", options.timers]
            if options.scheduler_cmd:
                words += ["--scheduler-cmd", options.scheduler_cmd]
            else:
                words += ["--scheduler", options.scheduler]
                if options.scheduler == "kube-scheduler":
                    words += ["--scheduler-binary", str(built_tool("kube-scheduler-1.36.3"))]
            for number in range(1, options.runs + 1):
                one = play(words)
                prints.add((one.events, one.jobs))
                print(
                    f"run {number}: events.jsonl {one.events[:16]}  jobs.csv {one.jobs[:16]}  {one.ended}"
                    f"  {one.simulated / 3600:.1f} h in {one.real:.1f} s",
                    flush=True,
                )
    except (StartError, OSError, ValueError) as error:
        print(f"repeatability: {error}", file=sys.stderr)
        return 1
    print("all the same" if len(prints) == 1 else f"they differ: {len(prints)} kinds of results")
    return int(len(prints) != 1)


if __name__ == "__main__":
    sys.exit(main())
