"""Knowing that the schedulers have nothing left to do at this date, if they live on the real clock.

A scheduler that runs on this machine is observed: one that batkube started by its pid, another one by the pid at the
other end of its connection. For one that cannot be observed its metrics, or silence, have to do, and the results say
so. Its timers are not known.
"""

import asyncio
import logging
import time
from collections.abc import Iterable
from typing import Protocol

from batkube.bridge.errors import RunFailed
from batkube.bridge.metrics_quiescence import SETTLE, MetricsQuiescence
from batkube.bridge.presence import Presence
from batkube.bridge.step_settings import OnSchedulerLoss, QuiescenceMeans, StepSettings
from batkube.bridge.work_limit import wait_within
from batkube.clock.metrics import MetricsEndpoint
from batkube.clock.oracle import IdleOracle, unobservable
from batkube.clock.peers import peer_pid
from batkube.clock.quiet import QuietPeriod
from batkube.clock.tcp import HasFileDescriptor
from batkube.clock.verdict import Verdict
from batkube.kube.server import ApiServer
from batkube.results.run import QuiescenceCounts

log = logging.getLogger(__name__)

POLL = 0.02
"""Real seconds between two looks at what nothing notifies us of."""
TELL_AFTER = 10.0
"""Real seconds after which the user is told that no scheduler has come yet."""
STARTUP_SILENCE = 0.5
"""Real seconds without a request after which a scheduler at rest has started up.

client-go polls each 100 ms whether its caches are filled (``cache.WaitForCacheSync``), and while it sleeps in between
it looks as if it had started up.
"""


class Quiescence(Protocol):
    """The step loop's view of the schedulers: what it must know of them and tell them."""

    counts: QuiescenceCounts
    knows_timers: bool
    """True if ``next_timer`` knows all timers."""
    one_by_one: bool
    """True if schedulers handle each of several events of one date before they are told the next."""
    keeps_appointments: bool
    """True if the scheduler itself has no timers but appointments, and so no habit such as polling, or back-off."""

    async def start(self) -> None:
        """Return when a scheduler has started up and is at rest. Raises RunFailed if none does."""

    async def advance(self, now: float) -> None:
        """Move to ``now`` (simulated seconds); return when what that wakes is at rest again. Raises RunFailed."""

    async def wait(self) -> float:
        """Return when the schedulers are at rest: since when, by ``time.monotonic()``.

        Raises RunFailed if that cannot be established.
        """

    async def came_back(self) -> bool:
        """Tell whether the scheduler was gone and another one has taken its place, which was waited for.

        Raises RunFailed if it is gone and no other one is to be waited for.
        """

    def next_timer(self) -> float | None:
        """Return the simulated second at which a scheduler at rest would wake up by itself; None if none will."""

    def next_appointment(self) -> float | None:
        """Return the simulated second that was asked for, and must be kept; None if there is none."""

    def close(self) -> None:
        """Close the files and connections of the observation."""


def not_quiescent(counts: QuiescenceCounts, verdict: Verdict, seconds: float) -> RunFailed:
    """Return the error that rest could not be established: a time-out is no answer."""
    counts.not_established += 1
    return RunFailed(f"the scheduler did not come to rest within {seconds:g} s: {verdict.reason}")


NOT_HEARD = frozenset(
    ("leases.coordination.k8s.io", "tokenreviews.authentication.k8s.io", "subjectaccessreviews.authorization.k8s.io")
)
"""The resources that a scheduler at rest still asks for: to stay the leader, and to check who reads its metrics."""


def heard(server: ApiServer) -> int:
    """Return how many requests have come that a scheduler at rest would not send."""
    return sum(count for (_, storage), count in server.requests.items() if storage not in NOT_HEARD)


def has_asked_for_pods(server: ApiServer) -> bool:
    """Tell whether a client has listed or watched pods, as every scheduler does."""
    return bool(server.requests["list", "pods"] or server.requests["watch", "pods"])


