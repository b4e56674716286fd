"""Knowing that the schedulers have nothing left to do at this date, where they live on the real clock.

A scheduler that runs on this machine is observed: ours by its pid, a stranger by the pid at the other end of its
connection. For one out of sight its metrics, or silence, have to do, and the results say so. Its timers are not known.
"""

import asyncio
import socket
import time
from collections.abc import Iterable
from typing import Protocol

from batkube.bridge.errors import RunFailed
from batkube.bridge.metrics_rest import SETTLE, MetricsRest
from batkube.clock.metrics import MetricsEndpoint
from batkube.clock.oracle import IdleOracle, unobservable
from batkube.clock.peers import peer_pid
from batkube.clock.quiet import QuietPeriod
from batkube.clock.verdict import Verdict
from batkube.kube.server import ApiServer
from batkube.results.manifest import Rest as RestCounts
from batkube.settings import RestMeans, StepSettings

POLL = 0.02
"""Real seconds between two looks at what nothing notifies us of."""
STARTUP_SILENCE = 0.5
"""Real seconds without a request after which a scheduler at rest has started up.

client-go polls each 100 ms whether its caches are filled (``cache.WaitForCacheSync``), and asleep in between it looks
as if it were done.
"""


class Rest(Protocol):
    """What the step loop needs to know of schedulers, and to tell them."""

    counts: RestCounts
    knows_timers: bool
    """Whether ``next_timer`` tells all there is to tell."""

    async def start(self) -> None:
        """Return when a scheduler has started up and is at rest. Raises RunFailed where none does."""

    async def advance(self, now: float) -> None:
        """It is ``now`` (simulated seconds); return when what that wakes is at rest again. Raises RunFailed."""

    async def wait(self) -> float:
        """Return when the schedulers are at rest: since when, by ``time.monotonic()``.

        Raises RunFailed where that cannot be established.
        """

    def next_timer(self) -> float | None:
        """The simulated second at which a scheduler at rest would wake up by itself; None where none will."""

    def close(self) -> None:
        """Let go of what the observation holds open."""


def not_at_rest(counts: RestCounts, verdict: Verdict, seconds: float) -> RunFailed:
    """Rest could not be established: a time-out is no answer."""
    counts.not_established += 1
    return RunFailed(f"the scheduler did not come to rest within {seconds:g} s: {verdict.reason}")


NOT_HEARD = frozenset(
    ("leases.coordination.k8s.io", "tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io")
)
"""What a scheduler at rest goes on to ask for: to stay the leader, and who it is that reads its metrics."""


def heard(server: ApiServer) -> int:
    """How many requests have come that a scheduler at rest would not send."""
    return sum(count for (_, storage), count in server.requests.items() if storage not in NOT_HEARD)


def has_asked_for_pods(server: ApiServer) -> bool:
    """Whether somebody has listed or watched pods, as every scheduler does."""
    return bool(server.requests["list", "pods"] or server.requests["watch", "pods"])


async def silence_at_startup(server: ApiServer) -> None:
    """Return when nobody has asked for anything for a moment; soon even where somebody always does (it polls)."""
    await QuietPeriod(lambda: heard(server), STARTUP_SILENCE).at_rest(timeout=4 * STARTUP_SILENCE)


