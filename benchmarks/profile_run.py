"""Measure what one case costs, and where it goes: processor time a job of batkube and of its scheduler, then a profile.

The first run is measured alone; the second is the same under cProfile, which makes it two or three times slower.
"""

import argparse
import io
import json
import pstats
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from cases import CASES, Case
from processes import StartError
from servers import built_tool

JSON = dict[str, Any]

MEASURED_RUN = Path(__file__).with_name("measured_run.py")
KUBE_SCHEDULER = "kube-scheduler-1.36.3"


def measure(case: Case, folder: Path, *, profile: Path | None = None, more: list[str] | None = None) -> JSON:
    """Run ``case`` once, its files in ``folder``: its cost, and the hashes of what came of it.

    ``more``: options of ``batkube run``. Raises StartError with what the command said when it failed.
    """
    found, run = measured([*case.write(folder), *(more or [])], folder, case.scheduler, profile=profile)
    quiescences = run["quiescence"]["observed"] + run["quiescence"]["in_process"]
    return {**found, "quiescences": quiescences, **{key: run[key] for key in ("events_sha256", "jobs_sha256")}}


def measured(words: list[str], folder: Path, scheduler: str, *, profile: Path | None = None) -> tuple[JSON, JSON]:
    """Run ``batkube run`` once, its results in ``out`` of ``folder``: its cost, and its ``run.json``.

    ``scheduler``: that of ``words``. Raises StartError with what the command said when it failed.
    """
    out, cost = folder / "out", folder / "cost.json"
    words = [*words, "--quiet", "--out", str(out)]
    if scheduler == "kube-scheduler":
        words += ["--scheduler-binary", str(built_tool(KUBE_SCHEDULER))]
    profiling = ["--profile", str(profile)] if profile else []
    command = [sys.executable, str(MEASURED_RUN), *profiling, str(cost), "run", *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise StartError(f"{' '.join(command)}\nended with exit code {done.returncode}: {done.stderr.strip()}")
    return json.loads(cost.read_text()), json.loads((out / "run.json").read_text())


def table(name: str, case: Case, cost: JSON) -> str:
    """One line of a table in Markdown."""
    own, other = (cost[who] * 1000 / case.jobs for who in ("batkube_seconds", "scheduler_seconds"))
    steps, quiescences = (cost[what] / case.jobs for what in ("steps", "quiescences"))
    ratio = f"{own / other:.2f}" if other else "-"
    return (
        f"| {name} | {case.hosts:,} | {case.jobs:,} | {own:.2f} ms | {other:.2f} ms | {ratio} "
        f"| {case.jobs / cost['real_seconds']:,.0f} | {steps:.1f} | {quiescences:.1f} "
        f"| {cost['peak_bytes'] >> 20} MiB |"
    )


HEAD = """\
| case | hosts | jobs | batkube's CPU a job | the scheduler's | ratio | jobs/s | steps a job | quiescences | memory |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=[*CASES], nargs="+")
    parser.add_argument("--jobs", type=int, help="instead of the case's own number")
    parser.add_argument("--no-profile", action="store_true", help="only the first run")
    parser.add_argument("--sort", default="tottime", help="of the profile: tottime, cumtime, ncalls (%(default)s)")
    parser.add_argument("--lines", type=int, default=40, help="of the profile (%(default)s)")
    parser.add_argument("--keep", type=Path, help="leave the files and the profile (profile.pstats) in this folder")
    options = parser.parse_args(sys.argv[1 : sys.argv.index("--")] if "--" in sys.argv else None)
    more = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
    print(HEAD, flush=True)
    try:
        for name in options.case:
            case = CASES[name].smaller(options.jobs) if options.jobs else CASES[name]
            with tempfile.TemporaryDirectory(prefix="batkube-profile-") as made:
                folder = options.keep or Path(made)
                folder.mkdir(parents=True, exist_ok=True)
                print(table(name, case, measure(case, folder, more=more)), flush=True)
                if not options.no_profile:
                    file = folder / "profile.pstats"
                    measure(case, folder, profile=file, more=more)
                    text = io.StringIO()
                    pstats.Stats(str(file), stream=text).sort_stats(options.sort).print_stats(options.lines)
                    print(text.getvalue(), flush=True)
    except (StartError, OSError) as error:
        print(f"profile_run: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
