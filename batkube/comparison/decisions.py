"""The first decision of the schedulers at which two runs part."""

import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from batkube.results.csv_rows import ResultsError

DECISIONS = ("pod_bound", "job_kill_asked", "job_rejected")
"""The events that follow from what a scheduler did: it gave a pod a node, deleted one, or left a job for ever."""
_MARKS = tuple(f'"event":"{name}"'.encode() for name in DECISIONS)


class Decision(BaseModel, frozen=True):
    """A decision of a scheduler."""

    time: float
    event: str
    what: dict[str, Any]
    """The pod, its node, and so on."""

    def __str__(self) -> str:
        of = ", ".join(f"{name} {value}" for name, value in self.what.items())
        return f"{self.time:,.3f} s: {self.event.replace('_', ' ')}: {of}"


class Parting(BaseModel, frozen=True):
    """The first decision that is not the same."""

    number: int
    """From 1: so many decisions but one are the same."""
    left: Decision | None
    """None where that run has no more decisions."""
    right: Decision | None


def first_parting(left: Path, right: Path) -> Parting | None:
    """Return where the decisions of two folders part; None if all are the same. Raises ResultsError."""
    ours, theirs = _decisions(left / "events.jsonl"), _decisions(right / "events.jsonl")
    for number, (a, b) in enumerate(zip_longest(ours, theirs), start=1):
        if a != b:
            return Parting(number=number, left=_read(a), right=_read(b))
    return None


def _decisions(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            for line in file:
                if any(mark in line for mark in _MARKS):
                    yield line
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None


def _read(line: bytes | None) -> Decision | None:
    if line is None:
        return None
    try:
        found = json.loads(line)
        return Decision(
            time=found.pop("time"), event=found.pop("event"), what={k: v for k, v in found.items() if v is not None}
        )
    except (ValueError, KeyError, AttributeError):  # a run that was killed may leave half a line
        return Decision(time=0.0, event="unreadable", what={"line": line.decode(errors="replace").strip()})
