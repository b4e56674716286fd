"""The order in which Batsim sorts: that of ``std::sort`` in the GNU C++ library, which may reorder equal items.

``std::sort`` is the introspective sort: quicksort by the median of three down to pieces of 16, then insertion. Equal
items among up to 16 keep their order. They also do here if the pivots are so bad that the library would use heapsort.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
PIECE = 16
"""The number of items that are left to insertion."""


def unstable_sort(items: Iterable[T], key: Callable[[T], Any]) -> list[T]:
    """Sort as ``std::sort`` does by comparing keys."""
    pairs = [(key(item), item) for item in items]
    stable = sorted(pairs, key=lambda pair: pair[0])
    if not _divide(pairs, 0, len(pairs), 2 * (len(pairs).bit_length() - 1)):
        pairs = stable
    # Insertion leaves equal items as they are.
    return [item for _, item in sorted(pairs, key=lambda pair: pair[0])]


def _divide(pairs: list[tuple[Any, T]], first: int, last: int, depth: int) -> bool:
    """Bring each piece to its place; tell whether ``depth`` was enough."""
    while last - first > PIECE:
        if depth == 0:
            return False
        depth -= 1
        _median_to_first(pairs, first, first + 1, first + (last - first) // 2, last - 1)
        cut = _partition(pairs, first + 1, last, pairs[first][0])
        if not _divide(pairs, cut, last, depth):
            return False
        last = cut
    return True


def _median_to_first(pairs: list[tuple[Any, T]], first: int, one: int, middle: int, end: int) -> None:
    # The choice among equal items decides the order: it differs from that of sorting the three.
    a, b, c = pairs[one][0], pairs[middle][0], pairs[end][0]
    below, above, other = (one, middle, b < c) if a < b else (middle, one, a < c)
    chosen = above if other else _middle(pairs, below, end)
    pairs[first], pairs[chosen] = pairs[chosen], pairs[first]


def _middle(pairs: list[tuple[Any, T]], below: int, end: int) -> int:
    """Return the greater of two, the first one if they are equal."""
    return end if pairs[below][0] < pairs[end][0] else below


def _partition(pairs: list[tuple[Any, T]], first: int, last: int, pivot: Any) -> int:
    """Swap items not below the pivot with later ones not above it; return the start of the second part."""
    while True:
        while pairs[first][0] < pivot:
            first += 1
        last -= 1
        while pivot < pairs[last][0]:
            last -= 1
        if first >= last:
            return first
        pairs[first], pairs[last] = pairs[last], pairs[first]
        first += 1
