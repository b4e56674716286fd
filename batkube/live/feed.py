"""The state of a simulation as its page shows it: read when somebody looks, and only then."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from pydantic import BaseModel

from batkube import __version__
from batkube.bridge.jobs import Job
from batkube.bridge.simulation import Simulation
from batkube.bridge.subscription import Subscription
from batkube.clock.pace import Pace
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change

DECISIONS = 40
"""The decisions that are remembered."""
QUEUE = 25
"""The waiting jobs that are shown."""

Current = Callable[[], Simulation | None]
JSON = dict[str, Any]


class Clock(BaseModel):
    """The course of simulated time. Dates are simulated seconds."""

    state: str
    """``waiting`` for a simulation to begin, ``running``, ``paused``, ``over``."""
    now: float = 0.0
    date: str = ""
    """The present as Kubernetes objects are dated."""
    pace: float | None = None
    """Simulated seconds per real second; None: as fast as possible."""
    stepping: bool = False
    behind: float = 0.0


class Counts(BaseModel):
    """The number of jobs in each state."""

    submitted: int = 0
    waiting: int = 0
    running: int = 0
    over: int = 0
    rejected: int = 0


class Waiting(BaseModel):
    """A job that waits."""

    job: str
    since: float
    """The date of its submission."""
    pods: int
    bound: int
    """The number of its pods that have a node."""
    said: str
    """The last that the scheduler said of one of its pods."""


class Decision(BaseModel):
    """Something that a scheduler, or somebody else, did to a pod."""

    number: int
    time: float
    pod: str
    what: str
    """``bound``, ``refused``, ``ended``, ``failed``, ``removed``."""
    said: str = ""
    """The node, or the reason."""


class Look(BaseModel):
    """The content of the page at one moment."""

    version: str = __version__
    clock: Clock
    counts: Counts = Counts()
    nodes: list[str] | None = None
    """The names of the nodes; only when they are not those of the look before."""
    use: list[int] = []
    """Per node the percentage of its cores that pods ask for (exclusive hosts: 0 or 100); -1: not ready."""
    pods: list[int] = []
    """The number of pods on each node."""
    queue: list[Waiting] = []
    queued: int = 0
    """The number of all jobs that wait."""
    decisions: list[Decision] = []
    """The decisions since the look before, the latest last."""
    warnings: list[str] = []


class Feed:
    """Knows what has happened while somebody looks. It only reads, and costs nothing while nobody does."""

    def __init__(self, server: ApiServer, pace: Pace, current: Current) -> None:
        self._pace = pace
        self._current = current
        self._changes = Subscription(server, self._note, ("pods",))
        self._lookers = 0
        self._decisions: deque[Decision] = deque(maxlen=DECISIONS)
        self._number = 0

    @contextmanager
    def looked_at(self) -> Iterator[None]:
        """Note decisions while somebody looks."""
        if self._lookers == 0:
            self._decisions.clear()
            self._changes.start()
        self._lookers += 1
        try:
            yield
        finally:
            self._lookers -= 1
            if self._lookers == 0:
                self._changes.stop()

    def look(self, *, after: int = 0) -> Look:
        """Return the present state with the decisions after the one of that number."""
        pace, simulation = self._pace, self._current()
        state = pace.state if pace.state != "under way" else "paused" if pace.paused else "running"
        clock = Clock(state=state, pace=pace.factor, stepping=pace.stepping, behind=round(pace.behind, 3))
        if simulation is None or not simulation.began:
            return Look(clock=clock)
        clock.now, clock.date = simulation.time.now, simulation.time.rfc3339()
        control, cluster = simulation.control, simulation.cluster
        waiting = control.submitted - control.running - control.over
        use, pods = [], []
        for name in cluster.hosts:
            allocatable, taken, count = cluster.occupancy.use_of(name)
            cpu = allocatable.get("cpu", 0)
            part = round(100 * taken.get("cpu", 0) / cpu) if cpu else 100 * bool(count)
            use.append((100 * bool(count) if cluster.exclusive else part) if cluster.is_up(name) else -1)
            pods.append(count)
        return Look(
            clock=clock,
            counts=Counts(
                submitted=control.submitted,
                waiting=waiting,
                running=control.running,
                over=control.over,
                rejected=len(control.rejections),
            ),
            nodes=list(cluster.hosts),
            use=use,
            pods=pods,
            queue=[self._waiting(simulation, job) for job in islice(control.iter_waiting(), QUEUE)],
            queued=waiting,
            decisions=[decision for decision in self._decisions if decision.number > after],
            warnings=simulation.warnings,
        )

    @staticmethod
    def _waiting(simulation: Simulation, job: Job) -> Waiting:
        records = (simulation.control.pods.get(pod) for pod in job.pods if pod not in job.nodes)
        said = next((record.waited_for for record in records if record is not None and record.waited_for), "")
        return Waiting(
            job=job.id, since=job.description.subtime, pods=job.description.res, bound=len(job.nodes), said=said
        )

    def _note(self, change: Change) -> None:
        pod, old = change.object, change.previous
        if change.type == DELETED:
            self._decided(pod, "removed", "")
        elif old is not None:
            node, phase = pod["spec"].get("nodeName", ""), pod.get("status", {}).get("phase")
            if node and not old["spec"].get("nodeName"):
                self._decided(pod, "bound", node)
            elif phase in ("Succeeded", "Failed") and phase != old.get("status", {}).get("phase"):
                reason = pod["status"].get("reason", "")
                self._decided(pod, "ended" if phase == "Succeeded" else "failed", reason)
            elif (said := _refusal(pod)) and said != _refusal(old):
                self._decided(pod, "refused", said)

    def _decided(self, pod: JSON, what: str, said: str) -> None:
        simulation = self._current()
        self._number += 1
        time = simulation.time.now if simulation is not None else 0.0
        name = pod["metadata"]["name"]
        self._decisions.append(Decision(number=self._number, time=time, pod=name, what=what, said=said))


def _refusal(pod: JSON) -> str:
    """Return why a scheduler could not place the pod, as its condition PodScheduled has it."""
    for condition in pod.get("status", {}).get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message", ""))
    return ""
