"""At which of the scheduler's own timers the simulation stops.

A scheduler at rest wakes up by itself: back-off, flushes, polling. Each stop costs real time, and most change nothing.
"""

from dataclasses import dataclass

from batkube.settings import Timers

SOONEST = 1e-3
"""Simulated seconds: Batsim refuses a CALL_ME_LATER that is past when it handles it, some latencies after our reply."""
FLUSH = 300.0
"""kube-scheduler tries a pod again that it has held for unschedulable for so long (five minutes by default) ..."""
FLUSH_PERIOD = 30.0
"""... and looks for such pods that often."""


@dataclass(frozen=True)
class TimerPolicy:
    """``window``: simulated seconds after the last change for which timers are followed while pods wait.

    It should be longer than the longest back-off of a pod (10 s for kube-scheduler).
    """

    timers: Timers
    window: float

    def next_stop(
        self, *, now: float, changed: float, deadline: float | None, waiting: bool, more_to_come: bool = False
    ) -> float | None:
        """When to stop next, if nothing happens before; None: not at all.

        ``changed``: when something last happened. ``deadline``: when the scheduler would wake up by itself.
        ``waiting``: whether pods wait for it. ``more_to_come``: whether events are.
        """
        if deadline is None or not (waiting or self.timers is Timers.ALL):
            return None
        if self.timers is Timers.EVENTS and more_to_come:
            return None
        stop = max(deadline, now + SOONEST)
        if self.timers in (Timers.LAZY, Timers.ALL):
            return stop if stop <= changed + FLUSH + FLUSH_PERIOD + self.window else None
        if stop <= changed + self.window:
            return stop
        # Two stops for the flush: when pods are old enough, and when it is sure to have been looked for them.
        return next((date for date in (changed + FLUSH, changed + FLUSH + FLUSH_PERIOD) if stop <= date), None)
