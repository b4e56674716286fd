"""Room for pods that wait: what is free on each node, and how pods with certain requests and rules would fit in.

Pods that ask for the same under the same rules are one shape, and are looked at together. A change of a node is looked
at once a date, when all that happened at that date is known, and only for the shapes for which it makes a difference.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Mapping
from itertools import count

from batkube.results.wait_constraints import UNCONSTRAINED, Constraints, NodeFacts, refusing
from batkube.results.wait_line import FORBIDDEN, FRAGMENTATION, FREE, GANG, NO_CAPACITY, STATES, Line
from batkube.results.wait_words import OF_THE_POD_ALONE

Requests = tuple[tuple[str, int], ...]
"""Amounts by resource, those above zero, in order of the resources' names. Any whole units, the same as the nodes'."""

_NUMBER = {plugin: FORBIDDEN + index for index, plugin in enumerate(OF_THE_POD_ALONE)}
_FEW = 8
"""The number of shapes up to which it is not worth looking for those that a change concerns."""
_IDLE = 64
"""The number of shapes without pods that are kept up to date, in case such pods come again."""
_NOTHING: dict[str, int] = {}
_ONE = (1, FREE)


def requests(amounts: Mapping[str, int]) -> Requests:
    """Return the requests of a pod in the form that is compared."""
    return tuple(sorted((resource, amount) for resource, amount in amounts.items() if amount > 0))


class _Node:
    __slots__ = ("allocatable", "facts", "free", "pods", "taken", "up")

    def __init__(self, facts: NodeFacts, allocatable: Mapping[str, int], up: bool) -> None:
        self.facts = facts
        self.allocatable = dict(allocatable)
        self.up = up
        self.taken: dict[str, int] = {}
        self.free = dict(allocatable)
        self.pods = 0

    def offer(self, exclusive: bool) -> dict[str, int]:
        """Return what it has for one pod more."""
        return self.free if self.up and not (exclusive and self.pods) else _NOTHING


class Shape:
    """Pods with the same requests and the same rules."""

    __slots__ = ("at", "constraints", "counting", "forbidden", "lines", "number", "requests", "rooms")

    def __init__(self, number: int, requests: Requests, constraints: Constraints) -> None:
        self.number = number
        self.requests = requests
        self.constraints = constraints
        self.lines: dict[int, Line] = {}
        self.counting = False
        """True if it matters how many of the pods a node has room for."""
        self.at: dict[str, tuple[int, int]] = {}
        """The nodes with room, with their ``part``."""
        self.rooms = 0
        """The pods for which there is room where they may go."""
        self.forbidden = [0] * STATES
        """The nodes with room where they may not go, by state."""

    def state(self, need: int, total: Mapping[str, int]) -> int:
        """Return the state of pods of which ``need`` have to be placed together. ``total``: free on all nodes."""
        if self.rooms >= need:
            return FREE
        for resource, amount in self.requests:
            if total.get(resource, 0) < amount:
                return NO_CAPACITY
        if self.rooms:
            return GANG
        most = max(self.forbidden)
        return self.forbidden.index(most) if most else FRAGMENTATION

    def look(self, name: str, offer: Mapping[str, int], facts: NodeFacts, exclusive: bool) -> bool:
        """Bring the node's part up to date; tell whether that may have changed the state."""
        before, part = self.at.get(name), self.part(offer, facts, exclusive)
        if part == before:
            return False
        rooms = self.rooms
        if before is not None:
            self._count(before, -1)
        if part is None:
            del self.at[name]
        else:
            self.at[name] = part
            self._count(part, 1)
        return self.counting or not rooms or not self.rooms

    def part(self, offer: Mapping[str, int], facts: NodeFacts, exclusive: bool) -> tuple[int, int] | None:
        """Return for how many pods a node has room, and the state if a rule keeps them away, else FREE.

        None if it has no room.
        """
        for resource, amount in self.requests:
            if offer.get(resource, 0) < amount:
                return None
        if not offer:
            return None
        free = self.constraints is UNCONSTRAINED and not facts.taints and not facts.unschedulable
        state = FREE
        if not free and (plugin := refusing(self.constraints, facts)) is not None:
            state = _NUMBER[plugin]
        if exclusive or not self.counting:
            return _ONE if state == FREE else (1, state)
        return min((offer[resource] // amount for resource, amount in self.requests), default=1), state

    def _count(self, part: tuple[int, int], sign: int) -> None:
        room, state = part
        if state == FREE:
            self.rooms += sign * room
        else:
            self.forbidden[state] += sign


class Room:
    """The nodes, the pods on them, and the shapes of the pods that wait. ``exclusive``: a node takes one pod only."""

    def __init__(self, *, exclusive: bool) -> None:
        self.exclusive = exclusive
        self.total: dict[str, int] = {}
        """The room on all nodes that are up, as of the last date that was closed."""
        self.freed: dict[str, int] = {}
        """The last date at which each node got more room, or its rules changed."""
        self.changes = 0
        """The number of changes since the last date was closed."""
        self.last_change = -1
        """The last date before that at which something changed."""
        self._nodes: dict[str, _Node] = {}
        self._open: dict[str, None] = {}
        """The nodes that have anything left."""
        self._where: dict[str, tuple[str, Requests]] = {}
        self._dirty: dict[str, tuple[dict[str, int], NodeFacts]] = {}
        """The earlier offer of the nodes that changed at this date, and their facts."""
        self._before: dict[str, tuple[dict[str, int], NodeFacts]] = {}
        """The same for the date that was closed last."""
        self._remade: dict[str, None] = {}
        """The nodes among them that other pods may go to now, or that come and go."""
        self._shapes: dict[int, Shape] = {}
        self._by_need: dict[tuple[Requests, Constraints], Shape] = {}
        self._sorted: dict[str, list[tuple[int, int]]] = {}
        """The shapes by the amount that they ask for, for each resource: amount, number."""
        self._counting: dict[int, Shape] = {}
        self._idle: dict[int, Shape] = {}
        self._numbers = count()

    # Changes

    def set_node(
        self,
        now: int,
        name: str,
        *,
        up: bool | None = None,
        facts: NodeFacts | None = None,
        allocatable: Mapping[str, int] | None = None,
    ) -> None:
        """Add a node, or change what is given of it."""
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = _Node(facts or NodeFacts(name), allocatable or {}, up is not False)
            self._dirty.setdefault(name, ({}, node.facts))
        else:
            self._touch(name, node)
            node.up = node.up if up is None else up
            node.facts = facts or node.facts
            if allocatable is not None:
                node.allocatable = dict(allocatable)
                node.free = {key: value - node.taken.get(key, 0) for key, value in allocatable.items()}
        self._remade[name] = None
        self.freed[name] = now
        self.changes += 1

    def take(self, pod: str, name: str, wanted: Requests) -> None:
        """Let the pod hold its place."""
        node = self._nodes.get(name)
        if node is None or pod in self._where:
            return
        self._touch(name, node)
        self._where[pod] = (name, wanted)
        node.pods += 1
        for resource, amount in wanted:
            node.taken[resource] = node.taken.get(resource, 0) + amount
            if resource in node.free:
                node.free[resource] -= amount
        self.changes += 1

    def release(self, now: int, pod: str) -> None:
        """Free the pod's place, if it has one."""
        held = self._where.pop(pod, None)
        if held is None:
            return
        name, wanted = held
        node = self._nodes[name]
        self._touch(name, node)
        node.pods -= 1
        for resource, amount in wanted:
            node.taken[resource] -= amount
            if resource in node.free:
                node.free[resource] += amount
        self.freed[name] = now
        self.changes += 1

    def _touch(self, name: str, node: _Node) -> None:
        if name not in self._dirty:
            self._dirty[name] = (dict(node.offer(self.exclusive)), node.facts)

    # Shapes

    def line(self, now: int, wanted: Requests, constraints: Constraints, need: int) -> Line:
        """Return the line for such pods. All changes of the date must have been taken in by ``close``."""
        key = (wanted, constraints)
        shape = self._by_need.get(key)
        if shape is None:
            shape = self._by_need[key] = Shape(next(self._numbers), wanted, constraints)
            self._shapes[shape.number] = shape
            for resource, amount in wanted:
                insort(self._sorted.setdefault(resource, []), (amount, shape.number))
            self._look_everywhere(shape)
        self._idle.pop(shape.number, None)
        if need > 1 and not shape.counting:
            shape.counting = True
            self._counting[shape.number] = shape
            self._look_everywhere(shape)
        line = shape.lines.get(need)
        if line is None:
            state = shape.state(need, self.total)
            free_since = -1 if self._had_room(shape, need) else now
            line = shape.lines[need] = Line(shape, need, now, state, free_since)
        line.pods += 1
        return line

    def leave(self, line: Line) -> None:
        """Note that a pod of the line waits there no more."""
        line.pods -= 1
        if line.pods:
            return
        shape = line.shape
        del shape.lines[line.need]
        if not shape.lines:
            self._idle[shape.number] = shape
            if len(self._idle) > _IDLE:
                self._forget(next(iter(self._idle.values())))

    def _had_room(self, shape: Shape, need: int) -> bool:
        """Tell whether there was room for so many before the date that was closed last."""
        rooms = shape.rooms
        for name, (offer, facts) in self._before.items():
            for part, sign in ((shape.at.get(name), -1), (shape.part(offer, facts, self.exclusive), 1)):
                if part is not None and part[1] == FREE:
                    rooms += sign * part[0]
        return rooms >= need

    def _forget(self, shape: Shape) -> None:
        del self._idle[shape.number], self._shapes[shape.number]
        del self._by_need[shape.requests, shape.constraints]
        self._counting.pop(shape.number, None)
        for resource, amount in shape.requests:
            amounts = self._sorted[resource]
            del amounts[bisect_left(amounts, (amount, shape.number))]

    def _look_everywhere(self, shape: Shape) -> None:
        for name in self._open:
            node = self._nodes[name]
            shape.look(name, node.offer(self.exclusive), node.facts, self.exclusive)

    def close(self, now: int) -> list[Line]:
        """Take in what has changed at this date; return the lines that are concerned, in order."""
        if self.changes:
            self.last_change, self.changes = now, 0
        self._before = {}
        if not self._dirty:
            return []
        concerned: dict[int, Shape] = {}
        few = len(self._shapes) <= _FEW
        total = self.total
        before_total = dict(total)
        for name, (before, _) in self._dirty.items():
            node = self._nodes[name]
            after = node.offer(self.exclusive)
            if before == after and name not in self._remade:
                continue
            has_room = False
            for resource, amount in before.items():
                if amount > 0:
                    total[resource] = total.get(resource, 0) - amount
            for resource, amount in after.items():
                if amount > 0:
                    has_room = True
                    total[resource] = total.get(resource, 0) + amount
            if has_room:
                self._open[name] = None
            else:
                self._open.pop(name, None)
            all_of_them = few or name in self._remade
            for shape in self._shapes.values() if all_of_them else self._between(before, after):
                if shape.look(name, after, node.facts, self.exclusive):
                    concerned[shape.number] = shape
        self._before, self._dirty = self._dirty, {}
        self._remade.clear()
        for shape in self._between(before_total, total, by_node=False):
            concerned[shape.number] = shape
        if not concerned:
            return []
        return [line for number in sorted(concerned) for line in concerned[number].lines.values()]

    def _between(self, before: Mapping[str, int], after: Mapping[str, int], by_node: bool = True) -> Iterable[Shape]:
        """Yield the shapes for which it matters that ``before`` became ``after``, some of them perhaps twice.

        Those are the ones that ask for more than the one and not more than the other, and those that count their rooms.
        """
        if by_node:
            yield from self._counting.values()
        for resource, amounts in self._sorted.items():
            low, high = before.get(resource, 0), after.get(resource, 0)
            if low != high:
                if low > high:
                    low, high = high, low
                for place in range(bisect_right(amounts, (low, 1 << 62)), bisect_right(amounts, (high, 1 << 62))):
                    yield self._shapes[amounts[place][1]]
