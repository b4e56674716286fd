"""Check a server against the recorded cases, or record them anew.

python -m tests.conformance check                       batkube, started here
python -m tests.conformance check --server URL --token T --strict
python -m tests.conformance record --only 'pods-*'      from a kube-apiserver with etcd, started here
"""

import argparse
import random
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from . import servers
from .cases import CORPUS, CaseError, chosen, load
from .checking import JOBS, differences, outcome_of, run_all
from .exchange import ExchangeError
from .known import known_differences
from .recording import record
from .report import area_table, case_text, write_junit
from .servers import Server


def main() -> int:
    """0: as recorded, but for what is known to differ; 1: something differs; 2: it could not be tried."""
    options = _options()
    try:
        with _server(options) as server:
            return _check(options, server) if options.command == "check" else _record(options, server)
    except (CaseError, ExchangeError, RuntimeError, OSError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="conformance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    checking = commands.add_parser("check", help="compare a server with the record")
    checking.add_argument("--strict", action="store_true", help="compare everything, message texts too")
    checking.add_argument("--all", action="store_true", help="count and show known differences as any other")
    checking.add_argument("--junit", type=Path, metavar="FILE")
    checking.add_argument("--shuffle", type=int, nargs="?", const=random.randrange(10**6), metavar="SEED")
    checking.add_argument("--skip-tag", action="append", default=[], metavar="TAG", help="leave out cases so tagged")
    recording = commands.add_parser("record", help="write down what a real server answers, into the files of cases")
    for command in (checking, recording):
        command.add_argument("corpus", type=Path, nargs="*", default=[CORPUS], help="folders or .jsonl files")
        command.add_argument("--server", metavar="URL", help="a server that runs; else one is started")
        command.add_argument("--token", default="", help="its bearer token")
        command.add_argument("--only", action="append", default=[], metavar="GLOB", help="cases by name: 'pods-*'")
        command.add_argument("--jobs", type=int, default=JOBS, help=f"cases at a time ({JOBS})")
    return parser.parse_args()


def _server(options: argparse.Namespace) -> AbstractContextManager[Server]:
    if options.server:
        return nullcontext(Server(options.server, options.token))
    return servers.batkube() if options.command == "check" else servers.kube_apiserver()


def _check(options: argparse.Namespace, server: Server) -> int:
    cases = chosen(load(options.corpus), options.only, options.skip_tag)
    if not cases:
        raise CaseError("no case to check")
    if options.shuffle is not None:
        random.Random(options.shuffle).shuffle(cases)
    outcomes = run_all(cases, options.jobs, server.url, server.token, outcome_of)
    found = [differences(case, outcome, strict=options.strict) for case, outcome in zip(cases, outcomes, strict=True)]
    known = {} if options.all else known_differences(strict=options.strict)
    if options.junit:
        write_junit(options.junit, cases, found)
    failed = False
    for case, of_case in zip(cases, found, strict=True):
        if of_case and case["case"] not in known:
            failed = True
            print(case_text(case, of_case))
    print(area_table(cases, found, list(known)))
    return int(failed)


def _record(options: argparse.Namespace, server: Server) -> int:
    files = [file for path in options.corpus for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    complaints = record(files, options.only, options.jobs, server.url, server.token)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
