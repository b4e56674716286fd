"""The choice of the scheduler's own timers at which the simulation stops.

A scheduler at rest wakes up by itself: back-off, flushes, polling. Each stop costs real time, and most change nothing.
"""

import math
from dataclasses import dataclass

from batkube.bridge.decisions import SOONEST
from batkube.bridge.step_settings import Timers

FLUSH = 301.0
"""The simulated seconds after which kube-scheduler tries a pod again that it has held for unschedulable: over five
minutes by default, and one second more, because it depends on nanoseconds whether exactly five minutes are over five
minutes."""
FLUSH_PERIOD = 31.0
"""The simulated seconds between kube-scheduler's looks for such pods: 30 s, and one second more for the same reason."""

LAST_STOPS = 10
"""The number of timers that are followed, whatever the policy, if nothing else is to come: a scheduler may look only
once an hour."""

LAST_APPOINTMENTS = 1000
"""The same for a scheduler that asks for each of its stops: it may have a reason to wait, but not for ever."""


@dataclass(frozen=True)
class TimerPolicy:
    """The rule for stops at timers.

    ``timers``: a policy; or seconds: stops are then at whole multiples of them, while pods wait.

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
        until: float = 0.0,
        in_vain: bool = False,
        at_last: bool = False,
    ) -> float | None:
        """Return the date of the next stop, if nothing happens before; None: no stop.

        ``changed``: the date of the last change. ``deadline``: the date when the scheduler would wake up by itself.
        ``waiting``: pods wait for it. ``more_to_come``: events are to come. ``until``: it goes on at least
        until this date. ``in_vain``: whatever the scheduler does
        then, no pod can be placed before the next event. ``at_last``: nothing else will ever happen, so that the last
        change may be any time ago.
        """
        if deadline is None or not (waiting or self.timers is Timers.ALL):
            return None
        if self.timers is Timers.EVENTS and more_to_come:
            return None
        stop = _round_up(max(deadline, now + SOONEST), self.timers if isinstance(self.timers, float) else SOONEST)
        if at_last:
            return stop
        if self.timers not in (Timers.WINDOW, Timers.EVENTS):
            return stop if stop <= max(changed + FLUSH + FLUSH_PERIOD + self.window, until) else None
        if stop <= changed + self.window:
            # One stop, so that the scheduler knows by the next event what has waited for long.
            return max(stop, _round_up(changed + self.window, SOONEST)) if in_vain else stop
        # Two stops for the flush: when pods are old enough, and when the scheduler is sure to have looked for them.
        return next((date for date in (changed + FLUSH, changed + FLUSH + FLUSH_PERIOD) if stop <= date), None)


def _round_up(date: float, grid: float) -> float:
    return round(math.ceil(round(date / grid, 6)) * grid, 6)