async def silence_at_startup(server: ApiServer) -> None:
    """Return when no client has sent a request for a moment; soon also if one always does (it polls)."""
    await QuietPeriod(lambda: heard(server), STARTUP_SILENCE).wait_for_quiescence(timeout=4 * STARTUP_SILENCE)


class QuiescenceOnRealClock:
    """Quiescence of the scheduler that was started here (``pid``), or else of all clients that watch pods.

    ``names``: the names that schedulers go by.
    """

    knows_timers = False
    one_by_one = False
    keeps_appointments = False

    def __init__(self, server: ApiServer, settings: StepSettings, pid: int | None, names: Iterable[str] = ()) -> None:
        self.counts = QuiescenceCounts()
        self._server = server
        self._settings = settings
        self._ours = pid is not None
        self._presence = Presence(server)
        self._observed = None
        if settings.quiescence is QuiescenceMeans.AUTO and not unobservable():
            self._observed = Observed(server, pid)
        self._metrics = None
        if settings.scheduler_metrics and settings.quiescence is not QuiescenceMeans.QUIET:
            endpoint = MetricsEndpoint(
                settings.scheduler_metrics,
                token=settings.scheduler_metrics_token,
                insecure=settings.scheduler_metrics_insecure,
            )
            self._metrics = MetricsQuiescence(server, endpoint, names)

    def close(self) -> None:
        """Close the files and connections of the observation."""
        if self._observed is not None:
            self._observed.close()
        if self._metrics is not None:
            self._metrics.close()

    async def start(self) -> None:
        """Return when a scheduler has asked for pods, and has been silent for a moment, if it ever is."""
        await self._asked_for_pods()
        await self._started_up()

    async def _started_up(self) -> None:
        await self._wait_for_quiescence()
        await silence_at_startup(self._server)
        self._presence.note()

    async def advance(self, now: float) -> None:
        """Do nothing: no scheduler lives on the simulated clock."""

    async def came_back(self) -> bool:
        """Tell whether the scheduler was gone and another one, or the same, has taken its place.

        Simulated time stands still meanwhile.
        """
        if self._ours or not await self._presence.is_lost():
            return False
        self.counts.lost += 1
        if self._settings.on_scheduler_loss is OnSchedulerLoss.FAIL:
            raise RunFailed("the scheduler is gone: nobody watches pods any more")
        log.warning("the scheduler is gone: simulated time stands until one is back")
        await self._presence.until_back()
        await self._started_up()
        log.warning("a scheduler is back: the simulation goes on")
        return True

    def next_timer(self) -> float | None:
        """Return None: timers are not known."""
        return None

    def next_appointment(self) -> float | None:
        """Return None: nobody can ask for one."""
        return None

    async def wait(self) -> float:
        """Return when the schedulers are at rest, and since when."""
        while True:
            observed = await self._wait_for_quiescence()
            if await self.came_back():
                continue
            if observed:
                self.counts.observed += 1
                return time.monotonic()
            if self._metrics is not None:
                return await self._by_metrics(self._metrics)
            await self._silent(self._settings.quiet_period)
            if not self._server.busy():
                self.counts.quiet_period += 1
                return time.monotonic() - self._settings.quiet_period

    async def _wait_for_quiescence(self) -> bool:
        """Wait for quiescence as far as it can be observed; tell whether all schedulers were observed."""
        if self._observed is None:
            return False
        observed = self._observed
        limit = self._settings.quiescence_timeout
        verdict = await wait_within(limit, observed.wait_for_quiescence, observed.processor_time)
        if not verdict.idle:
            raise not_quiescent(self.counts, verdict, limit)
        return observed.all_in_sight()

    async def _by_metrics(self, metrics: MetricsQuiescence) -> float:
        settings = self._settings
        verdict, exact = await metrics.wait_for_quiescence(
            lambda: heard(self._server), timeout=settings.quiescence_timeout, quiet_period=settings.quiet_period
        )
        if not verdict.idle:
            raise not_quiescent(self.counts, verdict, settings.quiescence_timeout)
        if exact:
            self.counts.metrics += 1
        else:
            self.counts.quiet_period += 1
        return time.monotonic() - (SETTLE if exact else settings.quiet_period)

    async def _silent(self, seconds: float) -> None:
        """Wait for ``seconds`` of real time without a request."""
        quiet = QuietPeriod(lambda: heard(self._server), seconds)
        verdict = await quiet.wait_for_quiescence(timeout=self._settings.quiescence_timeout)
        if not verdict.idle:
            raise not_quiescent(self.counts, verdict, self._settings.quiescence_timeout)

    async def _asked_for_pods(self) -> None:
        """Return when a scheduler has asked for pods. One started here must not idle without doing so."""
        start = busy = time.monotonic()
        told = False
        while not has_asked_for_pods(self._server):
            await asyncio.sleep(POLL)
            if not self._ours:
                if not told and time.monotonic() - start > TELL_AFTER:
                    told = True
                    log.warning("no scheduler has asked for pods yet: the simulation waits for one")
                continue
            now = time.monotonic()
            if self._observed is None or not self._observed.look().idle:
                busy = now
            if now - busy > self._settings.patience:
                raise RunFailed(f"the scheduler has not asked for pods, and has been idle for {now - busy:.0f} s")
            if now - start > self._settings.startup_timeout:
                raise RunFailed(f"the scheduler has not asked for pods within {now - start:.0f} s")


