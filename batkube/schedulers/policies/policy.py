"""Scheduling policies in Python: a policy looks at the cluster, and returns decisions."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.pods import Pod


@dataclass(frozen=True, slots=True)
class Bind:
    """The decision to give the pod that node."""

    pod: Pod
    node: Node


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """The reason why the pod waits: its condition PodScheduled becomes False. It stays in the queue."""

    pod: Pod
    reason: str


@dataclass(frozen=True, slots=True)
class Preempt:
    """The decision to delete the pod, a victim.

    If its job runs already, the job is killed; a waiting job is rejected. With ``--requeue`` both are queued again.
    """

    pod: Pod


@dataclass(frozen=True, slots=True)
class WakeUp:
    """The wish to decide again at that time (simulated seconds, later than now), whatever happens until then."""

    time: float


Decision = Bind | Unschedulable | Preempt | WakeUp


class Policy(ABC):
    """Decides which pod goes to which node.

    One object decides a whole run, and may remember what it likes. To give the same bytes each time it must depend only
    on the cluster: chance comes from ``Cluster.random``, time from ``Cluster.now``.
    """

    each_change: ClassVar[bool] = False
    """True to decide after each single change of an object, as a scheduler does that watches the API: for example when
    the first pod of a job has ended, and the others have not. Else it decides once for all that happens at one time."""

    @abstractmethod
    def decide(self, cluster: Cluster) -> Iterable[Decision]:
        """Return what to do now: called when something has changed, or at the time of a ``WakeUp``.

        Each decision is carried out when it comes. So a generator sees what its ``yield Bind(...)`` has taken.
        """

    def refused(self, cluster: Cluster, decision: Bind, reason: str) -> None:  # noqa: B027
        """Note that a binding was refused, as over HTTP (409: the host is in use, its node is gone ...).

        The pod waits on, in its old place in the queue. Nothing needs to be done about it.
        """
