"""Recordings of scenarios beside the real kube-controller-manager: `record` writes them anew, `check` compares."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.tools import tools_folder

from .comparing import differences
from .recording import MANAGER, keep, record, recorded
from .scenario import names


def main() -> int:
    """Record scenarios, or print how what happens now differs from the recordings."""
    parser = argparse.ArgumentParser(prog="python -m tests.controllers", description=__doc__)
    parser.add_argument("task", choices=("record", "check"))
    parser.add_argument("scenarios", nargs="*", help="their names; default: all")
    options = parser.parse_args()
    different = 0
    for name in options.scenarios or names():
        with tempfile.TemporaryDirectory() as folder:
            notes = record(name, tools_folder() / MANAGER, Path(folder))
        found = [] if options.task == "record" else differences(recorded(name), notes)
        if options.task == "record":
            keep(name, notes)
        different += bool(found)
        print("\n".join([f"{name}: {len(found)} differences" if found else name, *found]), flush=True)
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
