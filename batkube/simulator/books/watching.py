"""Watchers of what happens to jobs: energy, traces."""

from typing import Protocol

from batkube.simulator.books.jobs import SimulatedJob


class Watcher(Protocol):
    """A watcher, called at the true date, before the server or any other part knows."""

    def job_started(self, job: SimulatedJob) -> None:
        """Note that the job is on its hosts, and its work is about to begin."""
        ...

    def job_ended(self, job: SimulatedJob) -> None:
        """Note that the job has left its hosts; its final state is known."""
        ...
