"""Objects that come through the API at their dates: what users create while a simulation goes on."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from batkube.bridge.time import SimulatedTime
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog


class DatedObject(NamedTuple):
    """An object of any kind, and when it comes."""

    date: float
    """Simulated seconds."""
    where: str
    """The file and the line that it is from."""
    obj: dict[str, Any]


class Arrivals:
    """Creates objects when they are due; a refusal, such as of a quota, is written down, and nothing else."""

    def __init__(self, server: ApiServer, time: SimulatedTime, events: EventLog) -> None:
        self._server = server
        self._time = time
        self._events = events
        self._left: list[DatedObject] = []
        """The arrivals that are to come, the next one last."""

    def plan(self, objects: Iterable[DatedObject]) -> None:
        """Let objects come; those of one date in their order."""
        self._left += sorted(objects, key=lambda each: each.date)
        self._left.reverse()

    @property
    def next_date(self) -> float | None:
        """The date of the next one; None if none is to come."""
        return self._left[-1].date if self._left else None

    def advance(self) -> bool:
        """Create what is due; False if nothing was."""
        due = False
        while self._left and self._left[-1].date <= self._time.now:
            self._create(self._left.pop())
            due = True
        return due

    def _create(self, dated: DatedObject) -> None:
        obj = dated.obj
        metadata = obj.get("metadata") or {}
        shown = {"kind": obj["kind"], "namespace": metadata.get("namespace"), "name": metadata.get("name")}
        details = {name: value for name, value in shown.items() if value is not None}
        try:
            self._server.submit(obj)
        except ApiError as error:
            self._events.write(self._time.now, "object_refused", **details, why=error.message)
        else:
            self._events.write(self._time.now, "object_created", **details)
