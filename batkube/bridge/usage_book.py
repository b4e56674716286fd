"""The book of what pods use on their nodes while they run, from the first pod on that says what it uses.

Pods that say nothing of it use what they request.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from batkube.bridge.names import pod_key
from batkube.bridge.occupancy import UNIT
from batkube.bridge.time import SimulatedTime
from batkube.bridge.usage_phases import USAGE_ANNOTATION, Phase, Usage, requested, usage_of
from batkube.event_queue import Entry, EventQueue
from batkube.kube.server import ApiServer
from batkube.results.late_table import LateTable
from batkube.results.usage import USAGE, UsageRow

JSON = dict[str, Any]


@dataclass(slots=True)
class Use:
    """A process that runs, and what it uses."""

    key: str
    pod: JSON
    usage: Usage
    began: float
    """The date at which it was started."""
    number: int
    """The number of processes that were started before."""

    def at(self, date: float) -> Phase:
        """Return what it uses at a date."""
        return self.usage.at(round(date - self.began, 6))


class UsageBook:
    """Keeps it by node, and writes ``usage.csv``. ``warn`` is told of what cannot be read."""

    def __init__(self, server: ApiServer, time: SimulatedTime, path: Path, warn: Callable[[str], None]) -> None:
        self.active = False
        """True once a pod has said what it uses, or once it has to be known."""
        self.changed: Callable[[Use], object] = lambda use: None
        """Called with each process that is started, as soon as the book is kept."""
        self._server = server
        self._time = time
        self._log = LateTable(path, USAGE)
        self._warn = warn
        self._uses: dict[str, Use] = {}
        self._by_node: dict[str, dict[str, Use]] = {}
        self._queue = EventQueue[float, Entry]()
        """The phases to come."""
        self._touched: dict[str, None] = {}
        """The nodes that have changed at ``_date``."""
        self._date = 0.0
        self._count = 0

    def on(self, node: str) -> Iterable[Use]:
        """Return the processes that run on a node."""
        return self._by_node.get(node, {}).values()

    def use_of(self, key: str) -> Use | None:
        """Return what the process of this pod uses; None if it does not run."""
        return self._uses.get(key)

    def started(self, key: str, pod: JSON) -> None:
        """Note that a pod's process has started."""
        if not self.active:
            if USAGE_ANNOTATION not in (pod["metadata"].get("annotations") or {}):
                return
            self.active = True
            for other in self._server.list("pods"):
                name = pod_key(other["metadata"]["namespace"], other["metadata"]["name"])
                if other.get("status", {}).get("phase") == "Running" and name != key:
                    self._add(name, other)
        self._add(key, pod)

    def _add(self, key: str, pod: JSON) -> None:
        self.stopped(key)
        now, node = self._time.now, pod["spec"]["nodeName"]
        self._turn_to(now)
        try:
            usage = usage_of(pod) or requested(pod)
        except ValueError as error:
            self._warn(f"pod {key}: {USAGE_ANNOTATION}: {error}")
            usage = requested(pod)
        use = self._uses[key] = Use(key, pod, usage, now, self._count)
        self._count += 1
        self._by_node.setdefault(node, {})[key] = use
        self._touched[node] = None
        for phase in usage.phases[1:]:
            self._expect(use, node, now + phase.since)
        self.changed(use)

    def _expect(self, use: Use, node: str, date: float) -> None:
        def change() -> None:
            if self._uses.get(use.key) is use:
                self._note(date)
                self._touched[node] = None

        self._queue.push(date, Entry(change))

    def resized(self, key: str, pod: JSON) -> None:
        """Note that a pod that runs asks for other resources now."""
        use = self._uses.get(key)
        if use is None:
            return
        self._turn_to(self._time.now)
        use.pod = pod
        if USAGE_ANNOTATION not in (pod["metadata"].get("annotations") or {}):
            use.usage = requested(pod)
        self._touched[pod["spec"]["nodeName"]] = None

    def stopped(self, key: str) -> None:
        """Note that a pod's process has ended."""
        use = self._uses.get(key)
        if use is None:
            return
        self._turn_to(self._time.now)
        node = use.pod["spec"]["nodeName"]
        del self._by_node[node][key], self._uses[key]
        self._touched[node] = None

    def close(self) -> None:
        """Write what is left to write."""
        if self.active:
            self._turn_to(self._time.now)
            self._flush()
        self._log.close()

    def _turn_to(self, now: float) -> None:
        """Write down all that has changed before ``now``."""
        while (due := self._queue.pop_until(now)) is not None:
            due[1]()
        self._note(now)

    def _note(self, date: float) -> None:
        if date != self._date:
            self._flush()
            self._date = date

    def _flush(self) -> None:
        for node in self._touched:
            uses = self._by_node[node].values()
            phases = [use.at(self._date) for use in uses]
            asked = [requested(use.pod).phases[0] for use in uses]
            row = UsageRow(
                time=self._date,
                node=node,
                pods=len(phases),
                cpu_requested=sum(phase.cpu for phase in asked) / UNIT,
                cpu_used=sum(phase.cpu for phase in phases) / UNIT,
                memory_requested=sum(phase.memory for phase in asked) // UNIT,
                memory_used=sum(phase.memory for phase in phases) // UNIT,
            )
            self._log.write(row)
        self._touched.clear()
