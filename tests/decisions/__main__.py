"""Decisions of kube-scheduler: `record` on kube-apiserver, into recorded/VERSION.json; `check` on batkube."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.tools import tools_folder

from .playing import play
from .recorded import VERSIONS, read, write
from .scenarios import SCENARIOS, scenario


def main() -> int:
    """Record scenarios anew, or print how decisions differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.decisions", description=__doc__)
    parser.add_argument("task", choices=("record", "check"))
    parser.add_argument("--number", type=int, action="append", help="of a scenario; default: all")
    parser.add_argument("--scheduler", choices=VERSIONS, action="append", help="its version; default: all")
    parser.add_argument("--server", choices=("batkube", "kube-apiserver"), help="to check another than batkube")
    options = parser.parse_args()
    server = options.server or ("kube-apiserver" if options.task == "record" else "batkube")
    different = 0
    for version in options.scheduler or VERSIONS:
        recorded = read(version)
        for number in options.number or SCENARIOS:
            with tempfile.TemporaryDirectory() as folder:
                scheduler = tools_folder() / f"kube-scheduler-{version}"
                decisions = play(scenario(number), server, scheduler, Path(folder))
            bound = sum(1 for decision in decisions if decision["node"])
            victims = sum(len(decision.get("victims", ())) for decision in decisions)
            print(f"{version} {number}: {len(decisions)} pods, {bound} bound, {victims} victims", flush=True)
            if options.task == "record":
                recorded[str(number)] = decisions
            elif decisions != recorded[str(number)]:
                different += 1
                for was, now in zip(recorded[str(number)], decisions, strict=True):
                    if was != now:
                        print(f"  recorded {json.dumps(was)}\n  now      {json.dumps(now)}")
        if options.task == "record":
            write(version, recorded)
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
