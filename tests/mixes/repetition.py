"""`python -m tests.mixes.repetition`: play random experiments several times each; tell which are not the same bytes.

Of each experiment events.jsonl and jobs.csv are compared, and what the runs say of themselves.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mixes.mix import mix
from tests.mixes.processes import arguments, batkube_run
from tests.tools import tools_folder

HOG = "while True: pass"


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.mixes.repetition", description=__doc__)
    add = parser.add_argument
    add("--count", type=int, default=200, help="how many experiments (%(default)s)")
    add("--seconds", type=float, default=float("inf"), help="begin no more after so many real seconds")
    add("--seed", type=int, default=1, help="of the first experiment (%(default)s)")
    add("--repeat", type=int, default=3, help="runs of each (%(default)s)")
    add("--scheduler", default="kube-scheduler", help="(%(default)s)")
    add("--version", default="1.36.3", help="of kube-scheduler (%(default)s)")
    add("--hogs", type=int, default=0, help="processes beside it that want a core each")
    add("--timeout", type=float, default=180, help="real seconds a run (%(default)s)")
    add("more", nargs="*", metavar="-- OPTION", help="options of batkube run")
    return parser.parse_args()


def fingerprint(words: list[str], out: Path, timeout: float) -> str:
    """Return what came of a run: hashes, or why there are none."""
    try:
        done = batkube_run(words, out, timeout)
    except subprocess.TimeoutExpired:
        return f"no end within {timeout:g} s"
    try:
        run = json.loads((out / "run.json").read_text())
    except FileNotFoundError:
        return f"refused: {done.stderr.strip()}"
    doubts = "; ".join(run["not_repeatable"])
    said = done.stderr.strip().splitlines()
    return " ".join([run["events_sha256"][:16], run["jobs_sha256"][:16], *filter(None, (doubts, *said[-1:]))])


def runs_of(seed: int, options: argparse.Namespace) -> list[str]:
    """The fingerprints of all runs of an experiment."""
    with TemporaryDirectory() as name:
        drawn = mix(seed)
        words = [*arguments(drawn, drawn.write(Path(name) / "inputs")), "--scheduler", options.scheduler]
        if options.scheduler == "kube-scheduler":
            words += ["--scheduler-binary", str(tools_folder() / f"kube-scheduler-{options.version}")]
        words += options.more
        return [fingerprint(words, Path(name) / str(run), options.timeout) for run in range(options.repeat)]


def main() -> int:
    """Exit code 1 where two runs differ."""
    options = parse()
    hogs = [subprocess.Popen([sys.executable, "-S", "-c", HOG]) for _ in range(options.hogs)]
    begun, played, apart = time.monotonic(), 0, 0
    try:
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() - begun > options.seconds:
                break
            found = runs_of(seed, options)
            played += 1
            if len(set(found)) > 1:
                apart += 1
                print(f"mix {seed}:", *found, sep="\n    ", flush=True)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    passed = time.monotonic() - begun
    print(f"{played} mixes from seed {options.seed}, {options.repeat} runs each, in {passed:.0f} s: {apart} differ")
    return int(bool(apart))


if __name__ == "__main__":
    sys.exit(main())
