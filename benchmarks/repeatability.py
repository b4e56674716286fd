"""Is a run the same each time, byte for byte, whatever else the machine is doing?

A line for each run that gave something new, then one for each case: how many runs, how many kinds of results. Without
--case it is the contention workload, for which there are options of its own.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from contention import Contention
from processes import StartError, hogs
from repeat_cases import CASES, Stage

VERSIONS = ("1.36.3", "1.34.3")
CONTENTION = "contention"


@dataclass(frozen=True)
class Outcome:
    """The results of a run."""

    events: str
    """SHA-256 of events.jsonl."""
    jobs: str
    """SHA-256 of jobs.csv."""
    ended: dict[str, int]
    """The number of jobs that ended in each way."""
    simulated: float
    """Seconds."""
    doubts: tuple[str, ...]
    """Its own reasons why it may not be repeatable."""
    real: float
    """Seconds."""


@dataclass
class Found:
    """The findings from the runs of a case."""

    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    doubts: Counter[str] = field(default_factory=Counter)
    beside_hogs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        runs = self.kinds.total()
        text = f"{runs} runs ({self.beside_hogs} beside hogs), {self.seconds / runs:.1f} s each: "
        text += (
            "all the same" if len(self.kinds) == 1 else f"{len(self.kinds)} kinds of results {[*self.kinds.values()]}"
        )
        return text + "".join(f"; not repeatable ({count} runs): {why}" for why, count in self.doubts.items())


def play(words: list[str], out: Path, timeout: float) -> Outcome:
    """Run once. Raises StartError with what the command said when it failed."""
    command = [sys.executable, "-m", "batkube", "run", "--quiet", "--out", str(out), *words]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise StartError(f"{' '.join(command)}\nhad no end within {timeout:g} s") from None
    real = time.monotonic() - begun
    if done.returncode:
        raise StartError(f"{' '.join(command)}\nended with exit code {done.returncode}: {done.stderr.strip()}")
    run = json.loads((out / "run.json").read_text())
    ended = {how: count for how, count in run["jobs"].items() if count and how != "submitted"}
    doubts = tuple(run["not_repeatable"])
    return Outcome(run["events_sha256"], run["jobs_sha256"], ended, run["simulated_seconds"], doubts, real)


def repeat(name: str, case: Callable[[Stage], list[str]], options: argparse.Namespace) -> Found:
    """Play a case as often as was asked for. Raises StartError."""
    found = Found()
    with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as folder, ExitStack() as programs:
        words = [*case(Stage(Path(folder), options.version, programs)), "--timers", options.timers]
        if options.batsim:
            words += ["--simulator", "batsim", "--batsim-binary", str(options.batsim)]
        for number in range(1, options.runs + 1):
            beside = 0 if options.half_hogs and number % 2 else options.hogs
            out = Path(folder) / "out"
            with hogs(beside):
                one = play(words, out, options.timeout)
            found.seconds += one.real
            found.beside_hogs += bool(beside)
            found.doubts.update(one.doubts)
            found.kinds[one.events, one.jobs] += 1
            if found.kinds[one.events, one.jobs] == 1:
                told = f"events.jsonl {one.events[:16]}  jobs.csv {one.jobs[:16]}  {one.ended}"
                hours = f"{one.simulated / 3600:.1f} h in {one.real:.1f} s"
                print(f"{name}, run {number}: {told}  {hours}", flush=True)
                if options.keep:
                    shutil.copytree(out, options.keep / name / str(number), dirs_exist_ok=True)
            shutil.rmtree(out)
    return found


def contention(options: argparse.Namespace) -> Callable[[Stage], list[str]]:
    """Return the case for which there are options."""

    def prepare(stage: Stage) -> list[str]:
        given = Contention(options.pods, options.nodes, options.hours, options.urgent, options.seed)
        platform, workload = given.write(stage.folder)
        words = ["--platform", str(platform), "--workload", str(workload), "--enable-compute-sharing"]
        if options.scheduler_cmd:
            return [*words, "--scheduler-cmd", options.scheduler_cmd]
        if options.scheduler == "kube-scheduler":
            return [*words, *stage.kube_scheduler()]
        return [*words, "--scheduler", options.scheduler]

    return prepare


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--case", action="append", choices=(CONTENTION, *CASES, "all"), help="repeat for several")
    add("--runs", type=int, default=20, help="of each case")
    add("--hogs", type=int, default=0, help="processes beside it that want a core each")
    add("--half-hogs", action="store_true", help="they are there in every second run only")
    add("--version", default=VERSIONS[0], choices=VERSIONS, help="of kube-scheduler")
    add("--batsim", type=Path, metavar="PATH", help="a real Batsim instead of the built-in simulator")
    add("--timers", default="window", help="as for batkube run")
    add("--timeout", type=float, default=600.0, help="real seconds that a run may take")
    add("--keep", type=Path, metavar="FOLDER", help="keep the results of each kind")
    own = parser.add_argument_group("contention").add_argument
    own("--scheduler", default="kube-scheduler", choices=("kube-scheduler", "fifo"))
    own("--scheduler-cmd", help="instead: a program of your own, as for batkube run")
    own("--pods", type=int, default=Contention.pods)
    own("--nodes", type=int, default=Contention.nodes)
    own("--hours", type=float, default=Contention.hours, help="simulated, over which the pods come")
    own("--urgent", type=float, default=0.0, help="share of pods that may preempt the others")
    own("--seed", type=int, default=Contention.seed, help="of the workload")
    return parser.parse_args()


def main() -> int:
    """Entry point; exit code 1 where runs differ."""
    options = parse()
    cases = {CONTENTION: contention(options), **CASES}
    chosen = options.case or [CONTENTION]
    differ = False
    for name in cases if "all" in chosen else chosen:
        try:
            found = repeat(name, cases[name], options)
        except (StartError, OSError, ValueError) as error:
            print(f"repeatability: {name}: {error}", file=sys.stderr)
            return 1
        print(f"{name}: {found}", flush=True)
        differ = differ or len(found.kinds) > 1
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
