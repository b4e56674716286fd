"""The ideal control: messages between Batsim's parts take no time, and all that happens at one date has a fixed order.

A job submitted at 3 and started at once starts at 3. Faults must show all the same: a decision is refused if Batsim
would refuse it for coming too late, after the others of its reply.
"""

from collections.abc import Iterator

from batkube.batsim.topology import Host
from batkube.event_queue import Action, Entry
from batkube.simulator.controls.control import Handle, Time
from batkube.simulator.sharing.tasks import Tasks
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import is_later, picoseconds, seconds
from batkube.simulator.time.event_queue import Rank, SimulatedEvents


class _Done:
    """A message that has been handled already."""

    def cancel(self) -> None:
        """Do nothing."""


_DONE = _Done()


class IdealControl:
    """A Control with ideal dates.

    ``cost``: the picoseconds that Batsim's server takes for each decision, which is refused if that makes it too late.
    ``delay``: the picoseconds that a decision takes here.
    """

    def __init__(self, clock: Clock, queue: SimulatedEvents, tasks: Tasks, *, cost: int, delay: int) -> None:
        self._delay = delay
        self._clock = clock
        self._queue = queue
        self._tasks = tasks
        self._cost = cost
        self._handled = 0

    def launch(self, rank: Rank, begin: Action) -> None:
        self._queue.add(0, rank, begin)

    def spawn(self, begin: Action) -> None:
        begin()

    def resume(self, then: Action) -> None:
        then()

    def time(self, seconds: float) -> int:
        return picoseconds(seconds)

    def picoseconds(self, time: Time) -> int:
        return int(time)

    def now(self) -> int:
        return self._clock.now

    def after(self, duration: Time, rank: Rank, action: Action) -> Entry:
        return self._queue.add(self._clock.now + int(duration), rank, action)

    def in_turn(self, actions: Iterator[Action], then: Action) -> None:
        for action in actions:
            action()
        then()

    def end(self, task: Action, then: Action) -> None:
        task()
        then()

    wait = after

    def sleep(self, duration: int, rank: Rank, then: Action) -> Entry:
        return self.after(duration, rank, then)

    def send(
        self, host: Host | None, handle: Action, then: Action | None = None, call_back: Action | None = None
    ) -> _Done:
        handle()
        if call_back is not None:
            call_back()
        if then is not None:
            then()
        return _DONE

    def check_call(self, timestamp: float) -> None:
        date = picoseconds(timestamp)
        if not is_later(date, self._clock.now):
            raise ValueError(f"timestamp {timestamp} is not in the future")
        if date <= self._handled:
            raise ValueError(
                f"timestamp {timestamp} is past when Batsim handles it, at {seconds(self._handled)}: "
                "You asked to be awaken in the past"
            )

    def decide(self, handle: Handle) -> None:
        """Carry a decision out."""
        if self._delay:
            self.advance(self._clock.now + self._delay)
        self._handled = max(self._handled, self._clock.now) + max(0, self._cost - self._delay)
        handle()

    def advance(self, date: int) -> None:
        """Let everything happen up to ``date`` and at it, and make it the present."""
        clock, tasks = self._clock, self._tasks
        while True:
            if tasks.unsettled:
                tasks.settle(clock.now)
            due = self._queue.pop_until(date)
            if due is None:
                break
            clock.now, action = due
            action()
        clock.now = max(clock.now, date)

    @property
    def next_date(self) -> int | None:
        """The date when the next thing happens by itself; None if nothing ever will."""
        self._tasks.settle(self._clock.now)
        return self._queue.next_date
