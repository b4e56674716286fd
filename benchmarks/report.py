"""Measure reports of long runs: the time that one takes to make, its size, and how soon a browser shows it.

`python benchmarks/report.py` plays runs of 10,000 and 100,000 jobs first (`--jobs` others), and reports them. The
browser is Chromium, by Playwright; without one its columns are empty.
"""

import argparse
import json
import random
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from subprocess import run

ROOT = Path(__file__).parents[1]
HOSTS = 512
MEAN_SECONDS = 600.0
LOAD = 0.95
BATKUBE = [sys.executable, "-c", "import sys; from batkube.commands.cli import main; sys.exit(main())"]
DRAWINGS = 10


@dataclass(frozen=True)
class Measured:
    """The figures of one report. Times are real seconds."""

    jobs: int
    seconds: float
    cpu_seconds: float
    megabytes: float
    first_paint: float | None = None
    """From the beginning of loading the file to the first frame with all charts."""
    draw_by_node: float | None = None
    """One drawing of all bars."""
    draw_by_job: float | None = None

    def row(self) -> str:
        """Return the row of a table in Markdown."""
        times = (self.first_paint, self.draw_by_node, self.draw_by_job)
        page = [f"{value * 1000:,.0f} ms" if value is not None else "" for value in times]
        cells = [f"{self.jobs:,}", f"{self.seconds:.1f}", f"{self.cpu_seconds:.1f}", f"{self.megabytes:.1f}", *page]
        return f"| {' | '.join(cells)} |"


def workload(path: Path, jobs: int) -> None:
    """Write jobs of one host that keep HOSTS hosts nearly full, of four users and two queues."""
    draw = random.Random(7)
    date, rows, profiles = 0.0, [], {}
    for number in range(jobs):
        date += draw.expovariate(HOSTS * LOAD / MEAN_SECONDS)
        seconds = round(draw.expovariate(1 / MEAN_SECONDS)) + 1
        profiles[f"d{seconds}"] = {"type": "delay", "delay": seconds}
        whose = {"user": f"user-{draw.randrange(4)}", "queue": draw.choice(("short", "long"))}
        job = {"id": str(number), "subtime": round(date, 3), "res": 1, "profile": f"d{seconds}", "batkube": whose}
        rows.append({**job, "walltime": seconds * draw.choice((0.9, 2, 2, 3, 3))})
    path.write_text(json.dumps({"nb_res": HOSTS, "jobs": rows, "profiles": profiles}))


def measure(jobs: int, folder: Path) -> Measured:
    """Play a run of so many jobs, and report it."""
    out = folder / f"out-{jobs}"
    workload(folder / "workload.json", jobs)
    inputs = ["-p", str(ROOT / "platforms/cluster-512.xml"), "-w", str(folder / "workload.json")]
    run([*BATKUBE, "run", "-q", "-o", str(out), *inputs], check=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run([*BATKUBE, "report", str(out)], check=True, capture_output=True)
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    page = out / "report.html"
    return Measured(jobs, seconds, cpu, page.stat().st_size / 1e6, *in_browser(page))


def in_browser(page: Path) -> tuple[float | None, float | None, float | None]:
    """Return the times to the first paint and of one drawing by node and by job; None without a browser."""
    from playwright.sync_api import Error, sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=program, args=arguments)
        except Error as error:
            print(f"no browser: {error.message.splitlines()[0]}", file=sys.stderr)
            return None, None, None
        shown = browser.new_page(viewport={"width": 1600, "height": 1000})
        shown.goto(page.as_uri())
        shown.wait_for_selector("html[data-painted]", timeout=120_000)
        paint = shown.evaluate("batkubeReport.painted") / 1000
        draws = []
        for mode in ("node", "job"):
            shown.click(f"[data-mode={mode}]")
            code = f"(() => {{ const t = performance.now(); for (let i = 0; i < {DRAWINGS}; i++) batkubeReport.draw();"
            draws.append(shown.evaluate(f"{code} return (performance.now() - t) / {DRAWINGS}; }})()") / 1000)
        browser.close()
    return paint, draws[0], draws[1]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="*", default=[10_000, 100_000])
    given = parser.parse_args()
    print("| jobs | seconds | processor seconds | MB | first paint | one drawing by node | by job |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory(prefix="batkube-report-") as folder:
        for jobs in given.jobs:
            print(measure(jobs, Path(folder)).row(), flush=True)


if __name__ == "__main__":
    main()
