"""`python -m tests.decisions record`: what kube-scheduler decides on kube-apiserver, into decisions.json."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from tests.conftest import tools_folder

from .playing import play
from .scenarios import SCENARIOS, scenario

RECORDED = Path(__file__).with_name("decisions.json")


def main() -> int:
    """Record all scenarios anew, or print how batkube's decisions differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.decisions", description=__doc__)
    parser.add_argument("task", choices=("record", "check"))
    parser.add_argument("--number", type=int, action="append", help="of a scenario; default: all")
    options = parser.parse_args()
    server = "kube-apiserver" if options.task == "record" else "batkube"
    scheduler = tools_folder() / "kube-scheduler-1.36.3"
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    different = 0
    for number in options.number or SCENARIOS:
        with tempfile.TemporaryDirectory() as folder:
            decisions = play(scenario(number), server, scheduler, Path(folder))
        bound = sum(1 for decision in decisions if decision["node"])
        victims = sum(len(decision.get("victims", ())) for decision in decisions)
        print(f"{number}: {len(decisions)} pods, {bound} bound, {victims} victims", flush=True)
        if options.task == "record":
            recorded[str(number)] = decisions
        elif decisions != recorded[str(number)]:
            different += 1
            for was, now in zip(recorded[str(number)], decisions, strict=True):
                if was != now:
                    print(f"  recorded {json.dumps(was)}\n  now      {json.dumps(now)}")
    if options.task == "record":
        lines = (f'"{number}": {json.dumps(recorded[number])}' for number in sorted(recorded, key=int))
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
