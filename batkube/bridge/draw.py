"""The random order of what a real cluster leaves open: the same for the same seed, another for another seed."""

import random
from collections.abc import Iterable
from typing import TypeVar

Thing = TypeVar("Thing")


class Draw:
    """Puts things into an order that have no order of their own.

    Seed 0 leaves them in the order in which they are given.
    """

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed) if seed else None

    @property
    def keeps_order(self) -> bool:
        """True if it leaves all things in the order in which they are given."""
        return self._random is None

    def order(self, things: Iterable[Thing]) -> list[Thing]:
        """Return them in the order drawn."""
        drawn = list(things)
        if self._random is not None:
            self._random.shuffle(drawn)
        return drawn

    def order_of_sending(self, things: Iterable[Thing]) -> list[Thing]:
        """Return the things in the order in which they arrive, if one client sends them in turn over two connections.

        Each may overtake the one before it.
        """
        sent = list(things)
        if self._random is None:
            return sent
        arrival = [index + 2 * self._random.random() for index in range(len(sent))]
        return [sent[index] for index in sorted(range(len(sent)), key=arrival.__getitem__)]
