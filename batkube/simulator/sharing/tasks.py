"""Parallel tasks under way: what they have done, and when each will end."""

from collections.abc import Callable, Iterable
from itertools import count

from batkube.batsim.topology import Host
from batkube.simulator.sharing.bottleneck import Shared, fair_rates
from batkube.simulator.sharing.parallel_task import Demand
from batkube.simulator.time.dates import SECOND, picoseconds
from batkube.simulator.time.event_queue import Happening, Rank, SimulatedEvents


class Task:
    """A task under way. Its rate changes as others start and end."""

    __slots__ = ("demand", "done", "entry", "number", "on_end", "progressing", "rate", "since", "ticket")

    def __init__(self, demand: Demand, on_end: Callable[[], None], ticket: int) -> None:
        self.demand = demand
        self.on_end = on_end
        self.ticket = ticket
        """The place of its start in the order of what happens at one date."""
        self.done = 0.0
        """The part of the whole that is done at the date ``since``."""
        self.rate = 0.0
        """The part of the whole per second."""
        self.since = 0
        self.progressing = False
        """True if its latency has passed."""
        self.number = 0
        """The task's number in the order in which tasks begin to progress."""
        self.entry: Happening | None = None

    def progress(self, now: int) -> float:
        """Return how much is done, from 0 to 1."""
        return min(1.0, self.done + self.rate * ((now - self.since) / SECOND))


class Tasks:
    """All tasks under way, with the date at which each will end in the queue."""

    def __init__(self, queue: SimulatedEvents) -> None:
        self._queue = queue
        self.on_change: Callable[[Iterable[Host]], None] | None = None
        """Called with hosts on which something ends, or a task of a single executor starts."""
        self._numbers = count()
        self._users: dict[Shared, dict[Task, None]] = {}
        self.unsettled: dict[Task, None] = {}
        """The tasks whose rate may have to change."""

    def start(self, demand: Demand, now: int, on_end: Callable[[], None], *, ticket: int | None = None) -> Task:
        """Start a task; ``on_end`` is called when it ends. ``ticket``: its place in the order of the queue."""
        task = Task(demand, on_end, self._queue.ticket() if ticket is None else ticket)
        task.since = now
        if len(demand.hosts) == 1:
            self.changes_on(demand.hosts)
        if demand.nothing:
            date = now + picoseconds(demand.latency)
            task.entry = self._queue.add(date, Rank.TASK, on_end, ticket=task.ticket, left=demand.latency)
        elif demand.latency > 0:
            arrival = now + picoseconds(demand.latency)
            task.entry = self._queue.add(
                arrival,
                Rank.TASK,
                lambda: self._begin(task, arrival),
                ticket=task.ticket,
                left=demand.latency,
            )
        else:
            self._begin(task, now)
        return task

    def stop(self, task: Task) -> None:
        """End a task, done or not. The others get its share."""
        self.changes_on(task.demand.hosts)
        if task.entry is not None:
            task.entry.cancel()
        if not task.progressing:
            return
        task.progressing = False
        self.unsettled.pop(task, None)
        for resource, _ in task.demand.uses:
            self._users[resource].pop(task, None)
            self.touch(resource)

    def changes_on(self, hosts: Iterable[Host]) -> None:
        """Note that something ends on these hosts, perhaps a delay."""
        if self.on_change is not None:
            self.on_change(hosts)

    def usage(self, resource: Shared) -> float:
        """Return the flops or bytes per second that tasks take of a resource, by the rates they were last given."""
        users = self._users.get(resource)
        if not users:
            return 0.0
        return sum(amount * task.rate for task in users for used, amount in task.demand.uses if used is resource)

    def use_any(self, demand: Demand) -> bool:
        """Tell whether a task with this demand would share with others."""
        users = self._users
        return bool(users) and any(users.get(resource) for resource, _ in demand.uses)

    def touch(self, resource: Shared) -> None:
        """Let the rates of a resource's users be computed anew: others use it, or its capacity has changed."""
        self.unsettled.update(self._users.get(resource, {}))

    def _begin(self, task: Task, now: int) -> None:
        task.progressing = True
        task.since = now
        task.entry = None
        task.number = next(self._numbers)
        for resource, _ in task.demand.uses:
            self._users.setdefault(resource, {})[task] = None
        self.unsettled[task] = None

    def settle(self, now: int) -> None:
        """Compute anew the rates of all tasks that the changes at this date concern.

        To be called before time goes on.
        """
        while self.unsettled:
            first = next(iter(self.unsettled))
            concerned = self._connected(first)
            shares = fair_rates([(task.demand.uses, task.demand.rate_limit) for task in concerned])
            for task, rate in zip(concerned, shares, strict=True):
                self.unsettled.pop(task, None)
                self._set_rate(task, rate, now)

    def _connected(self, first: Task) -> list[Task]:
        """Return the tasks that ``first`` shares with, directly or through others, the oldest first."""
        found = {first: None}
        waiting = [first]
        seen: set[Shared] = set()
        while waiting:
            for resource, _ in waiting.pop().demand.uses:
                if resource in seen:
                    continue
                seen.add(resource)
                for task in self._users[resource]:
                    if task not in found:
                        found[task] = None
                        waiting.append(task)
        return sorted(found, key=lambda task: task.number)

    def _set_rate(self, task: Task, rate: float, now: int) -> None:
        left = 1.0
        if task.entry is not None:
            if rate == task.rate:
                return
            left = self._queue.work_left(task.entry)
            task.entry.cancel()
        task.done = task.progress(now)
        task.since = now
        task.rate = rate
        remaining = (1.0 - task.done) / rate
        task.entry = self._queue.add(
            now + picoseconds(remaining), Rank.TASK, task.on_end, ticket=task.ticket, left=left, speed=rate
        )
