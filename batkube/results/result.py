"""The results of a run, read from its folder: rows as dataclasses, or whole tables of pandas and polars.

::

    result = batkube.load("out")
    result.figures.waiting_time.p95
    [pod.node for pod in result.pod_rows if pod.preempted]
    result.pods.groupby("user").waiting_time.mean()
"""

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from batkube.results.accounts import Accounts
from batkube.results.attempts import Attempt, read_attempts_csv
from batkube.results.batsim_csv import accounts_of, jobs_file, known_figures, known_figures_by_size, pods_of
from batkube.results.csv_rows import ResultsError
from batkube.results.figures import Figures
from batkube.results.frames import LATE, TABLES, import_or_say, pandas_frame, polars_frame, rows_frame
from batkube.results.jobs import JobRow, read_jobs_csv
from batkube.results.nodes import NodeRow, read_nodes_csv
from batkube.results.pods import PodRecord, read_pods_csv
from batkube.results.resizes import Resize, read_resizes_csv
from batkube.results.run import Run
from batkube.results.series import NodeSeriesRow, SeriesRow, read_node_series_csv, read_series_csv
from batkube.results.usage import UsageRow, read_usage_csv
from batkube.results.wait_log import Wait, read_waits_csv

if TYPE_CHECKING:
    import pandas
    import polars


class Result:
    """The results in a folder. Each file is read when it is first asked for; that raises ResultsError.

    The rows are there without any library. ``pods``, ``jobs`` and the like are pandas' (``pip install
    'batkube[pandas]'``), ``to_polars`` gives polars'; both raise NotInstalled.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @staticmethod
    def of_jobs_csv(path: str | Path) -> "Result":
        """Return the results of a plain ``jobs.csv`` with Batsim's columns: see ``JobsFile``. Raises ResultsError."""
        return JobsFile(Path(path))

    @cached_property
    def run(self) -> Run:
        """``run.json``: what was run, how it ended, its figures."""
        path = self.folder / "run.json"
        try:
            return Run.read(path)
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}") from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ResultsError(f"{path}: was not written by batkube: {where}: {first['msg']}") from None

    @property
    def figures(self) -> Figures:
        """The figures of all jobs."""
        if self.run.figures is None:
            raise ResultsError(f"{self.folder / 'run.json'}: has no figures: the run is not over")
        return self.run.figures

    @property
    def figures_by(self) -> dict[str, dict[str, Figures]]:
        """The figures by ``user``, ``queue``, ``priority`` and ``size`` class of jobs, then by name."""
        return self.run.figures_by

    # Rows

    @cached_property
    def pod_rows(self) -> list[PodRecord]:
        """The pods, in order of their jobs."""
        return list(read_pods_csv(self.folder / "pods.csv"))

    @cached_property
    def job_rows(self) -> list[JobRow]:
        """The jobs that are over, in order of their ends."""
        return list(read_jobs_csv(self.folder / "jobs.csv"))

    @cached_property
    def attempt_rows(self) -> list[Attempt]:
        """The attempts to place pods, in order."""
        return list(read_attempts_csv(self.folder / "attempts.csv"))

    @cached_property
    def wait_rows(self) -> list[Wait]:
        """The waits of the pods, stretch by stretch; those of one pod in order."""
        return list(read_waits_csv(self.folder / "waits.csv"))

    @cached_property
    def node_rows(self) -> list[NodeRow]:
        """The nodes."""
        return list(read_nodes_csv(self.folder / "nodes.csv"))

    @cached_property
    def series_rows(self) -> list[SeriesRow]:
        """The cluster over time."""
        return list(read_series_csv(self.folder / "series.csv"))

    @cached_property
    def node_series_rows(self) -> list[NodeSeriesRow]:
        """The nodes over time."""
        return list(read_node_series_csv(self.folder / "node_series.csv"))

    @cached_property
    def usage_rows(self) -> list[UsageRow]:
        """The real use of pods, node by node; nothing where no pod says so."""
        return list(read_usage_csv(self.folder / "usage.csv"))

    @cached_property
    def resize_rows(self) -> list[Resize]:
        """The pods that were resized on their nodes."""
        return list(read_resizes_csv(self.folder / "resizes.csv"))

    @cached_property
    def event_rows(self) -> list[dict[str, Any]]:
        """Everything that happened, in order: ``time``, ``event``, and its details."""
        path = self.folder / "events.jsonl"
        try:
            with path.open(encoding="utf-8") as file:
                return [json.loads(line) for line in file]
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}") from None
        except ValueError as error:
            raise ResultsError(f"{path}: {error}") from None

    # Tables

    @cached_property
    def pods(self) -> "pandas.DataFrame":
        """``pods.csv``."""
        return self.to_pandas("pods")

    @cached_property
    def jobs(self) -> "pandas.DataFrame":
        """``jobs.csv``."""
        return self.to_pandas("jobs")

    @cached_property
    def attempts(self) -> "pandas.DataFrame":
        """``attempts.csv``."""
        return self.to_pandas("attempts")

    @cached_property
    def waits(self) -> "pandas.DataFrame":
        """``waits.csv``."""
        return self.to_pandas("waits")

    @cached_property
    def nodes(self) -> "pandas.DataFrame":
        """``nodes.csv``."""
        return self.to_pandas("nodes")

    @cached_property
    def series(self) -> "pandas.DataFrame":
        """``series.csv``."""
        return self.to_pandas("series")

    @cached_property
    def node_series(self) -> "pandas.DataFrame":
        """``node_series.csv``."""
        return self.to_pandas("node_series")

    @cached_property
    def usage(self) -> "pandas.DataFrame":
        """``usage.csv``; no rows where there is no such file."""
        return self.to_pandas("usage")

    @cached_property
    def resizes(self) -> "pandas.DataFrame":
        """``resizes.csv``; no rows where there is no such file."""
        return self.to_pandas("resizes")

    @cached_property
    def events(self) -> "pandas.DataFrame":
        """``events.jsonl``: a column for each member that some event has."""
        import_or_say("pandas")
        import pandas

        return pandas.DataFrame(self.event_rows)

    def to_pandas(self, name: str) -> "pandas.DataFrame":
        """Return a table by the name of its file without ``.csv``."""
        path = self.folder / f"{name}.csv"
        return rows_frame([], TABLES[name]) if self._has_none(path) else pandas_frame(path, TABLES[name])

    def to_polars(self, name: str) -> "polars.DataFrame":
        """Return a table by the name of its file without ``.csv``."""
        path = self.folder / f"{name}.csv"
        if self._has_none(path):
            import_or_say("polars")
            import polars

            return polars.from_pandas(self.to_pandas(name))
        return polars_frame(path, TABLES[name])

    def _has_none(self, path: Path) -> bool:
        """Tell whether nothing of a table was written, so that it has no file."""
        return path.stem in LATE and not path.exists()