class RestOnRealClock:
    """Rest of the scheduler that was started here (``pid``), or else of all who watch pods.

    ``names``: what schedulers go by.
    """

    knows_timers = False

    def __init__(self, server: ApiServer, settings: StepSettings, pid: int | None, names: Iterable[str] = ()) -> None:
        self.counts = RestCounts()
        self._server = server
        self._settings = settings
        self._ours = pid is not None
        self._observed = None
        if settings.rest is RestMeans.AUTO and not unobservable():
            self._observed = Observed(server, pid)
        self._metrics = None
        if settings.scheduler_metrics and settings.rest is not RestMeans.QUIET:
            endpoint = MetricsEndpoint(
                settings.scheduler_metrics,
                token=settings.scheduler_metrics_token,
                insecure=settings.scheduler_metrics_insecure,
            )
            self._metrics = MetricsRest(server, endpoint, names)

    def close(self) -> None:
        """Let go of what the observation holds open."""
        if self._observed is not None:
            self._observed.close()
        if self._metrics is not None:
            self._metrics.close()

    async def start(self) -> None:
        """Return when a scheduler has asked for pods, and has been silent for a moment, if it ever is."""
        await self._asked_for_pods()
        await self._at_rest()
        await silence_at_startup(self._server)

    async def advance(self, now: float) -> None:
        """Nothing to do: nobody lives on the simulated clock."""

    def next_timer(self) -> float | None:
        """Not known."""
        return None

    async def wait(self) -> float:
        """Return when the schedulers are at rest, and since when."""
        while True:
            if await self._at_rest():
                self.counts.observed += 1
                return time.monotonic()
            if self._metrics is not None:
                return await self._by_metrics(self._metrics)
            await self._silent(self._settings.quiet_period)
            if not self._server.busy():
                self.counts.quiet_period += 1
                return time.monotonic() - self._settings.quiet_period

    async def _at_rest(self) -> bool:
        """Wait for rest as far as it can be observed; whether that says all."""
        if self._observed is None:
            return False
        verdict = await self._observed.at_rest(self._settings.rest_timeout)
        if not verdict.idle:
            raise not_at_rest(self.counts, verdict, self._settings.rest_timeout)
        return self._observed.all_in_sight()

    async def _by_metrics(self, metrics: MetricsRest) -> float:
        settings = self._settings
        verdict, exact = await metrics.at_rest(
            lambda: heard(self._server), timeout=settings.rest_timeout, quiet_period=settings.quiet_period
        )
        if not verdict.idle:
            raise not_at_rest(self.counts, verdict, settings.rest_timeout)
        if exact:
            self.counts.metrics += 1
        else:
            self.counts.quiet_period += 1
        return time.monotonic() - (SETTLE if exact else settings.quiet_period)

    async def _silent(self, seconds: float) -> None:
        """Wait for ``seconds`` of real time without a request."""
        quiet = QuietPeriod(lambda: heard(self._server), seconds)
        verdict = await quiet.at_rest(timeout=self._settings.rest_timeout)
        if not verdict.idle:
            raise not_at_rest(self.counts, verdict, self._settings.rest_timeout)

    async def _asked_for_pods(self) -> None:
        """Return when a scheduler has asked for pods. One started here must not idle without doing so."""
        start = busy = time.monotonic()
        while not has_asked_for_pods(self._server):
            await asyncio.sleep(POLL)
            if not self._ours:
                continue
            now = time.monotonic()
            if self._observed is None or not self._observed.look().idle:
                busy = now
            if now - busy > self._settings.patience:
                raise RunFailed(f"the scheduler has not asked for pods, and has been idle for {now - busy:.0f} s")
            if now - start > self._settings.startup_timeout:
                raise RunFailed(f"the scheduler has not asked for pods within {now - start:.0f} s")


class Observed:
    """The processes that are schedulers, as far as they run on this machine: ``pid``, else all who watch pods."""

    def __init__(self, server: ApiServer, pid: int | None) -> None:
        self._server = server
        self._pid = pid
        self._oracle = IdleOracle(server)
        self._peers: dict[tuple[str, int], int | None] = {}
        """The process at the other end of each connection that watches pods; None for one out of sight."""
        if pid is not None:
            self._oracle.add(pid)

    def close(self) -> None:
        """Let go of what the observation holds open."""
        self._oracle.close()

    def look(self) -> Verdict:
        """One look."""
        return self._oracle.look()

    async def at_rest(self, timeout: float) -> Verdict:
        """Wait until all that are in sight are at rest, ``timeout`` real seconds at most."""
        while True:
            self._follow_peers()
            verdict = await self._oracle.at_rest(timeout=timeout)
            if not verdict.gone:
                return verdict
            if self._pid is not None:
                # Its end is told by whoever waits for the process, with exit code and last words.
                await asyncio.Event().wait()
            self._forget_peers()

    def all_in_sight(self) -> bool:
        """Whether there are schedulers, and all of them on this machine."""
        if self._pid is not None:
            return True
        self._follow_peers()
        return bool(self._peers) and None not in self._peers.values()

    def _follow_peers(self) -> None:
        """Observe the processes that watch pods, where we did not start the scheduler: others are no schedulers."""
        if self._pid is not None:
            return
        watching = self._server.watching("pods")
        remote = {}
        for connection in self._server.connections():
            try:
                address = connection.getpeername()[:2]
            except OSError:
                continue
            if address in watching:
                remote[address] = connection
        for address in [address for address in self._peers if address not in remote]:
            del self._peers[address]
        for address, connection in remote.items():
            if address not in self._peers:
                self._peers[address] = self._observe(connection)

    def _observe(self, connection: socket.socket) -> int | None:
        pid = peer_pid(connection)
        if pid is not None and pid not in self._peers.values():
            self._oracle.add(pid)
        return pid

    def _forget_peers(self) -> None:
        """Look anew who is there: one of the observed processes has ended."""
        for pid in {pid for pid in self._peers.values() if pid is not None}:
            self._oracle.remove(pid)
        self._peers.clear()
