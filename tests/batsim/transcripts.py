"""Where the reference data lies: transcripts of real Batsim runs and small datasets, kept beside the repository."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"
TRANSCRIPTS = SHARED / "batsim-transcripts"
DATASETS = SHARED / "datasets"

needs_transcripts = pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason=f"the transcripts are not at {TRANSCRIPTS}")
needs_datasets = pytest.mark.skipif(not DATASETS.is_dir(), reason=f"the datasets are not at {DATASETS}")

_FROM_BATSIM = b'{"dir":"batsim->edc","msg":'


@dataclass(frozen=True)
class Scenario:
    """A real run of Batsim."""

    folder: Path

    @property
    def name(self) -> str:
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
    """All runs of these versions of the protocol, in order of their names."""
    return [Scenario(path) for version in versions for path in sorted((TRANSCRIPTS / version).glob("*/"))]


def by_name(scenario: Scenario) -> str:
    """The id of a parametrized test."""
    return scenario.name
