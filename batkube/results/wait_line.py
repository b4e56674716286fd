"""Lines of pods for which the same is true while they wait, and how much of its time each spent in which state."""

from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from batkube.results.wait_words import OF_THE_POD_ALONE

if TYPE_CHECKING:
    from batkube.results.wait_room import Shape

NO_CAPACITY, FRAGMENTATION, GANG, FREE = range(4)
"""The states of a line: see ``Shape.state``."""
FORBIDDEN = 4
"""The state in which the first of the plugins ``OF_THE_POD_ALONE`` forbids; the others follow."""
STATES = FORBIDDEN + len(OF_THE_POD_ALONE)


class Line:
    """The single pods of a shape, or its gangs that still need so many nodes: for all of them the same is true.

    ``spent`` counts the time in each state, so that any pod has its part of it by a subtraction. When the line changed
    its state is kept, too, as long as it is not forgotten.
    """

    __slots__ = (
        "_at", "_dates", "_held", "_snapshot", "_states", "before", "free_since", "need", "pods", "shape", "since",
        "spent", "state", "tried",
    )  # fmt: skip

    def __init__(self, shape: "Shape", need: int, now: int, state: int, free_since: int) -> None:
        self.shape = shape
        self.need = need
        self.state = state
        self.since = now
        self.free_since = free_since
        """The date since when it has been free, if it is."""
        self.spent = [0] * STATES
        self.before = [0] * STATES
        """The same, up to the first date that is kept."""
        self.pods = 0
        self.tried: dict[object, None] = {}
        """The pods that were tried while there was room, as long as there is."""
        self._dates = array("q", (now,))
        """The dates of the changes that are kept, each later than the one before, and the states from then on."""
        self._states = bytearray((state,))
        self._held: dict[object, int] = {}
        """The dates from which changes must be kept, in order, by who needs them."""
        self._at = -1
        self._snapshot: tuple[int, ...] = ()

    def at(self, now: int) -> tuple[int, ...]:
        """Return the time spent in each state until ``now``."""
        if self._at != now:
            spent = self.spent.copy()
            spent[self.state] += now - self.since
            self._at, self._snapshot = now, tuple(spent)
        return self._snapshot

    def turn(self, now: int, state: int, most: int) -> None:
        """Change to another state. Of the changes ``most`` are kept at least, and twice as many at most."""
        self.spent[self.state] += now - self.since
        self.since = self.free_since = now
        self.state = state
        self._at = -1
        if self._dates[-1] != now:
            self._dates.append(now)
            self._states.append(state)
        elif len(self._dates) > 1 and self._states[-2] == state:
            del self._dates[-1], self._states[-1]
        else:
            self._states[-1] = state
        if len(self._dates) > 2 * most:
            self._forget(len(self._dates) - most)

    def hold(self, who: object, now: int) -> None:
        """Keep all changes from now on, until ``let_go``; called again, what was before needs not be kept any more."""
        self._held.pop(who, None)
        self._held[who] = now

    def let_go(self, who: object) -> None:
        """Keep them no longer on behalf of one who asked."""
        self._held.pop(who, None)

    @property
    def kept_since(self) -> int:
        """The date from which all changes are kept."""
        return self._dates[0]

    def states(self, begin: int, end: int) -> tuple[list[int], bytearray]:
        """Return the states between two dates, which must be kept, and when each began; behind these the end."""
        first, behind = bisect_right(self._dates, begin), bisect_left(self._dates, end)
        return [begin, *self._dates[first:behind], end], self._states[first - 1 : behind]

    def _forget(self, changes: int) -> None:
        """Forget the first changes, but for those that are held."""
        dates, states, before = self._dates, self._states, self.before
        if self._held:
            changes = min(changes, bisect_right(dates, next(iter(self._held.values()))) - 1)
        if changes <= 0:
            return
        for index in range(changes):
            before[states[index]] += dates[index + 1] - dates[index]
        del dates[:changes], states[:changes]
