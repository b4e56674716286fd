"""Sizes of values that nobody has seen yet, and where in a declared type a value is.

A size is that of the CEL function `size()`. Numbers are of 64 bits and do not overflow: they stay at the largest one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

LARGEST = (1 << 64) - 1


def plus(*numbers: int) -> int:
    return min(sum(numbers), LARGEST)


def times(one: int, other: int) -> int:
    return min(one * other, LARGEST)


def by_factor(number: int, factor: float) -> int:
    """Return the product, rounded up as a double is."""
    return min(math.ceil(float(number) * factor), LARGEST)


@dataclass(frozen=True, slots=True)
class Size:
    """The smallest and the largest size that a value may have."""

    least: int
    most: int

    def __add__(self, other: Size) -> Size:
        return Size(plus(self.least, other.least), plus(self.most, other.most))

    def __mul__(self, other: Size) -> Size:
        return Size(times(self.least, other.least), times(self.most, other.most))

    def __or__(self, other: Size) -> Size:
        """Return the size of a value that is one of the two."""
        return Size(min(self.least, other.least), max(self.most, other.most))


def exactly(number: int) -> Size:
    return Size(number, number)


UNKNOWN_SIZE = Size(0, LARGEST)
ONE = exactly(1)


@dataclass(frozen=True, slots=True)
class Extent:
    """The declared size of a value. `most` are the characters of a text, the items of a list, the entries of a map; 0
    for what has no size. `least_bytes` is the length of the shortest one as JSON.
    """

    most: int
    least_bytes: int = 0
    items: Extent | None = None  # of a list, or the values of a map
    keys: Extent | None = None
    fields: Mapping[str, Extent] = field(default_factory=dict)
    others: Extent | None = None  # of fields that have no declaration of their own

    def at(self, steps: list[str]) -> Size | None:
        """Return the size of what lies that way below; None if nothing does."""
        here: Extent | None = self
        for step in steps:
            if here is None:
                return None
            if step in ("@items", "@values"):
                here = here.items
            else:
                here = here.keys if step == "@keys" else here.fields.get(step, here.others)
        return None if here is None else Size(0, here.most)


class Path:
    """The way from a variable to a value: names of fields, `@items`, `@keys`, `@values`, `@indices`.

    It grows as a slice of Go does: where there is room, two paths that grow from the same one write into the same
    place, and the later one changes the earlier. So does the real server's estimate.
    """

    __slots__ = ("_length", "_room", "_steps")

    def __init__(self, steps: list[str], length: int, room: int) -> None:
        self._steps, self._length, self._room = steps, length, room

    @classmethod
    def of(cls, name: str) -> Path:
        return cls([name], 1, 1)

    def grown(self, step: str) -> Path:
        """Return the path that goes one step further."""
        if self._length < self._room:
            self._steps[self._length : self._length + 1] = [step]
            return Path(self._steps, self._length + 1, self._room)
        return Path([*self._steps, step], self._length + 1, max(1, 2 * self._room))

    def separate(self) -> Path:
        """Return a copy that no other path changes any more."""
        return Path(self.steps(), self._length, self._length)

    def steps(self) -> list[str]:
        return self._steps[: self._length]


NOWHERE = Path([], 0, 0)
