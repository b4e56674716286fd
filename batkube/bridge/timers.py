"""At which of the scheduler's own timers the simulation stops.

A scheduler at rest wakes up by itself: back-off, flushes, polling. Each stop costs real time, and most change nothing.
"""

import math
from dataclasses import dataclass

from batkube.settings import Timers

SOONEST = 1e-3
"""Simulated seconds: Batsim refuses a CALL_ME_LATER that is past when it handles it, some latencies after our reply.

Stops lie on whole multiples. When exactly a timer is due differs from run to run by nanoseconds; rounded up it is the
same each time.
"""
FLUSH = 301.0
"""kube-scheduler tries a pod again that it has held for unschedulable for over five minutes (by default) ..."""
FLUSH_PERIOD = 31.0
"""... and looks for such pods every 30 s. A second more for both: whether exactly five minutes are over five minutes is
up to the nanoseconds."""

LAST_STOPS = 10
"""Timers followed, whatever the policy, where nothing else is to come: a scheduler may look but once an hour."""


@dataclass(frozen=True)
class TimerPolicy:
    """``timers``: a policy, or seconds: then stops are at whole multiples, while pods wait.

    ``window``: simulated seconds after the last change for which timers are followed while pods wait. It should be
    longer than the longest back-off of a pod (10 s for kube-scheduler).
    """

    timers: Timers | float
    window: float

    def next_stop(
        self,
        *,
        now: float,
        changed: float,
        deadline: float | None,
        waiting: bool,
        more_to_come: bool = False,
        at_last: bool = False,
    ) -> float | None:
        """When to stop next, if nothing happens before; None: not at all.

        ``changed``: when something last happened. ``deadline``: when the scheduler would wake up by itself.
        ``waiting``: whether pods wait for it. ``more_to_come``: whether events are. ``at_last``: nothing else will ever
        happen, so that there is no limit to how long ago the last change may be.
        """
        if deadline is None or not (waiting or self.timers is Timers.ALL):
            return None
        if self.timers is Timers.EVENTS and more_to_come:
            return None
        stop = _round_up(max(deadline, now + SOONEST), self.timers if isinstance(self.timers, float) else SOONEST)
        if at_last:
            return stop
        if self.timers not in (Timers.WINDOW, Timers.EVENTS):
            return stop if stop <= changed + FLUSH + FLUSH_PERIOD + self.window else None
        if stop <= changed + self.window:
            return stop
        # Two stops for the flush: when pods are old enough, and when it is sure to have been looked for them.
        return next((date for date in (changed + FLUSH, changed + FLUSH + FLUSH_PERIOD) if stop <= date), None)


def _round_up(date: float, grid: float) -> float:
    return round(math.ceil(round(date / grid, 6)) * grid, 6)
