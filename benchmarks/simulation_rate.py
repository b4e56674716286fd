"""Measure how many seconds of cluster life pass in a second of a whole `batkube run`, start and end included."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from processes import StartError
from servers import built_tool

ROOT = Path(__file__).parent.parent
SCHEDULERS = ("fifo", "easy", "fifo over HTTP", "kube-scheduler")
FIFO_PROGRAM = f"{sys.executable} -m batkube.schedulers.fifo --kubeconfig {{kubeconfig}}"


@dataclass(frozen=True)
class Measurement:
    """One run. Times are seconds."""

    scheduler: str
    workload: str
    jobs: int
    simulated: float
    real: float


def measure(platform: Path, workload: Path, scheduler: str, timers: str) -> Measurement:
    """Run once. Raises StartError with what the command said when it failed."""
    with tempfile.TemporaryDirectory(prefix="batkube-benchmark-") as folder:
        command = [sys.executable, "-m", "batkube", "run", "--quiet", "--out", folder]
        command += ["--platform", str(platform), "--workload", str(workload)]
        command += ["--timers", timers]
        command += ["--scheduler-cmd", FIFO_PROGRAM] if "HTTP" in scheduler else ["--scheduler", scheduler]
        if scheduler == "kube-scheduler":
            command += ["--scheduler-binary", str(built_tool("kube-scheduler-1.36.3"))]
        begun = time.monotonic()
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        real = time.monotonic() - begun
        if done.returncode:
            raise StartError(f"{' '.join(command)}\nended with exit code {done.returncode}: {done.stderr.strip()}")
        manifest = json.loads((Path(folder) / "run.json").read_text())
    jobs = len(json.loads(workload.read_text())["jobs"])
    return Measurement(scheduler, workload.stem, jobs, manifest["simulated_seconds"], real)


def platform_of(workload: Path) -> Path:
    """The platform that a workload says it is made for, or else the small cluster."""
    named = json.loads(workload.read_text()).get("platform", "small-cluster.xml")
    return ROOT / "platforms" / str(named)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", type=Path, help="default: the workload's, or the small cluster")
    parser.add_argument("--workload", type=Path, action="append", help="default: all in workloads/")
    parser.add_argument("--scheduler", choices=SCHEDULERS, action="append", help="default: all")
    parser.add_argument("--timers", default="window", help="as for batkube run (%(default)s)")
    options = parser.parse_args()
    print("| scheduler | workload | jobs | simulated | real | simulated per real second | real per job |")
    print("|---|---|---:|---:|---:|---:|---:|")
    try:
        for workload in options.workload or sorted((ROOT / "workloads").glob("*.json")):
            for scheduler in options.scheduler or SCHEDULERS:
                one = measure(options.platform or platform_of(workload), workload, scheduler, options.timers)
                print(
                    f"| {one.scheduler} | {one.workload} | {one.jobs:,} | {one.simulated:,.0f} s | {one.real:.1f} s "
                    f"| {one.simulated / one.real:,.0f} | {one.real / one.jobs * 1000:.1f} ms |",
                    flush=True,
                )
    except (StartError, OSError, ValueError) as error:
        print(f"simulation_rate: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
