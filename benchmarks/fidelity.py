"""Repeat the published runs of a real cluster in simulation, and say how far apart makespan and waiting time are.

The real cluster: k3s, 15 nodes that take one pod each, 200 jobs that sleep for 170 s (batkube-test, five runs of each
of two workloads). The start-up model is fitted to runs 0 to 2; the simulation is compared with runs 3 and 4.
docs/fidelity.md has the results.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from processes import StartError
from servers import built_tool

from batkube.results.result import Result

ROOT = Path(__file__).parent.parent
DATA = ROOT.parent / "shared" / "datasets" / "batkube-test" / "real"
WORKLOADS = ("200_delay170", "spaced_200_delay170")
NODES, JOBS, SLEEP = 15, 200, 170.0
FITTED, COMPARED = (0, 1, 2), (3, 4)
"""Numbers of the real runs."""

FLAGS = "--leader-elect=false --kube-api-qps=5000 --kube-api-burst=5000 --secure-port=0"
VARIANTS: dict[str, list[str]] = {
    "no start-up": ["--scheduler", "kube-scheduler"],
    "start-up": ["--scheduler", "kube-scheduler"],
    "start-up, back-off": ["--timers", "window"],
}
"""The arguments that are added to the command line."""


@dataclass(frozen=True)
class Outcome:
    """Of one run, in seconds."""

    makespan: float
    """From the run's origin to the end of the last pod."""
    waiting: float
    """Mean time from a job's submission to its start."""


def submissions(workload: str) -> list[float]:
    """Return the dates at which jobs arrived.

    The burst was posted through a client that lets 10 requests pass at once, and 5 a second.
    """
    if workload == "200_delay170":
        return [max(0.0, (index - 9) / 5) for index in range(JOBS)]
    return [10.0 * index for index in range(JOBS)]


def write_inputs(folder: Path) -> None:
    """The platform and the workloads."""
    hosts = "".join(f'<host id="node-{index:02}" speed="1Gf" core="1"/>' for index in range(1, NODES + 1))
    (folder / "platform.xml").write_text(
        f'<platform version="4.1"><zone id="cluster" routing="Full">{hosts}'
        '<host id="master_host" speed="1Gf"/></zone></platform>\n'
    )
    for workload in WORKLOADS:
        jobs = [
            {"id": str(number), "subtime": subtime, "res": 1, "profile": "sleep"}
            for number, subtime in enumerate(submissions(workload), start=1)
        ]
        profiles = {"sleep": {"type": "delay", "delay": SLEEP, "cpu": 1}}
        (folder / f"{workload}.json").write_text(json.dumps({"nb_res": NODES, "jobs": jobs, "profiles": profiles}))


def recorded(data: Path, runs: Sequence[int]) -> list[Path]:
    """The CSV files of these runs, of both workloads."""
    return [data / f"{workload}_{run}_jobs.csv" for workload in WORKLOADS for run in runs]


def batkube(*words: object) -> str:
    """Run the command, and return what it said. Raises StartError."""
    line = [sys.executable, "-m", "batkube", *map(str, words)]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise StartError(f"{' '.join(line)}\nended with exit code {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def fit(data: Path, folder: Path) -> str:
    """Write startup.yaml; how well it fits."""
    tests = [word for path in recorded(data, COMPARED) for word in ("--test", path)]
    out = folder / "startup.yaml"
    return batkube("fit-startup", *recorded(data, FITTED), *tests, "--process-time", SLEEP, "-o", out)


def real(data: Path, workload: str, run: int) -> Outcome:
    """The values measured."""
    figures = Result.of_jobs_csv(data / f"{workload}_{run}_jobs.csv").figures
    assert figures.makespan is not None
    assert figures.waiting_time.mean is not None
    return Outcome(figures.makespan, figures.waiting_time.mean)


def simulate(folder: Path, workload: str, variant: str, seed: int) -> Outcome:
    """One run. Raises StartError."""
    scheduler = built_tool("kube-scheduler-1.36.3")
    out = folder / f"{workload}-{variant.replace(', ', '-').replace(' ', '-')}-{seed}"
    words: list[object] = ["run", "-q", "-p", folder / "platform.xml", "-w", folder / f"{workload}.json", "-o", out]
    words += ["--seed", seed, *VARIANTS[variant]]
    if "back-off" in variant:
        gate = "--feature-gates=SchedulerPopFromBackoffQ=false"
        words += ["--scheduler-cmd", f"{scheduler} --kubeconfig {{kubeconfig}} {FLAGS} {gate}"]
    else:
        words += ["--scheduler-binary", scheduler]
    if variant != "no start-up":
        words += ["--startup", folder / "startup.yaml"]
    batkube(*words)
    result = Result(out)
    assert result.figures.waiting_time.mean is not None
    makespan = max(pod.finish_time or 0.0 for pod in result.pod_rows)  # the end of pods, as measured, not of jobs
    outcome = Outcome(makespan, result.figures.waiting_time.mean)
    print(f"{out.name}: makespan {outcome.makespan:.1f} s, mean wait {outcome.waiting:.1f} s", file=sys.stderr)
    return outcome


def row(name: str, outcomes: Sequence[Outcome], reference: Sequence[Outcome]) -> str:
    """A line of the table."""
    cells = [name, str(len(outcomes))]
    for values, goal in (
        ([outcome.makespan for outcome in outcomes], fmean(outcome.makespan for outcome in reference)),
        ([outcome.waiting for outcome in outcomes], fmean(outcome.waiting for outcome in reference)),
    ):
        spread = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
        cells += [f"{fmean(values):.1f}{spread}", f"{fmean(values) / goal - 1:+.2%}" if outcomes != reference else ""]
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real runs (%(default)s)")
    parser.add_argument("--seeds", type=int, default=10, help="how many runs of each kind (%(default)s)")
    parser.add_argument("--parallel", type=int, default=2, help="how many runs at a time (%(default)s)")
    parser.add_argument("--variant", choices=VARIANTS, action="append", help="default: all")
    parser.add_argument("--keep", type=Path, help="folder in which to leave inputs and results")
    options = parser.parse_args()
    if not options.data.exists():
        print(f"fidelity: {options.data} is not here: nothing to compare with", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="batkube-fidelity-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            compare(options.data, folder, options.variant or list(VARIANTS), options.seeds, options.parallel)
        except (StartError, OSError, ValueError) as error:
            print(f"fidelity: {error}", file=sys.stderr)
            return 1
    return 0


def compare(data: Path, folder: Path, variants: Sequence[str], seeds: int, parallel: int) -> None:
    """Fit, simulate, and print the tables."""
    write_inputs(folder)
    print(fit(data, folder), flush=True)
    with ThreadPoolExecutor(parallel) as pool:
        # Without a start-up model nothing depends on the seed.
        waiting = {
            (workload, variant): [
                pool.submit(simulate, folder, workload, variant, seed)
                for seed in range(1 if variant == "no start-up" else seeds)
            ]
            for variant in variants
            for workload in WORKLOADS
        }
        for workload in WORKLOADS:
            reference = [real(data, workload, run) for run in COMPARED]
            print(f"\n{workload}\n\n| | runs | makespan, s | | mean wait, s | |\n|---|---:|---:|---:|---:|---:|")
            print(row("real, compared with", reference, reference))
            print(row("real, fitted to", [real(data, workload, run) for run in FITTED], reference))
            for variant in variants:
                print(row(variant, [run.result() for run in waiting[workload, variant]], reference), flush=True)


if __name__ == "__main__":
    sys.exit(main())
