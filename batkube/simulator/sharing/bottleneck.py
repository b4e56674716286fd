"""The sharing of hosts and links by tasks: SimGrid's "fair bottleneck" (``fair_bottleneck.cpp``).

The rates are found in rounds. Each resource offers each of its users an equal part of what it has left. Each task rises
by the least that it is offered, and stops rising at its own limit. A resource with nothing left holds its users where
they are.

The rule is SimGrid's to the letter, even where it does not share ideally. A task with two executors on a host counts as
two users of it. A task that has stopped rising is still charged, in each later round, what its last step took; so
others may get less than a fair part. A link that each flow has for itself (FATPIPE) is charged the least step of its
users, so that together with other limits a flow may get more than its bandwidth.
"""

import math
from collections.abc import Sequence

PRECISION = 1e-5
"""SimGrid's ``maxmin/precision``, in flops or bytes per second: a resource with less left has nothing left."""
MOST_ROUNDS = 10_000
"""The most rounds: far more than any sum of doubles needs. SimGrid would go on for ever."""


class Shared:
    """A resource that tasks share: the cores of a host, or a link."""

    __slots__ = ("capacity", "fatpipe")

    def __init__(self, capacity: float, *, fatpipe: bool = False) -> None:
        self.capacity = capacity
        """Flops or bytes per second."""
        self.fatpipe = fatpipe


Uses = Sequence[tuple[Shared, float]]
"""The flops or bytes on each resource. A task with several executors on a host has an entry for each."""


class _Level:
    """A resource while the rates are being found."""

    __slots__ = ("capacity", "fatpipe", "left", "offer", "rising", "users")

    def __init__(self, resource: Shared) -> None:
        self.capacity = resource.capacity
        self.fatpipe = resource.fatpipe
        self.left = resource.capacity
        self.offer = 0.0
        self.users: list[tuple[int, float]] = []
        """The users as task and amount, the newest first."""
        self.rising = 0
        """The number of users that still rise."""

    def charge(self, steps: Sequence[float]) -> None:
        """Subtract what this round has used up."""
        left = self.left
        if self.fatpipe:
            least = min(self.offer, min(amount * steps[index] for index, amount in self.users))
            left -= least
            if left < PRECISION:
                left = 0.0
        else:
            for index, amount in self.users:
                left -= amount * steps[index]
                if left < PRECISION:
                    left = 0.0
        self.left = left


def rate_alone(uses: Uses, limit: float) -> float:
    """Return the rate of a task that shares with no other."""
    if len(uses) == 1:
        resource, amount = uses[0]
        return min(limit, resource.capacity / amount)
    load: dict[Shared, float] = {}
    for resource, amount in uses:
        load[resource] = load.get(resource, 0.0) + amount
    return min(limit, min((resource.capacity / amount for resource, amount in load.items()), default=math.inf))


def fair_rates(tasks: Sequence[tuple[Uses, float]]) -> list[float]:
    """Return the rate of each task when they share what they use.

    A task is what it uses (at least one resource, and more than 0 of it) and its own limit. The oldest task comes
    first, which matters for rounding only. A rate is in parts of the whole task per second.
    """
    if len(tasks) == 1:
        return [rate_alone(*tasks[0])]
    levels, offers = _levels(tasks)
    rates = [0.0] * len(tasks)
    steps = [0.0] * len(tasks)
    rising = dict.fromkeys(range(len(tasks)))
    for _ in range(MOST_ROUNDS):
        if not rising:
            break
        levels = [level for level in levels if level.rising]
        for level in levels:
            level.offer = level.left if level.fatpipe else level.left / level.rising
        stopped = []
        for index in rising:
            limit = tasks[index][1]
            step = min([level.offer / amount for level, amount in offers[index]])
            if limit - rates[index] < step:
                step = limit - rates[index]
            steps[index] = step
            rates[index] += step
            if rates[index] == limit:
                stopped.append(index)
        _stop(stopped, rising, offers)
        for level in levels:
            level.charge(steps)
        for level in levels:
            if level.left <= 0.0:
                _stop([index for index, _ in level.users], rising, offers)
    return rates


def _stop(stopped: Sequence[int], rising: dict[int, None], offers: Sequence[list[tuple[_Level, float]]]) -> None:
    for index in stopped:
        if index in rising:
            del rising[index]
            for level, _ in offers[index]:
                level.rising -= 1


def _levels(tasks: Sequence[tuple[Uses, float]]) -> tuple[list[_Level], list[list[tuple[_Level, float]]]]:
    """Return the resources that matter, and for each task the amounts that it takes from them."""
    users: dict[Shared, int] = {}
    for uses, _ in tasks:
        for resource, _ in uses:
            users[resource] = users.get(resource, 0) + 1
    levels: dict[Shared, _Level] = {}
    offers: list[list[tuple[_Level, float]]] = [[] for _ in tasks]
    for index in range(len(tasks) - 1, -1, -1):
        # Of the resources that a task does not share, only the tightest can ever hold it back.
        tightest: tuple[float, Shared | None, float] = (math.inf, None, 0.0)
        for resource, amount in reversed(tasks[index][0]):
            if users[resource] == 1:
                if resource.capacity / amount < tightest[0]:
                    tightest = (resource.capacity / amount, resource, amount)
                continue
            _use(levels, offers, index, resource, amount)
        if tightest[1] is not None:
            _use(levels, offers, index, tightest[1], tightest[2])
    return list(levels.values()), offers


def _use(
    levels: dict[Shared, _Level],
    offers: list[list[tuple[_Level, float]]],
    index: int,
    resource: Shared,
    amount: float,
) -> None:
    level = levels.get(resource)
    if level is None:
        level = levels[resource] = _Level(resource)
    level.users.append((index, amount))
    level.rising += 1
    offers[index].append((level, amount))
