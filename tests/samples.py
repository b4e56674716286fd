"""The workloads and platforms that come with batkube, each workload with the files it is made for."""

import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORKLOADS = ROOT / "workloads"
PLATFORMS = ROOT / "platforms"


@dataclass(frozen=True)
class Sample:
    """A workload; its members ``platform`` and ``events`` name the files it needs, if not the small cluster alone."""

    path: Path

    @property
    def content(self) -> dict[str, object]:
        read: dict[str, object] = json.loads(self.path.read_text())
        return read

    @property
    def platform(self) -> Path:
        return PLATFORMS / str(self.content.get("platform", "small-cluster.xml"))

    @property
    def events(self) -> list[str]:
        """The words of a command line for its external events, if it has some."""
        events = self.content.get("events")
        return ["--events", str(WORKLOADS / str(events))] if events else []

    @property
    def jobs(self) -> int:
        jobs = self.content["jobs"]
        assert isinstance(jobs, list)
        return len(jobs)


def samples() -> list[Sample]:
    """All sample workloads, in order of their names."""
    return [Sample(path) for path in sorted(WORKLOADS.glob("*.json"))]


def by_name(sample: Sample) -> str:
    """The id of a parametrized test."""
    return sample.path.stem
