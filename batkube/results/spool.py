"""Rows of results that are kept in a file until the end, and not in memory."""

import pickle
import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

Kept = TypeVar("Kept")
_ABSENT = -1


class Spool(Generic[Kept]):
    """Objects by number. Their file is a temporary one in ``folder``, without a name."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._places = array("q")

    def keep(self, number: int, what: Kept) -> None:
        """Write the object after all others."""
        self._places.extend([_ABSENT] * (number + 1 - len(self._places)))
        self._file.seek(0, 2)
        self._places[number] = self._file.tell()
        pickle.dump(what, self._file, pickle.HIGHEST_PROTOCOL)

    def get(self, number: int) -> Kept | None:
        """Return the object with a number; None if there is none."""
        if number >= len(self._places) or self._places[number] == _ABSENT:
            return None
        self._file.seek(self._places[number])
        found: Kept = pickle.load(self._file)
        return found

    def __iter__(self) -> Iterator[Kept]:
        """Yield all objects, in order of their numbers."""
        for number in range(len(self._places)):
            found = self.get(number)
            if found is not None:
                yield found

    def close(self) -> None:
        """Close the file, which deletes it."""
        self._file.close()
