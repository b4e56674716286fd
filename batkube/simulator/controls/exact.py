"""The exact control: dates to the microsecond, and exactly the messages of Batsim 4 on SimGrid 3.32.

Batsim's parts talk over the simulated network. Its server takes one message at a time. Each message is one byte over
the route from the sender's host to the master, which takes the route's latency and the time of the byte; senders queue
until then.

SimGrid plays actors in rounds. All actors that can run do so, in the order in which they were woken, each up to its
next request. Then the requests are carried out in that order. When no actor can run any more, time goes on to the next
date at which something ends. The actors that waited for it are woken in the order in which what they waited for had
begun. (``EngineImpl::run``, ``CommImpl`` and ``HostL07Model`` in SimGrid; ``server.cpp``, ``ipp.cpp`` in Batsim.)
"""

from collections import deque
from collections.abc import Callable, Iterator

from batkube.batsim.topology import Host
from batkube.event_queue import Action, Entry
from batkube.simulator.controls.control import Time
from batkube.simulator.controls.message_routes import MessageRoute, MessageRoutes
from batkube.simulator.sharing.tasks import Tasks
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import SECOND, picoseconds
from batkube.simulator.time.event_queue import Rank, SimulatedEvents


def _stop() -> None:
    """Do nothing: an actor has nothing more to do."""


class _Sleep:
    """An actor that sleeps, or is about to."""

    __slots__ = ("cancelled", "entry")

    def __init__(self) -> None:
        self.cancelled = False
        self.entry: Entry | None = None

    def cancel(self) -> None:
        self.cancelled = True
        if self.entry is not None:
            self.entry.cancel()


class Letter:
    """A message to the server: in its mailbox, or on its way from its sender."""

    __slots__ = ("call_back", "cancelled", "handle", "mailbox", "route", "then", "under_way")

    def __init__(
        self,
        mailbox: "deque[Letter]",
        route: MessageRoute,
        handle: Action,
        then: Action,
        call_back: Action | None = None,
    ) -> None:
        self.mailbox = mailbox
        self.route = route
        self.handle = handle
        self.then = then
        self.call_back = call_back
        self.cancelled = False
        self.under_way = False

    def cancel(self) -> None:
        """Note that the sender does not exist any more: a message that the server has not asked for yet is dropped.

        Raises ValueError if the message is on its way: Batsim's server dies of that.
        """
        if self in self.mailbox:
            self.mailbox.remove(self)
        elif self.under_way:
            raise ValueError("a job is killed while a message of it is on its way, of which Batsim's server dies")
        self.cancelled = True
        self.then = _stop


