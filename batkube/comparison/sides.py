"""The sides of a comparison: a run, or runs that belong together (seeds, traces), each with a name to be paired by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.comparison.facts import RecordedRun
from batkube.results.comparison import COMPARED
from batkube.results.csv_rows import ResultsError

DEEPEST = 2
"""The depth to which runs are looked for below a folder: a trace in it, a seed in that."""


@dataclass(frozen=True)
class Side:
    """One of the sides of a comparison."""

    name: str
    runs: dict[str, RecordedRun]
    """The runs by where they lie below the folder, in order; a run that is alone has no name."""

    @classmethod
    def of(cls, path: Path) -> "Side":
        """Return the runs of a folder, or the one of a file. Raises ResultsError."""
        if path.is_file():
            return cls(str(path), {"": RecordedRun(path)})
        if not (path / "run.json").is_file() and (found := dict(_below(path, "", DEEPEST))):
            return cls(str(path), found)
        return cls(str(path), {"": _checked(path)})

    @classmethod
    def group(cls, paths: Sequence[Path]) -> "Side":
        """Return several folders as the runs of one side, in their order. Raises ResultsError."""
        sides = [cls.of(path) for path in paths]
        runs = {
            f"{number}/{name}".rstrip("/"): run
            for number, side in enumerate(sides, start=1)
            for name, run in side.runs.items()
        }
        return cls(f"{paths[0]} ... {paths[-1]}" if len(paths) > 1 else str(paths[0]), runs)

    @property
    def alone(self) -> RecordedRun | None:
        """The run, if there is only one."""
        return next(iter(self.runs.values())) if len(self.runs) == 1 else None


def pairs(left: Side, right: Side) -> list[tuple[str, RecordedRun, RecordedRun]]:
    """Return the runs that go together: those of one name; where a side has one run and so has the other, these."""
    if left.alone and right.alone:
        return [("", left.alone, right.alone)]
    return [(name, run, right.runs[name]) for name, run in left.runs.items() if name in right.runs]


def _below(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, RecordedRun]]:
    try:
        inside = sorted((path for path in folder.iterdir() if path.is_dir()), key=_natural)
    except OSError:
        return
    for path in inside:
        name = f"{prefix}{path.name}"
        if (path / "run.json").is_file():
            yield name, _checked(path)
        elif depth > 1:
            yield from _below(path, f"{name}/", depth - 1)


def _checked(folder: Path) -> RecordedRun:
    missing = [name for name in ("run.json", *COMPARED) if not (folder / name).is_file()]
    if missing:
        raise ResultsError(f"{folder} holds no results of a run: it has no {missing[0]}")
    found = RecordedRun(folder)
    assert found.run is not None
    return found


def _natural(path: Path) -> tuple[float, str]:
    """Return the order of folders: numbers by size, then names."""
    return (float(path.name), "") if path.name.isdecimal() else (float("inf"), path.name)