class Observed:
    """The observed processes of schedulers on this machine: ``pid``, else all that watch pods."""

    def __init__(self, server: ApiServer, pid: int | None) -> None:
        self._server = server
        self._pid = pid
        self._oracle = IdleOracle(server)
        self._peers: dict[tuple[str, int], int | None] = {}
        """The process at the other end of each connection that watches pods; None if it cannot be observed."""
        if pid is not None:
            self._oracle.add(pid)

    def close(self) -> None:
        """Close the files of the observation."""
        self._oracle.close()

    def look(self) -> Verdict:
        """Look once."""
        return self._oracle.look()

    def processor_time(self) -> float:
        """Return the seconds of processor time that the processes have used."""
        return self._oracle.processor_time()

    async def wait_for_quiescence(self, timeout: float) -> Verdict:
        """Wait until all observed processes are at rest, ``timeout`` real seconds at most."""
        while True:
            self._follow_peers()
            verdict = await self._oracle.wait_for_quiescence(timeout=timeout)
            if not verdict.gone:
                return verdict
            if self._pid is not None:
                # The code that waits for the process reports its end, with exit code and last words.
                await asyncio.Event().wait()
            self._forget_peers()
            await asyncio.sleep(POLL)  # the server notices its closed connections

    def all_in_sight(self) -> bool:
        """Tell whether there are schedulers, and all of them are on this machine."""
        if self._pid is not None:
            return True
        self._follow_peers()
        return bool(self._peers) and None not in self._peers.values()

    def _follow_peers(self) -> None:
        """Follow the processes that watch pods, if we did not start the scheduler. Others are no schedulers."""
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
        before = {pid for pid in self._peers.values() if pid is not None}
        for address in [address for address in self._peers if address not in remote]:
            del self._peers[address]
        for address, connection in remote.items():
            if address not in self._peers:
                self._peers[address] = self._observe(connection)
        # A process that watches no more may have ended, and every look would report it.
        for pid in before - set(self._peers.values()):
            self._oracle.remove(pid)

    def _observe(self, connection: HasFileDescriptor) -> int | None:
        pid = peer_pid(connection)
        if pid is not None and pid not in self._peers.values():
            self._oracle.add(pid)
        return pid

    def _forget_peers(self) -> None:
        """Forget the observed processes, one of which has ended, to find them anew."""
        for pid in {pid for pid in self._peers.values() if pid is not None}:
            self._oracle.remove(pid)
        self._peers.clear()
