"""Batsim's own result files: where they are, when they are complete, and a copy of them beside ours."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import orjson

SUMMARIES = ("schedule.csv", "schedule.json")
"""The file that Batsim writes last, by version: all its jobs are in ``jobs.csv`` then."""


@dataclass(frozen=True)
class ResultFiles:
    """The files of a Batsim that was told to put them at ``export`` (its ``-e``), or in the folder ``export``.

    ``since``: Unix seconds; older files are an earlier simulation's.
    """

    export: Path
    since: float = 0.0

    @property
    def prefix(self) -> str | None:
        """The path before ``jobs.csv``; None as long as there is no complete set of files."""
        for prefix in self._prefixes():
            for name in SUMMARIES:
                if self._is_complete(Path(prefix + name)) and Path(prefix + "jobs.csv").is_file():
                    return prefix
        return None

    @property
    def expected(self) -> str:
        """The path at which the jobs should be, for a message to a user."""
        return self._prefixes()[0] + "jobs.csv"

    def all(self) -> dict[str, Path]:
        """Return the files of this simulation by their names without the prefix (``jobs.csv`` ...)."""
        prefix = self.prefix
        if prefix is None:
            return {}
        start = Path(prefix + "x").name[:-1]
        return {
            path.name.removeprefix(start): path
            for path in sorted(Path(prefix + "x").parent.iterdir())
            if path.name.startswith(start) and path.is_file() and path.stat().st_mtime >= self.since
        }

    def copy_to(self, folder: Path, prefix: str) -> None:
        """Copy the files into ``folder``, each named ``prefix`` and its name without Batsim's prefix.

        Raises OSError.
        """
        for name, path in self.all().items():
            target = folder / (prefix + name)
            if target.resolve() != path.resolve():
                shutil.copyfile(path, target)

    def _prefixes(self) -> list[str]:
        """Return the possible prefixes.

        Batsim 4 puts ``_`` after its own; Batsim 5 does not if that ends in a slash.
        """
        if not self.export.is_dir():
            return [f"{self.export}_"]
        found = sorted(path for path in self.export.glob("*_jobs.csv"))
        others = [str(path).removesuffix("jobs.csv") for path in found]
        first = [str(self.export / "out_"), f"{self.export}/"]
        return [*first, *(prefix for prefix in others if prefix not in first)]

    def _is_complete(self, path: Path) -> bool:
        try:
            stat = path.stat()
            if stat.st_mtime < self.since or not stat.st_size:
                return False
            content = path.read_bytes()
            if path.suffix == ".json":
                orjson.loads(content)
                return True
            return content.count(b"\n") > 1 and content.endswith(b"\n")
        except (OSError, orjson.JSONDecodeError):
            return False
