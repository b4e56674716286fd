"""A pod's wait as it went on: for what, in which order, and between which dates."""

from collections.abc import Sequence
from dataclasses import dataclass

from batkube.results.wait_log import Wait

MOST_SPANS = 4
"""The changes of the reason up to which all are told one after another; of more, the sum of each reason."""
SLICES = 150
"""The parts into which a wait is cut to be drawn."""


@dataclass(frozen=True, slots=True)
class Span:
    """Time that a pod waited for one reason."""

    reason: str
    plugin: str
    seconds: float


def between(waits: Sequence[Wait], begin: float, end: float) -> list[Span]:
    """Return the reasons between two dates: in their order, or of many the sum of each, the longest first."""
    spans: list[Span] = []
    for wait in waits:
        seconds = _overlap(wait, begin, end)
        if seconds <= 0:
            continue
        last = spans[-1] if spans else None
        if last is not None and (last.reason, last.plugin) == (wait.reason, wait.plugin):
            seconds += spans.pop().seconds
        spans.append(Span(wait.reason, wait.plugin, seconds))
    if len(spans) <= MOST_SPANS:
        return spans
    sums: dict[tuple[str, str], float] = {}
    for span in spans:
        sums[span.reason, span.plugin] = sums.get((span.reason, span.plugin), 0.0) + span.seconds
    longest = sorted(sums.items(), key=lambda found: -found[1])
    return [Span(reason, plugin, seconds) for (reason, plugin), seconds in longest]


def drawn(waits: Sequence[Wait]) -> list[Span]:
    """Return the reasons in order of time, to be drawn: of short ones next to each other that which held longest."""
    if not waits:
        return []
    begin, end = waits[0].start, max(wait.end for wait in waits)
    width = (end - begin) / SLICES
    slices: list[dict[tuple[str, str], float]] = [{} for _ in range(SLICES)]
    for wait in waits:
        first = min(int((wait.start - begin) / width), SLICES - 1)
        last = min(int((wait.end - begin) / width), SLICES - 1)
        for number in range(first, last + 1):
            seconds = _overlap(wait, begin + number * width, begin + (number + 1) * width)
            part = slices[number]
            part[wait.reason, wait.plugin] = part.get((wait.reason, wait.plugin), 0.0) + seconds
    spans: list[Span] = []
    for part in slices:
        reason, plugin = max(part, key=lambda key: part[key])
        seconds = width
        if spans and (spans[-1].reason, spans[-1].plugin) == (reason, plugin):
            seconds += spans.pop().seconds
        spans.append(Span(reason, plugin, seconds))
    return spans


def _overlap(wait: Wait, begin: float, end: float) -> float:
    """Return the seconds between two dates; of reasons that were summed up, as if they had been spread evenly."""
    whole = wait.end - wait.start
    return (min(wait.end, end) - max(wait.start, begin)) * (wait.seconds / whole if whole > 0 else 0.0)
