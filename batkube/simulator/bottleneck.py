"""How tasks that use the same hosts and links share them: SimGrid's "fair bottleneck".

All tasks speed up together until a resource is exhausted or a task has reached its own limit; those concerned stay at
the rate they have, the others go on with what is left (``fair_bottleneck.cpp``).
"""

import math
from collections.abc import Callable, Hashable, Sequence

from batkube.simulator.agenda import Agenda, Entry, Rank
from batkube.simulator.dates import SECOND, nanoseconds
from batkube.simulator.parallel_task import Demand

PRECISION = 1e-9
"""A resource with less than this part of its capacity left is exhausted."""


class Task:
    """A task under way. Its rate changes as others start and end."""

    __slots__ = ("demand", "done", "entry", "on_end", "progressing", "rate", "since")

    def __init__(self, demand: Demand, on_end: Callable[[], None]) -> None:
        self.demand = demand
        self.on_end = on_end
        self.done = 0.0
        """Of the whole, at the date ``since``."""
        self.rate = 0.0
        """Of the whole, a second."""
        self.since = 0
        self.progressing = False
        """Whether its latency has passed."""
        self.entry: Entry | None = None

    def progress(self, now: int) -> float:
        """How much is done, from 0 to 1."""
        return min(1.0, self.done + self.rate * ((now - self.since) / SECOND))


class Tasks:
    """All tasks under way, with the date at which each will end in the agenda."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._users: dict[Hashable, dict[Task, None]] = {}
        self.unsettled: dict[Task, None] = {}
        """Tasks whose rate may have to change."""

    def start(self, demand: Demand, now: int, on_end: Callable[[], None]) -> Task:
        """Start a task; ``on_end`` is called when it ends."""
        task = Task(demand, on_end)
        task.since = now
        if demand.nothing:
            task.entry = self._agenda.add(now, Rank.TASK, on_end)
        elif demand.latency > 0:
            begins = now + nanoseconds(demand.latency)
            task.entry = self._agenda.add(begins, Rank.TASK, lambda: self._begin(task, begins))
        else:
            self._begin(task, now)
        return task

    def stop(self, task: Task) -> None:
        """End a task, done or not. The others get its share."""
        if task.entry is not None:
            task.entry.cancel()
        if not task.progressing:
            return
        task.progressing = False
        self.unsettled.pop(task, None)
        for resource in task.demand.uses:
            users = self._users[resource]
            del users[task]
            self.unsettled.update(users)

    def _begin(self, task: Task, now: int) -> None:
        task.progressing = True
        task.since = now
        task.entry = None
        for resource in task.demand.uses:
            self._users.setdefault(resource, {})[task] = None
        self.unsettled[task] = None

    def settle(self, now: int) -> None:
        """Work out anew the rates of all that the changes at this date concern. To be called before time goes on."""
        while self.unsettled:
            first = next(iter(self.unsettled))
            concerned = self._connected(first)
            for task, rate in zip(concerned, fair_rates([task.demand for task in concerned]), strict=True):
                self.unsettled.pop(task, None)
                self._set_rate(task, rate, now)

    def _connected(self, first: Task) -> list[Task]:
        """The tasks that ``first`` shares with, directly or through others."""
        found = {first: None}
        waiting = [first]
        while waiting:
            for resource in waiting.pop().demand.uses:
                for task in self._users[resource]:
                    if task not in found:
                        found[task] = None
                        waiting.append(task)
        return list(found)

    def _set_rate(self, task: Task, rate: float, now: int) -> None:
        if task.entry is not None:
            if rate == task.rate:
                return
            task.entry.cancel()
        task.done = task.progress(now)
        task.since = now
        task.rate = rate
        remaining = (1.0 - task.done) / rate
        task.entry = self._agenda.add(now + nanoseconds(remaining), Rank.TASK, task.on_end)


def fair_rates(demands: Sequence[Demand]) -> list[float]:
    """The rate of each task when they share what they use."""
    if len(demands) == 1:
        return [demands[0].rate_alone]
    rates = [0.0] * len(demands)
    rising = dict.fromkeys(range(len(demands)))
    left: dict[Hashable, float] = {}
    users: dict[Hashable, list[int]] = {}
    for index, demand in enumerate(demands):
        for resource in demand.uses:
            left[resource] = demand.capacities[resource]
            users.setdefault(resource, []).append(index)
    floor = {resource: capacity * PRECISION for resource, capacity in left.items()}
    while rising:
        share = {}
        for resource, indexes in users.items():
            count = sum(index in rising for index in indexes)
            if count:
                share[resource] = left[resource] / count
        stopped = []
        for index in rising:
            demand = demands[index]
            step = min((share[key] / amount for key, amount in demand.uses.items()), default=math.inf)
            if rates[index] + step >= demand.rate_limit:
                step = demand.rate_limit - rates[index]
                stopped.append(index)
            rates[index] += step
            for key, amount in demand.uses.items():
                left[key] -= amount * step
        for resource in share:
            if left[resource] <= floor[resource]:
                stopped += users[resource]
        for index in stopped:
            rising.pop(index, None)
    return rates
