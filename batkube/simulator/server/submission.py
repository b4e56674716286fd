"""Submitters: the actors that bring static jobs, or external events, to the server at their dates."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from batkube.batsim.job_id import job_id
from batkube.batsim.profiles import Profile
from batkube.batsim.topology import Host
from batkube.batsim.workload import Workload, job_parts
from batkube.event_queue import Action
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.controls.control import Control, Time
from batkube.simulator.time.event_queue import Rank

T = TypeVar("T")


class Submitter(Generic[T]):
    """Says hello to the server, brings what is due at each date in one message, and says goodbye.

    These are Batsim's ``static_job_submitter_process`` and ``static_event_submitter_process``: all that is due by the
    date at which the submitter woke up goes together. It sleeps from that date on; the time of its message is added.
    """

    def __init__(
        self,
        items: Iterable[tuple[float, T]],
        rank: Rank,
        deliver: Callable[[Sequence[T]], None],
        goodbye: Callable[[], None],
        *,
        before: Callable[[Action], object] = lambda send: send(),
    ) -> None:
        self._given = items
        """The items by date, in seconds."""
        self._rank = rank
        self._slept = False
        self._deliver = deliver
        self._goodbye = goodbye
        self._before = before
        """Called with the function that sends a batch."""

    def launch(self, control: Control, master: Host | None) -> None:
        """Make it an actor on the master."""
        self._control = control
        self._master = master
        self._items = iter(self._given)
        self._next: tuple[Time, T] | None = None
        """The item that comes next, and its date in the control's own unit."""
        self._go_on()
        control.launch(self._rank, lambda: control.send(master, _hello, self._submit))

    def _submit(self) -> None:
        woke = self._control.now()
        batch: list[T] = []
        # The first item is the one that it woke up for, even if its clock is too early by a last bit.
        while self._next is not None and (self._next[0] <= woke or (self._slept and not batch)):
            batch.append(self._next[1])
            self._go_on()
        rest = partial(self._sleep, woke)
        if batch:
            self._before(lambda: self._control.send(self._master, partial(self._deliver, batch), rest))
        else:
            rest()

    def _sleep(self, woke: Time) -> None:
        if self._next is not None:
            self._slept = True
            self._control.wait(self._next[0] - woke, self._rank, self._submit)
        else:
            self._control.send(self._master, self._goodbye)

    def _go_on(self) -> None:
        """Take the next item, which may be made only now."""
        given = next(self._items, None)
        self._next = None if given is None else (self._control.time(given[0]), given[1])


def _hello() -> None:
    """Do nothing: the server counts the submitters that said hello; here their number is known."""


def simulated_jobs(workload: Workload, *, as_batsim: bool) -> list[SimulatedJob]:
    """Return all jobs in order of submission: by date, then by id as a string, as Batsim sorts.

    ``as_batsim``: show them as Batsim does, see ``with_id``.
    """
    elements: dict[str, dict[str, Profile]] = {}
    jobs = []
    for job in sorted(workload.jobs.values(), key=lambda job: (job.subtime, job.id)):
        if job.profile not in elements:
            found = job_parts(job, workload.profiles)
            elements[job.profile] = {profile.name: profile for profile in found}
        full = job_id(workload.name, job.id)
        wire = with_id(job.raw, full) if as_batsim else {**job.raw, "id": full}
        jobs.append(SimulatedJob(full, workload.name, job, elements[job.profile], wire))
    return jobs


def with_id(value: Any, full: str) -> Any:
    """Return a job as Batsim shows it: it writes the full id over every member ``id``, however deep inside."""
    if isinstance(value, dict):
        return {
            key: full if key == "id" and not isinstance(member, (dict, list)) else with_id(member, full)
            for key, member in value.items()
        }
    return [with_id(member, full) for member in value] if isinstance(value, list) else value
