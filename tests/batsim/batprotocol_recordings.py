"""The messages of 30 runs between a real Batsim 5.0.0-rc2 and decision processes of ours.

``recordings/v5/*.tar.xz`` have for each run ``transcript.jsonl`` and ``run.json``. In ``messages`` Batsim's JSON was
put on one line; of ``delays_binary``, and of each handshake, the bytes are there too. ``everything`` is made by
``record_batprotocol.py``, all bytes included but for the messages that named a folder.
"""

import base64
import json
import tarfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "recordings" / "v5"


@dataclass(frozen=True)
class Frame:
    """One message of either side."""

    from_batsim: bool
    document: dict[str, Any]
    content: bytes
    """As it went over the socket, where that is known; empty else."""


@dataclass
class Recording:
    """A run."""

    name: str
    run: dict[str, Any] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """Tell whether Batsim did not like what it was told."""
        return self.name.startswith("error_")

    def said(self, *, by_batsim: bool) -> list[Frame]:
        """The messages of one side, without the handshake."""
        return [frame for frame in self.frames[2:] if frame.from_batsim == by_batsim]


@cache
def recordings() -> dict[str, Recording]:
    """All runs by name."""
    found: dict[str, Recording] = {}
    for path in sorted(FOLDER.glob("*.tar.xz")):
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                assert file is not None
                name, _, kind = member.name.partition("/")
                recording = found.setdefault(name, Recording(name))
                if kind == "run.json":
                    recording.run = json.load(file)
                else:
                    recording.frames = [_frame(json.loads(line)) for line in file]
    return found


def _frame(line: dict[str, Any]) -> Frame:
    return Frame(
        from_batsim=line["dir"] == "batsim->edc",
        document=line["msg"],
        content=base64.b64decode(line.get("base64", "")),
    )
