"""Completion indexes of Jobs: sets of them as intervals, in the order and the words of a Job's status."""

from collections.abc import Iterable
from typing import Any

JSON = dict[str, Any]

INDEX = "batch.kubernetes.io/job-completion-index"
"""The annotation and the label of a pod with its index."""
FAILURES, IGNORED_FAILURES = (
    "batch.kubernetes.io/job-index-failure-count",
    "batch.kubernetes.io/job-index-ignored-failure-count",
)
"""The annotations of a pod with the failures of its index before it."""
MOST_FAILURES = 2**31 - 1


def index_of(pod: JSON) -> int | None:
    """Return the pod's completion index; None if it has none that is valid."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX)
    return _number(text)


def failures_of(pod: JSON) -> int:
    """Return how often the pod's index has failed before it."""
    return _count(pod, FAILURES)


def all_failures_of(pod: JSON) -> int:
    """Return the same with the failures that a policy ignores."""
    return _count(pod, FAILURES) + _count(pod, IGNORED_FAILURES)


def ignored_failures_of(pod: JSON) -> int:
    """Return how many failures of the pod's index a policy has ignored before it."""
    return _count(pod, IGNORED_FAILURES)


def _count(pod: JSON, annotation: str) -> int:
    count = _number((pod["metadata"].get("annotations") or {}).get(annotation))
    return count if count is not None and count <= MOST_FAILURES else 0


def _number(text: str | None) -> int | None:
    digits = text[1:] if text is not None and text[:1] == "+" else text
    return int(digits) if digits and digits.isascii() and digits.isdigit() else None


class Indexes:
    """A set of indexes. Its text has intervals: ``1,3-5,7``; two neighbours are written as two."""

    def __init__(self, intervals: Iterable[tuple[int, int]] = ()) -> None:
        self.intervals: list[tuple[int, int]] = []
        """First and last of each, in order, none touching another."""
        for first, last in sorted(intervals):
            if self.intervals and first <= self.intervals[-1][1] + 1:
                begin, end = self.intervals[-1]
                self.intervals[-1] = (begin, max(end, last))
            else:
                self.intervals.append((first, last))

    @classmethod
    def parse(cls, text: str, completions: int) -> "Indexes":
        """Return the indexes of a text, those below ``completions``; what cannot be read is passed over."""
        found = []
        for part in text.split(",") if text else ():
            begin, _, end = part.partition("-")
            first, last = _number(begin), _number(end or begin)
            if first is None or last is None:
                continue
            if first >= completions:
                break
            found.append((first, min(last, completions - 1)))
        return cls(found)

    def __len__(self) -> int:
        return sum(last - first + 1 for first, last in self.intervals)

    def __contains__(self, index: int) -> bool:
        return any(first <= index <= last for first, last in self.intervals)

    def __str__(self) -> str:
        parts = []
        for first, last in self.intervals:
            if last == first:
                parts.append(str(first))
            else:
                parts.append(f"{first},{last}" if last == first + 1 else f"{first}-{last}")
        return ",".join(parts)

    def with_more(self, indexes: Iterable[int]) -> "Indexes":
        """Return the set with these indexes, too."""
        more = [(index, index) for index in indexes]
        return Indexes([*self.intervals, *more]) if more else self

    def merged(self, other: "Indexes") -> "Indexes":
        """Return the union."""
        return Indexes([*self.intervals, *other.intervals])

    def first_missing(self, count: int, completions: int) -> list[int]:
        """Return the first ``count`` indexes below ``completions`` that are not in the set."""
        missing: list[int] = []
        candidate = 0
        for first, last in [*self.intervals, (completions, completions)]:
            end = min(first, completions)
            missing.extend(range(candidate, min(end, candidate + count - len(missing))))
            if len(missing) >= count:
                break
            candidate = max(candidate, last + 1)
        return missing

    def overlap(self, other: "Indexes") -> int:
        """Return how many indexes are in both sets."""
        return sum(
            max(0, min(last, end) - max(first, begin) + 1)
            for first, last in self.intervals
            for begin, end in other.intervals
        )
