"""A scheduling policy inside this process: it is told of changes, asked, and its decisions are carried out.

There is nothing to observe: a policy is at rest when it has returned. It sees the same changes in the same order as a
watch would tell them, and its bindings pass the rules of the API, but nothing is encoded as JSON, and no time passes.
"""

import asyncio
import heapq
import math
import time
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from batkube.bridge.errors import RunFailed
from batkube.bridge.subscription import Subscription
from batkube.bridge.time import SimulatedTime
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import ADDED, Change
from batkube.results.run import QuiescenceCounts
from batkube.schedulers.policies.cluster import Cluster
from batkube.schedulers.policies.loading import LoadedPolicy, told
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.pods import Pod
from batkube.schedulers.policies.policy import Bind, Decision, Preempt, Unschedulable, WakeUp

WATCHED = ("nodes", "pods")
"""The resources that a policy is told of, by storage key."""
GIVE_WAY_EVERY = 0.01
"""Real seconds after which other users of the event loop have their turn: clients of the API, an interrupt."""
MOST_REFUSED = 1000
"""The most bindings that may be refused in one call of ``decide``: else a policy that always tries again would
not end."""


class PolicyQuiescence:
    """Quiescence of a policy: it decides to its end when it is waited for.

    ``names``: the schedulerNames that it serves. ``log``: the file for the traceback of an error in it.
    """

    knows_timers = True
    keeps_appointments = True

    def __init__(
        self,
        server: ApiServer,
        clock: SimulatedTime,
        loaded: LoadedPolicy,
        *,
        names: Sequence[str],
        seed: int,
        log: Path,
    ) -> None:
        self.counts = QuiescenceCounts()
        self.one_by_one = loaded.policy.each_change
        self._server = server
        self._clock = clock
        self._name = loaded.name
        self._policy = loaded.policy
        self._log = log
        self._cluster = Cluster(names, Random(seed))
        self._news: deque[tuple[str, str, dict[str, object], float]] = deque()
        """The changes that a watch would tell: type, kind, object, and date."""
        self._wake_ups: list[float] = []
        """A heap with the elements of ``_appointed``."""
        self._appointed: set[float] = set()
        self._refused = 0
        self._changes = Subscription(server, self._on_change, WATCHED)
        self._gave_way = 0.0

    async def start(self) -> None:
        """Listen from now on. The objects that exist already are told first."""
        for resource in WATCHED:
            for found in self._server.list(resource):
                self._news.append((ADDED, resource, found, self._clock.now))
        self._changes.start()

    def close(self) -> None:
        """Listen no more."""
        self._changes.stop()

    async def advance(self, now: float) -> None:
        """Do nothing: a policy decides when it is waited for."""

    @property
    def has_news(self) -> bool:
        """True if something has changed since it decided last."""
        return bool(self._news)

    async def wait(self) -> float:
        """Let the policy decide until there is nothing new; return the present. Raises RunFailed if it has an error."""
        self.counts.in_process += 1
        await self._give_way()
        due = self._due()
        if self.one_by_one:
            while self._news:
                # A refused binding is tried again at any change, as by a program that watches.
                if self._tell() or self._refused:
                    self._decide()
                    due = False
            if due:
                self._decide()
        else:
            while self._hear() or due:
                due = self._decide() and self._refused > 0  # what was refused may find another place now
        return time.monotonic()

    async def came_back(self) -> bool:
        """Return False: the policy is never gone."""
        return False

    def next_timer(self) -> float | None:
        """Return None: it has no habits."""
        return None

    def next_appointment(self) -> float | None:
        """Return the simulated second at which it wants to decide again."""
        return self._wake_ups[0] if self._wake_ups else None

    async def _give_way(self) -> None:
        """Let the event loop run others now and then: nothing else here ever waits for anything."""
        if time.monotonic() - self._gave_way > GIVE_WAY_EVERY:
            await asyncio.sleep(0)
            self._gave_way = time.monotonic()

    def _on_change(self, change: Change) -> None:
        self._news.append((change.type, change.resource.storage, change.version.obj, self._clock.now))

    def _tell(self) -> bool:
        kind, resource, manifest, self._cluster.now = self._news.popleft()
        return self._cluster.told(kind, resource, manifest)

    def _hear(self) -> bool:
        """Tell all the news; return whether there was something to decide on."""
        news = False
        while self._news:
            news = self._tell() or news
        return news

    def _due(self) -> bool:
        """Tell whether the policy wanted to decide now."""
        due = False
        while self._wake_ups and self._wake_ups[0] <= self._clock.now:
            self._appointed.remove(heapq.heappop(self._wake_ups))
            due = True
        return due

    def _decide(self) -> bool:
        """Ask the policy once, and carry out its decisions; tell whether they changed anything."""
        self._cluster.now = self._clock.now
        self._refused = 0
        acted = False
        for decision in self._said():
            acted = self._carry_out(decision) or acted
        return acted

    def _said(self) -> Iterator[Decision]:
        """Yield the decisions, one at a time. Errors are reported as the policy's."""
        try:
            decisions = iter(self._policy.decide(self._cluster) or ())
        except (Exception, SystemExit) as error:
            raise self._failed("decide", error) from None
        while True:
            try:
                decision = next(decisions)
            except StopIteration:
                return
            except (Exception, SystemExit) as error:
                raise self._failed("decide", error) from None
            yield decision

    def _carry_out(self, decision: Decision) -> bool:
        """Carry out a decision; tell whether the cluster has changed.

        A decision on a pod that is gone already has no effect.
        """
        match decision:
            case Bind():
                return self._bind(decision)
            case Unschedulable(pod=pod, reason=reason):
                with suppress(ApiError):
                    self._server.tell_unschedulable(pod.name, reason, pod.namespace)
                return False
            case Preempt(pod=pod):
                with suppress(ApiError):
                    self._server.preempt(pod.name, pod.namespace, uid=pod.uid)
                return True
            case WakeUp(time=date):
                if not (math.isfinite(date) and date > self._clock.now):
                    raise self._broken("decide", f"WakeUp({date}): expected a time later than now, {self._clock.now:g}")
                if date not in self._appointed:
                    self._appointed.add(date)
                    heapq.heappush(self._wake_ups, date)
                return False
            case other:
                raise self._broken("decide", f"{other!r}: expected Bind, Unschedulable, Preempt or WakeUp")

    def _bind(self, decision: Bind) -> bool:
        pod, node = decision.pod, decision.node
        if not (isinstance(pod, Pod) and isinstance(node, Node)):
            raise self._broken("decide", f"{decision!r}: expected a Pod and a Node of the cluster")
        try:
            self._server.bind(pod.name, node.name, pod.namespace, uid=pod.uid)
        except ApiError as error:
            self._refused += 1
            if self._refused > MOST_REFUSED:
                raise self._broken(
                    "decide", f"{MOST_REFUSED} bindings were refused; the last: {error.message}"
                ) from None
            try:
                self._policy.refused(self._cluster, decision, error.message)
            except (Exception, SystemExit) as failure:
                raise self._failed("refused", failure) from None
            return False
        self._cluster.assume(pod, node.name)
        return True

    def _failed(self, method: str, error: BaseException) -> RunFailed:
        """Return the report of an error in the policy; its traceback is in the log."""
        self._log.write_text("".join(traceback.format_exception(error)))
        return self._broken(method, f"{told(error)}; {self._log} has the traceback")

    def _broken(self, method: str, why: str) -> RunFailed:
        return RunFailed(f"the policy {self._name} failed in {method}: {why}")