class JobsFile(Result):
    """The results in a single file with Batsim's columns. ``batsim_csv`` says what is made of it.

    There is no ``run``, there are no attempts and no events.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path.parent)
        self.path = path

    @cached_property
    def run(self) -> Run:
        """Raise ResultsError: there is none."""
        raise ResultsError(f"{self.path}: has jobs alone, and nothing of a run")

    @cached_property
    def _accounts(self) -> Accounts:
        return accounts_of(self.job_rows, self.pod_rows)

    @cached_property
    def figures(self) -> Figures:
        """The figures of all jobs."""
        return known_figures(self._accounts)

    @cached_property
    def figures_by(self) -> dict[str, dict[str, Figures]]:
        """The figures by size class of jobs; users and queues are not known."""
        return {"size": known_figures_by_size(self._accounts, self.figures)}

    @cached_property
    def job_rows(self) -> list[JobRow]:
        """The jobs, in order of the file."""
        return list(read_jobs_csv(self.path))

    @cached_property
    def pod_rows(self) -> list[PodRecord]:
        """The pods: one for each host of a job."""
        return list(pods_of(self.job_rows))

    @cached_property
    def attempt_rows(self) -> list[Attempt]:
        """Nothing: no attempt is known."""
        return []

    @cached_property
    def wait_rows(self) -> list[Wait]:
        """Nothing: no reason is known."""
        return []

    @cached_property
    def usage_rows(self) -> list[UsageRow]:
        """Nothing: no use is known."""
        return []

    @cached_property
    def resize_rows(self) -> list[Resize]:
        """Nothing: no resize is known."""
        return []

    @cached_property
    def event_rows(self) -> list[dict[str, Any]]:
        """Nothing: no event is known."""
        return []

    @cached_property
    def _played(self) -> tuple[list[SeriesRow], list[NodeSeriesRow], list[NodeRow]]:
        timeline = self._accounts.timeline()
        rows, node_rows = [], []
        for row, nodes in timeline.play():
            rows += [row] if row is not None else []
            node_rows += nodes
        return rows, node_rows, timeline.node_rows()

    @cached_property
    def series_rows(self) -> list[SeriesRow]:
        """The cluster over time."""
        return self._played[0]

    @cached_property
    def node_series_rows(self) -> list[NodeSeriesRow]:
        """The nodes over time."""
        return self._played[1]

    @cached_property
    def node_rows(self) -> list[NodeRow]:
        """The nodes."""
        return self._played[2]

    def to_pandas(self, name: str) -> "pandas.DataFrame":
        """Return a table by its name."""
        if name == "jobs":
            return pandas_frame(self.path, TABLES[name])
        rows = {
            "pods": "pod_rows",
            "attempts": "attempt_rows",
            "waits": "wait_rows",
            "nodes": "node_rows",
            "series": "series_rows",
            "node_series": "node_series_rows",
            "usage": "usage_rows",
            "resizes": "resize_rows",
        }
        return rows_frame(getattr(self, rows[name]), TABLES[name])

    def to_polars(self, name: str) -> "polars.DataFrame":
        """Return a table by its name."""
        import_or_say("polars")
        import polars

        if name == "jobs":
            return polars_frame(self.path, TABLES[name])
        return polars.from_pandas(self.to_pandas(name))


def load(path: str | Path) -> Result:
    """Return the results in a folder that a run has left, or of a plain ``jobs.csv`` (or a folder with one).

    Raises ResultsError if there is neither.
    """
    given = Path(path)
    try:
        if (given / "run.json").is_file():
            return Result(given)
        if (file := jobs_file(given)) is not None:
            return Result.of_jobs_csv(file)
    except OSError as error:  # a name that no file system has
        raise ResultsError(f"{given}: {error.strerror}") from None
    what = "holds no results: it has neither run.json nor jobs.csv" if given.is_dir() else "there is no such folder"
    raise ResultsError(f"{given}: {what}")
