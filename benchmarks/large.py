"""Large runs, each held to the invariants of `batkube check`: what they take, and what comes of them.

week: 512 hosts, 4,000 jobs with gangs and priorities, failures, maintenance, preemption; nothing may be lost.
month: the first month of a log of the Parallel Workloads Archive in SWF (`--log`), on 128 processors.
cluster: 50,000 pods on 5,000 nodes, nearly all of them there at one time.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from processes import StartError
from profile_run import JSON, measured

from batkube.checks.invariants import INVARIANTS, look
from batkube.comparison.facts import RecordedRun

WEEK = (
    *("--jobs", "4000", "--every", "150s", "--duration", "5h", "--spread", "1.2", "--seed", "5"),
    *("--sizes", "1=70,4=25,16=5", "--cpu", "2=1,4=1,8=1", "--priorities", "0=80,10=15,100=5"),
)
CLUSTER = (
    *("--jobs", "50000", "--every", "0.072s", "--duration", "2h", "--spread", "0.5", "--seed", "1"),
    *("--sizes", "1=1", "--cpu", "1=3,2=2,4=1"),
)
NODES_OF_A_MONTH = {"cores": ("-p", "16 x 8cpu,32Gi"), "pods": ("-p", "128 x 1cpu,4Gi")}


@dataclass(frozen=True)
class Options:
    """The options of a run, as on the command line."""

    scheduler: str
    packing: str
    log: Path | None


def week(folder: Path, options: Options) -> list[str]:
    """Write its files; return the words of `batkube run`."""

    def names(first: int, last: int) -> str:
        return json.dumps([f"node-{number:03d}" for number in range(first, last + 1)])

    events = folder / "events.yaml"
    events.write_text(
        "events:\n- {at: 30h, zone: b, down: 3h}\n"
        f"- {{at: 3d, node: {names(1, 32)}, drain: 6h}}\n"
        f"- {{at: 12h, node: {names(100, 115)}, drain: 1h, every: 1d, times: 6}}\n"
        f"- {{at: 4d, node: {names(200, 203)}, down: 10m, every: 1h, times: 12}}\n"
    )
    zones = [word for count, zone in ((171, "a"), (171, "b"), (170, "c")) for word in ("-p", _hosts(count, zone))]
    failures = ["--failures", "mtbf=10d,mttr=2h,per=host", "--events", str(events)]
    return [*zones, "-w", _generated(folder, WEEK), *failures, "--requeue", "checkpoint:30m"]


def month(folder: Path, options: Options) -> list[str]:
    """Take the first month out of the log; return the words of `batkube run`."""
    if options.log is None:
        raise StartError("month needs --log FILE: NASA-iPSC-1993-3.1-cln.swf.gz of the Parallel Workloads Archive")
    part = folder / "month.swf"
    _batkube("import", str(options.log), "--until", "31d", "-o", str(part))
    return [*NODES_OF_A_MONTH[options.packing], "-w", str(part), "--packing", options.packing]


def cluster(folder: Path, options: Options) -> list[str]:
    """Write its jobs; return the words of `batkube run`."""
    return ["-p", "5000 x 20cpu,64Gi", "-w", _generated(folder, CLUSTER)]


CASES: dict[str, Callable[[Path, Options], list[str]]] = {"week": week, "month": month, "cluster": cluster}


def _hosts(count: int, zone: str) -> str:
    return f"{count} x 8cpu,32Gi zone={zone}"


def _generated(folder: Path, words: tuple[str, ...]) -> str:
    path = folder / "jobs.csv"
    _batkube("generate", *words, "-o", str(path))
    return str(path)


def _batkube(*words: str) -> None:
    done = subprocess.run([sys.executable, "-m", "batkube", *words], capture_output=True, text=True)
    print((done.stdout + done.stderr).strip(), file=sys.stderr)
    if done.returncode:
        raise StartError(f"batkube {words[0]} ended with exit code {done.returncode}")


def report(name: str, cost: JSON, run: JSON, results: RecordedRun) -> bool:
    """Tell what came of a run; False if an invariant is broken."""
    theirs = (run["scheduler_use"] or {}).get("peak_memory") or 0
    figures = {key: run["figures"][key] for key in ("waiting_time", "cpu_utilization", "preempted", "lost_work")}
    lines = {
        "jobs": {key: value for key, value in run["jobs"].items() if value},
        "simulated": f"{run['simulated_seconds']:,.0f} s in {cost['real_seconds']:,.0f} s",
        "processor time": f"batkube {cost['batkube_seconds']:,.0f} s, scheduler {cost['scheduler_seconds']:,.0f} s",
        "peak memory": f"batkube {cost['peak_bytes'] >> 20} MiB, scheduler {theirs >> 20} MiB",
        "figures": figures,
        "queued again": run["requeued"],
        "events": run["events_sha256"][:16],
        "repeatable": run["repeatable"] or run["not_repeatable"],
    }
    found = {check: look(check, results) for check in INVARIANTS}
    lines["invariants"] = {check: one.breaches or "holds" for check, one in found.items()}
    print(f"{name}:", *(f"  {key}: {value}" for key, value in lines.items()), sep="\n", flush=True)
    return all(one.holds for one in found.values())


def main() -> int:
    """Return 1 where an invariant is broken, or runs of one input differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=[*CASES])
    parser.add_argument("--scheduler", default="kube-scheduler", help="or a policy: fifo, easy (%(default)s)")
    packing = "of month: 16 hosts of 8 cores (cores), or a pod a processor on 128 of one (pods)"
    parser.add_argument("--packing", choices=[*NODES_OF_A_MONTH], default="cores", help=packing)
    parser.add_argument("--log", type=Path, help="of month: the log")
    parser.add_argument("--repeat", type=int, default=1, help="runs of the same input (%(default)s)")
    parser.add_argument("--keep", type=Path, help="leave the files in this folder")
    parser.epilog = "What follows -- are options of `batkube run`."
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, more = parser.parse_args(sys.argv[1:end]), sys.argv[end + 1 :]
    hashes, holds = set(), True
    with tempfile.TemporaryDirectory(prefix="batkube-large-") as made:
        folder: Path = options.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            chosen = Options(options.scheduler, options.packing, options.log)
            words = [*CASES[options.case](folder, chosen), "--enable-compute-sharing"]
            words += ["--scheduler", options.scheduler, *more]
            for _ in range(options.repeat):
                cost, run = measured(words, folder, options.scheduler)
                holds = report(options.case, cost, run, RecordedRun(folder / "out")) and holds
                hashes.add((run["events_sha256"], run["jobs_sha256"]))
        except (StartError, OSError) as error:
            print(f"large: {error}", file=sys.stderr)
            return 1
    if options.repeat > 1:
        print(f"{options.repeat} runs gave {len(hashes)} different results")
    return int(not holds or len(hashes) > 1)


if __name__ == "__main__":
    sys.exit(main())
