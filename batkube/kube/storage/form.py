"""The form in which versions are sent: bytes that are made once and kept with the version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .store import Version

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ListMeta:
    """The metadata of a list."""

    revision: int
    continue_token: str = ""
    remaining: int | None = None

    def json(self) -> JSON:
        meta: JSON = {"resourceVersion": str(self.revision)}
        if self.continue_token:
            meta["continue"] = self.continue_token
        if self.remaining is not None:
            meta["remainingItemCount"] = self.remaining
        return meta


class Form(Protocol):
    """The form in which versions of one resource are sent."""

    def one(self, version: Version) -> bytes: ...

    def many(self, versions: Sequence[Version], meta: ListMeta) -> bytes: ...

    def event(self, kind: str, version: Version, first: bool) -> bytes:
        """Return a whole watch event with its newline; `first` is True for the first event of a stream."""
        ...

    def bookmark(self, revision: int, marked: bool, first: bool) -> bytes:
        """Return a BOOKMARK event; `marked` is True for the one that ends the initial events."""
        ...

    def error(self, status: JSON) -> bytes:
        """Return an ERROR event, the last of a stream."""
        ...
