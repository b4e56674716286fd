"""Recorded runs of real Batsim: those of this repository, and those kept beside it where they are."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from tests.batsim.recording.archive import recordings

SHARED = Path(__file__).parents[3] / "shared"
TRANSCRIPTS = SHARED / "batsim-transcripts"
DATASETS = SHARED / "datasets"

needs_datasets = pytest.mark.skipif(not DATASETS.is_dir(), reason=f"the datasets are not at {DATASETS}")

_FROM_BATSIM = b'{"dir":"batsim->edc","msg":'


@dataclass(frozen=True)
class Scenario:
    """A real run of Batsim."""

    folder: Path
    shared: bool = False
    """True if it is kept beside the repository, and not in it."""

    @property
    def name(self) -> str:
        """Version of the protocol and kind of the run; runs of a kind have the same name wherever they are kept."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @cached_property
    def run(self) -> dict[str, object]:
        content: dict[str, object] = json.loads((self.folder / "run.json").read_text())
        return content

    @property
    def command(self) -> list[str]:
        return str(self.run["command"]).split()

    @property
    def exit_code(self) -> int:
        return int(str(self.run["exit_code"]))

    @property
    def diagnostics(self) -> list[str]:
        """The lines of warning and error that Batsim printed."""
        lines = self.run["diagnostics"]
        assert isinstance(lines, list)
        return [str(line) for line in lines]

    @cached_property
    def dialogue(self) -> list[tuple[bytes, bytes]]:
        """The messages of Batsim in its own bytes, each with the reply; the last may have none (empty)."""
        path = self.folder / "transcript.jsonl"
        pairs: list[tuple[bytes, bytes]] = []
        for line in path.read_bytes().splitlines() if path.exists() else ():
            if line.startswith(_FROM_BATSIM):
                pairs.append((line[len(_FROM_BATSIM) : -1], b""))
            else:
                said = json.loads(line)
                reply = said["raw"] if "raw" in said else json.dumps(said["msg"])
                pairs[-1] = (pairs[-1][0], reply.encode())
        return pairs


def scenarios(*versions: str) -> list[Scenario]:
    """All runs of these versions of the protocol: the repository's in order of their names, then those beside it."""
    own = [Scenario(path) for version in versions for path in recordings(version)]
    beside = [path for version in versions for path in sorted((TRANSCRIPTS / version).glob("*/"))]
    return own + [Scenario(path, shared=True) for path in beside]


def scenario(name: str) -> Scenario:
    """The repository's run of this name, such as ``v4/delays``."""
    (found,) = (one for one in scenarios(name.partition("/")[0]) if one.name == name and not one.shared)
    return found


def by_name(scenario: Scenario) -> str:
    """The id of a parametrized test."""
    return f"shared/{scenario.name}" if scenario.shared else scenario.name
