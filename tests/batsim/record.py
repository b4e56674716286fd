"""Record real runs of Batsim anew: ``python -m tests.batsim.record [GROUP | KIND ...]``, by default all.

Needs Batsim 4.2.1 on PATH. Runs of the same inputs give the same archives, to the byte.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.batsim.recording.archive import RECORDINGS, pack, recordings
from tests.batsim.recording.kinds import GROUPS
from tests.batsim.recording.run import record

VERSION = "v4"
"""Of the protocol, in the folder's name."""


def main(wanted: list[str]) -> int:
    """Record what is wanted. The exit status."""
    if shutil.which("batsim") is None:
        print("record: batsim is not on PATH", file=sys.stderr)
        return 2
    known = {name for group, kinds in GROUPS.items() for name in (group, *(kind.name for kind in kinds))}
    if unknown := set(wanted) - known:
        print(f"record: there is no group or kind {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    for group, kinds in GROUPS.items():
        chosen = [kind for kind in kinds if not wanted or group in wanted or kind.name in wanted]
        if not chosen:
            continue
        with tempfile.TemporaryDirectory() as folder:
            kept = {path.name: path for path in recordings(VERSION)}
            for kind in kinds:
                target = Path(folder) / kind.name
                if kind in chosen:
                    record(kind, target)
                elif kind.name in kept:
                    shutil.copytree(kept[kind.name], target)
            pack(sorted(Path(folder).iterdir()), RECORDINGS / VERSION / f"{group}.tar.xz")
        print(f"{group}: {len(chosen)} recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
