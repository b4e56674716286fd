"""The results of a run, read from its folder: rows of all its files as dataclasses.

::

    result = batkube.load("out")
    result.figures.waiting_time.p95
    [pod.node for pod in result.pod_rows if pod.preempted]
"""

import json
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from batkube.results.attempts import Attempt, read_attempts_csv
from batkube.results.csv_rows import ResultsError
from batkube.results.figures import Figures
from batkube.results.jobs import JobRow, read_jobs_csv
from batkube.results.nodes import NodeRow, read_nodes_csv
from batkube.results.pods import PodRecord, read_pods_csv
from batkube.results.run import Run
from batkube.results.series import NodeSeriesRow, SeriesRow, read_node_series_csv, read_series_csv


class Result:
    """The results in a folder. Each file is read when it is first asked for; that raises ResultsError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

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

    @cached_property
    def pod_rows(self) -> list[PodRecord]:
        """The pods, in order of creation."""
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


def load(folder: str | Path) -> Result:
    """Return the results in a folder. Raises ResultsError if there is no such folder."""
    path = Path(folder)
    if not path.is_dir():
        raise ResultsError(f"{path}: there is no such folder")
    return Result(path)