class ExactControl:
    """A Control that plays actors as SimGrid does. ``routes``: the ways of messages to the master."""

    def __init__(self, clock: Clock, queue: SimulatedEvents, tasks: Tasks, routes: MessageRoutes) -> None:
        self._clock = clock
        self._queue = queue
        self._tasks = tasks
        self._routes = routes
        self.runnable: list[Action] = []
        """Actors that have been woken, in order."""
        self._requests: list[Action] = []
        """The requests of the actors that ran in this round, in order."""
        self._at_once: deque[Action] = deque()
        """The further steps, in the same round, of the actor that has just run."""
        self._ended: list[Action] = []
        """Actors whose task has been ended in this round: they are woken after all others."""
        self.mailbox: deque[Letter] = deque()
        """Messages that the server has not asked for yet."""
        self._waiting: Callable[[Letter], Action] | None = None
        self._made: list[Action] | None = None
        """Actors that the server has made while it handles a message; None when it does not run."""

    # Requests of actors

    def launch(self, rank: Rank, begin: Action) -> None:
        self.runnable.append(begin)

    def spawn(self, begin: Action) -> None:
        if self._made is not None:
            self._made.append(begin)
        else:
            self.request(begin)

    def resume(self, then: Action) -> None:
        self.runnable.append(then)

    def time(self, seconds: float) -> float:
        return seconds

    def picoseconds(self, time: Time) -> int:
        return picoseconds(time)

    def now(self) -> float:
        return self._clock.seconds

    def after(self, duration: Time, rank: Rank, action: Action) -> Entry:
        date = self._clock.now + picoseconds(duration)
        return self._queue.add(date, rank, action, left=duration)

    def in_turn(self, actions: Iterator[Action], then: Action) -> None:
        action = next(actions, None)
        if action is None:
            then()
            return

        def handle() -> None:
            action()
            self.runnable.append(lambda: self.in_turn(actions, then))

        self._requests.append(handle)

    def end(self, task: Action, then: Action) -> None:
        task()
        self._ended.append(then)

    def wait(self, duration: Time, rank: Rank, then: Action) -> _Sleep:
        sleep = _Sleep()
        if duration > 0:
            self._requests.append(lambda: self._fall_asleep(sleep, duration, rank, then))
        else:
            self._at_once.append(then)
        return sleep

    def _fall_asleep(self, sleep: _Sleep, duration: Time, rank: Rank, then: Action) -> None:
        if not sleep.cancelled:
            sleep.entry = self.after(duration, rank, lambda: self.runnable.append(then))

    def sleep(self, duration: int, rank: Rank, then: Action) -> _Sleep:
        return self.wait(duration / SECOND, rank, then)

    def send(
        self, host: Host | None, handle: Action, then: Action | None = None, call_back: Action | None = None
    ) -> Letter:
        letter = Letter(self.mailbox, self._routes.of(host), handle, then or _stop, call_back)
        self._find_mailbox(lambda: self._put(letter))
        return letter

    def check_call(self, timestamp: float) -> None:
        if not timestamp > self._clock.seconds:
            raise ValueError(
                f"timestamp {timestamp} is not in the future: You asked to be awaken in the past! "
                f"(you ask: {timestamp:f}, it is: {self._clock.seconds:f})"
            )

    # The server's mailbox

    def _find_mailbox(self, then: Action) -> None:
        """Let an actor look the mailbox up by its name, then ask for something: two requests."""
        self.request(lambda: self._requests.append(then))

    def call_back(self, master: Host | None, submitter: Action, server: Action) -> None:
        """Let the server send a message to a submitter that waits for it; both go on."""
        letter = Letter(self.mailbox, self._routes.of(master), _stop, _stop)
        self._find_mailbox(lambda: self._carry(letter, lambda: (submitter, server)))

    def receive(self, serve: Callable[[Letter], Action]) -> None:
        """Let the server wait for a message; ``serve`` turns the message into the server's next step."""
        self._find_mailbox(lambda: self._get(serve))

    def _put(self, letter: Letter) -> None:
        if letter.cancelled:
            return
        if self._waiting is None:
            self.mailbox.append(letter)
        else:
            serve, self._waiting = self._waiting, None
            self._carry(letter, lambda: (serve(letter), letter.then))

    def _get(self, serve: Callable[[Letter], Action]) -> None:
        if self.mailbox:
            letter = self.mailbox.popleft()
            self._carry(letter, lambda: (letter.then, serve(letter)))
        else:
            self._waiting = serve

    def _carry(self, letter: Letter, woken: Callable[[], tuple[Action, Action]]) -> None:
        """Bring a message to the server. The one that waited first, sender or server, is woken first."""
        queue, clock, route, tasks = self._queue, self._clock, letter.route, self._tasks
        ticket = queue.ticket()
        letter.under_way = True

        def arrive() -> None:
            letter.under_way = False
            tasks.changes_on(route.demand.hosts)
            self.runnable += woken()

        def begin() -> None:
            if tasks.use_any(route.demand):

                def ended() -> None:
                    letter.under_way = False
                    tasks.stop(task)
                    self.runnable += woken()

                task = tasks.start(route.demand, clock.now, ended, ticket=ticket)
            else:
                date = clock.now + route.byte
                queue.add(date, Rank.TASK, arrive, ticket=ticket, left=1.0, speed=route.bandwidth)

        if not route.demand.uses:
            # A route without links, as by coordinates, has nothing to transfer.
            queue.add(clock.now + route.latency, Rank.TASK, arrive, ticket=ticket, left=route.seconds)
        elif route.latency > 0:
            date = clock.now + route.latency
            queue.add(date, Rank.TASK, begin, ticket=ticket, left=route.seconds)
        else:
            begin()

    # Rounds

    def request(self, *woken: Action) -> None:
        """Let these actors run in the next round."""
        self._requests.append(lambda: self.runnable.extend(woken))

    def handle(self, handle: Action) -> list[Action]:
        """Handle a message, and return the actors that this made, which do not run yet."""
        made: list[Action] = []
        self._made = made
        try:
            handle()
        finally:
            self._made = None
        return made

    def rounds(self) -> Iterator[Action]:
        """Yield the actors one after the other; the caller runs them. Ends when nothing can happen any more."""
        while True:
            while self.runnable:
                running, self.runnable = self.runnable, []
                for actor in running:
                    yield actor
                    while self._at_once:
                        yield self._at_once.popleft()
                requests, self._requests = self._requests, []
                for request in requests:
                    request()
                self.runnable += self._ended
                self._ended.clear()
            if self._tasks.unsettled:
                self._tasks.settle(self._clock.now)
            found = self._queue.step()
            if found is None:
                return
            self._clock.now, step, due = found
            self._clock.seconds += step
            for entry in due:
                # One may have cancelled another.
                if (action := entry.action) is not None:
                    entry.action = None
                    action()
