"""Run kube-scheduler's own integration tests against an API server: batkube, unless told otherwise.

python -m tests.scheduler_suite                             all that needs a plain server
python -m tests.scheduler_suite --needs alpha --package 'scheduler/podgroup*'
python -m tests.scheduler_suite --server './my-server --port {port} --kubeconfig {kubeconfig}'
"""

import argparse
import sys
from collections import Counter
from collections.abc import Collection
from fnmatch import fnmatch
from pathlib import Path
from shlex import join
from tempfile import mkdtemp
from time import monotonic

from .binaries import SuiteError, built
from .expected import Leaf, Needs, expected
from .report import PASS, line, shortfalls, table
from .running import Task, run_all

_SLOW = "^TestPreemption(Starvation|Races)$/ClearingNominatedNodeNameAfterBinding:_false"
"""Wait half a minute each for what only a server in their own process does."""


def main() -> int:
    """0: all that was chosen passed; 1: something did not; 2: it could not be tried."""
    options = _options()
    try:
        return _run(options)
    except (SuiteError, OSError) as error:
        print(f"scheduler suite: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scheduler_suite", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    kinds = [needs.value for needs in Needs]
    parser.add_argument(
        "--needs", action="append", choices=kinds, help="leaves that need such a server; repeat (plain)"
    )
    parser.add_argument(
        "--package", action="append", default=[], metavar="GLOB", help="packages: 'scheduler/queueing*'"
    )
    parser.add_argument("--test", action="append", default=[], metavar="GLOB", help="top-level tests: 'TestPreempt*'")
    parser.add_argument(
        "--skip", action="append", default=[], metavar="GLOB", help="leaves that do not count: 'TestPreempt*/zero*'"
    )
    parser.add_argument(
        "--server", metavar="COMMAND", help="runs a server; {port}, {kubeconfig} and {dir} are filled in"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="a log of each test, and what failed (a new folder)")
    parser.add_argument("--jobs", type=int, default=6, help="tests at a time (6): most of the time they wait")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for a top-level test (900)")
    parser.add_argument("--build", action="store_true", help="build the tests, run none")
    return parser.parse_args()


def _batkube() -> str:
    """The command that runs batkube as installed here."""
    return f"{join([sys.executable, str(Path(__file__).with_name('server.py'))])} {{port}} {{kubeconfig}}"


def _run(options: argparse.Namespace) -> int:
    leaves = {
        leaf: needs
        for leaf, needs in expected({Needs(each) for each in options.needs or [Needs.PLAIN]}).items()
        if _matches(leaf.package, options.package)
        and _matches(leaf.top.test, options.test)
        and not any(fnmatch(leaf.test, glob) for glob in options.skip)
    }
    if not leaves:
        raise SuiteError("no test goes by these names")
    tops = Counter(leaf.top for leaf in leaves)
    binaries = {binary.package: binary for binary in built(sorted({top.package for top in tops}))}
    if options.build:
        return 0
    skip = "" if Needs.PROCESS in leaves.values() else _SLOW
    long_first = sorted(tops, key=lambda top: (-tops[top], top))
    tasks = [Task(binaries[top.package], top.test, skip) for top in long_first]
    out = options.out or Path(mkdtemp(prefix="scheduler-suite-"))
    results: dict[Leaf, str] = {}
    begun = monotonic()
    for count, outcome in enumerate(
        run_all(tasks, options.server or _batkube(), out, options.jobs, options.timeout), start=1
    ):
        results |= outcome.results
        print(f"{count}/{len(tasks)} {line(outcome)}", flush=True)
    failed = shortfalls(leaves, results)
    (out / "failed.txt").write_text("".join(f"{each}\n" for each in failed))
    print("", *failed, sep="\n")
    print(table(leaves, results))
    passed = sum(results.get(leaf) == PASS for leaf in leaves)
    print(f"\n{passed} of {len(leaves)} pass, {monotonic() - begun:.0f} s; logs in {out}")
    return int(bool(failed))


def _matches(name: str, globs: Collection[str]) -> bool:
    return not globs or any(fnmatch(name, glob) for glob in globs)


if __name__ == "__main__":
    sys.exit(main())
