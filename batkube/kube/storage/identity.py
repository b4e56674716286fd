"""The names, uids and times that the server gives to objects: all from the seed and the simulated clock.

A uid depends on the object and on how often its name was used before. It does not depend on the order of requests, so
that two runs that differ only in timing give the same uids.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from ..apimachinery.times import write_second

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # no vowels, no words: as k8s.io/apimachinery/pkg/util/rand
SUFFIX_LENGTH = 5
MAX_NAME_LENGTH = 63  # of a generated name
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}  # RFC 4122


class Clock:
    """The simulated time in the forms that objects carry. `now` returns Unix seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self._second = -1
        self._text = ""
        self._moment = -1.0
        self._precise = ""
        self._whole = -1
        self._prefix = ""

    def seconds(self, offset: int = 0) -> str:
        """Return the time as RFC 3339 in whole seconds, `offset` seconds from now."""
        second = int(self.now()) + offset
        if second != self._second:
            self._second = second
            self._text = f"{write_second(second)}Z"
        return self._text

    def micros(self) -> str:
        """Return the time as RFC 3339 with exactly six decimals."""
        moment = self.now()
        if moment != self._moment:
            whole, fraction = divmod(round(moment * 1_000_000), 1_000_000)
            if whole != self._whole:
                self._whole = whole
                self._prefix = f"{write_second(whole)}."
            self._moment = moment
            self._precise = f"{self._prefix}{fraction:06d}Z"
        return self._precise


class Identities:
    """The source of uids and generated names."""

    def __init__(self, seed: int) -> None:
        self._key = str(seed).encode()[:64]
        self._ended: dict[str, int] = {}  # how many objects of that name are gone
        self._generated: dict[str, int] = {}
        self._passing = 0

    def uid(self, storage: str, namespace: str, name: str) -> str:
        """Return the uid of the object of that name that exists now, or comes next."""
        path = f"{storage}/{namespace}/{name}"
        return self._uuid(f"{path}/{self._ended.get(path, 0)}")

    def passing_uid(self, storage: str, namespace: str, name: str) -> str:
        """Return the uid of an object that is never stored: that of a dry run."""
        self._passing += 1
        return self._uuid(f"{storage}/{namespace}/{name}?{self._passing}")

    def ended(self, storage: str, namespace: str, name: str) -> None:
        """Record that the object is gone: the next object of that name gets another uid."""
        path = f"{storage}/{namespace}/{name}"
        self._ended[path] = self._ended.get(path, 0) + 1

    def name(self, storage: str, namespace: str, prefix: str, taken: Callable[[str], bool]) -> str:
        """Return a name for an object that asked for one with `generateName`."""
        path = f"{storage}/{namespace}/{prefix}"
        while True:
            count = self._generated[path] = self._generated.get(path, 0) + 1
            name = prefix[: MAX_NAME_LENGTH - SUFFIX_LENGTH] + self._suffix(f"{path}#{count}")
            if not taken(name):
                return name

    def _suffix(self, text: str) -> str:
        number = int.from_bytes(self._digest(text), "big")
        letters = []
        for _ in range(SUFFIX_LENGTH):
            number, index = divmod(number, len(SUFFIX_LETTERS))
            letters.append(SUFFIX_LETTERS[index])
        return "".join(letters)

    def _uuid(self, text: str) -> str:
        digits = self._digest(text).hex()
        variant = _VARIANT[digits[16]]
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"  # version 4

    def _digest(self, text: str) -> bytes:
        return blake2b(text.encode(), digest_size=16, key=self._key).digest()
