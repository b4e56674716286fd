"""The reasons why pods wait: ``results.waiting`` is told what happens, and its answers go into the records."""

from collections.abc import Iterable, Sequence
from typing import Any

from batkube.bridge.cluster import Cluster
from batkube.bridge.jobs import Job
from batkube.bridge.occupancy import Resources, amounts, requests_of
from batkube.bridge.subscription import Subscription
from batkube.bridge.time import SimulatedTime
from batkube.controllers.pods import is_ended
from batkube.controllers.resource_claims import is_device
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change
from batkube.results.pods import PodRecord, named_seconds
from batkube.results.wait_constraints import UNCONSTRAINED, Constraints, NodeFacts
from batkube.results.wait_log import WaitLog
from batkube.results.wait_reasons import NO_WAIT, REASONS, SECOND, Stretch, Waited
from batkube.results.wait_room import Requests, requests
from batkube.results.waiting import Waits

JSON = dict[str, Any]
_COLUMNS = tuple(f"wait_{reason}" for reason in REASONS)
_REMEMBERED = 4096
"""The number of different requests that are remembered."""


class WaitRecorder:
    """Follows nodes and pods from ``begin`` to ``finish``.

    Pods that are not of jobs count as what they take. ``stretches``: gets the waits as they go on. ``backs_off``: see
    ``Waits``.
    """

    def __init__(
        self, server: ApiServer, time: SimulatedTime, cluster: Cluster, stretches: WaitLog, *, backs_off: bool
    ) -> None:
        self._server = server
        self._time = time
        self._cluster = cluster
        self._stretches = stretches
        self._backs_off = backs_off
        self._waits = self._waits_of(exclusive=True)
        self._now = 0.0
        self._records: dict[str, PodRecord] = {}
        """The records of the pods that wait, by uid."""
        self._nodes: dict[str, tuple[bool, NodeFacts]] = {}
        self._offered: frozenset[str] = frozenset()
        """The resources that any node offers."""
        self._asked: dict[Requests, Requests] = {}
        """Requests as they came, and in the form that is compared."""
        self._last_asked: tuple[Resources, Requests] = ({}, ())
        self._rules: tuple[object, object, object] = (None, None, None)
        """The parts of a pod's spec that pods of one form share, and what rules they are:"""
        self._constraints = UNCONSTRAINED
        self._strangers: set[str] = set()
        """The pods that are not of jobs and are on a node, by uid."""
        self._changes = Subscription(server, self._on_change, ("nodes",))

    def begin(self) -> None:
        """Take in the nodes, and listen."""
        self._waits = self._waits_of(exclusive=self._cluster.exclusive)
        offers = {name: amounts(offer) for name, offer in self._cluster.allocatable.items()}
        self._offered = frozenset(resource for offer in offers.values() for resource in offer)
        for node in self._server.list("nodes"):
            name = node["metadata"]["name"]
            if name in offers:
                facts = NodeFacts.of(node)
                self._nodes[name] = True, facts
                self._waits.room.set_node(self._waits.now, name, up=True, facts=facts, allocatable=offers[name])
        self._changes.start()

    def stop(self) -> None:
        """Listen no more."""
        self._changes.stop()

    def finish(self) -> None:
        """End the waits of all pods: the run is over."""
        self.stop()
        self._waits.finish(self._time.now)

    # Pods of jobs

    def created(self, record: PodRecord, job: Job, pod: JSON, wanted: Resources) -> None:
        """Note a new pod, as it is stored, with its record and its requests."""
        waits = self._at_present()
        uid, spec = pod["metadata"]["uid"], pod["spec"]
        self._records[uid] = record
        waits.create(
            uid,
            self._wanted(wanted),
            constraints=self._constraints_of(spec),
            gang=job.id,
            gang_size=len(job.pods),
            gated=bool(spec.get("schedulingGates")),
            backs_off=self._backs_off,
        )

    def gated(self, pod: JSON) -> None:
        """Note that the pod's gates, of which it had some, may have changed. It never gets new ones."""
        if not pod["spec"].get("schedulingGates"):
            self._at_present().gate(pod["metadata"]["uid"], False)

    def tried(self, uid: str | None, message: str, attempt: int) -> None:
        """Note that a scheduler could not place the pod, and said so. ``attempt``: the number of it, from 1."""
        if uid is not None:
            self._at_present().tried(uid, message, attempt)

    def bound(self, uid: str, node: str) -> None:
        """Note that the pod has its node."""
        self._at_present().bind(uid, node)

    def resized(self, uid: str, node: str, wanted: Resources) -> None:
        """Note that a pod on a node asks for other resources now."""
        waits = self._at_present()
        waits.room.release(waits.now, uid)
        waits.room.take(uid, node, self._wanted(wanted))

    def started(self, uid: str) -> None:
        """Note that the pod's process runs."""
        self._at_present().start(uid)

    def removed(self, uid: str) -> None:
        """Note that the pod has ended, or was taken away."""
        self._at_present().remove(uid)

    def complete(self, uids: Iterable[str]) -> None:
        """Bring the records of these pods, which wait no more, up to date."""
        if not self._records.keys().isdisjoint(uids):
            self._waits.close()

    # The cluster

    def stranger(self, pod: JSON, *, gone: bool) -> None:
        """Note how a pod that is not of a job is now."""
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        on_node = bool(node) and not gone and not is_ended(pod)
        if on_node and uid not in self._strangers:
            self._strangers.add(uid)
            self._at_present().bind(uid, node, self._wanted(requests_of(pod)))
        elif not on_node and uid in self._strangers:
            self._strangers.remove(uid)
            self._at_present().remove(uid)

    def _on_change(self, change: Change) -> None:
        name = change.object["metadata"]["name"]
        if name not in self._nodes:
            return
        state = change.type != DELETED and self._cluster.is_up(name), NodeFacts.of(change.object)
        if state != self._nodes[name]:
            self._nodes[name] = state
            waits = self._at_present()
            waits.room.set_node(waits.now, name, up=state[0], facts=state[1])

    def _wanted(self, wanted: Resources) -> Requests:
        """Return what is known of the room that a pod needs: of claims of devices only the scheduler knows."""
        if wanted is self._last_asked[0]:  # pods of one form share them
            return self._last_asked[1]
        if not wanted.keys() <= self._offered:
            return requests({key: value for key, value in wanted.items() if self._counts(key)})
        key = (*wanted.items(),)
        found = self._asked.get(key)
        if found is None:
            if len(self._asked) > _REMEMBERED:
                self._asked.clear()
            found = self._asked[key] = requests(wanted)
        self._last_asked = wanted, found
        return found

    def _constraints_of(self, spec: JSON) -> Constraints:
        selector, affinity, tolerations = rules = (
            spec.get("nodeSelector"),
            spec.get("affinity"),
            spec.get("tolerations"),
        )
        known = self._rules
        if selector is not known[0] or affinity is not known[1] or tolerations is not known[2]:
            self._rules, self._constraints = rules, Constraints.of(spec)
        return self._constraints

    def _counts(self, resource: str) -> bool:
        return resource in self._offered or not is_device(self._server, resource)

    def _at_present(self) -> Waits:
        waits, now = self._waits, self._time.now
        if now != self._now:
            self._now = now
            waits.advance(now)
        return waits

    def _waits_of(self, *, exclusive: bool) -> Waits:
        return Waits(self._waited, exclusive=exclusive, told=self._told)

    def _told(self, uid: str, stretches: Sequence[Stretch]) -> None:
        if (record := self._records.get(uid)) is not None:
            self._stretches.write(record.pod, stretches)

    def _waited(self, uid: str, waited: Waited) -> None:
        record = self._records.pop(uid, None)
        if record is not None and waited is not NO_WAIT:
            for column, value in zip(_COLUMNS, waited.microseconds, strict=True):
                setattr(record, column, value / SECOND)
            if waited.by_plugin:
                record.constraints = named_seconds(waited.constraints)
