"""The dates between which a pod waited longest without a break for the reason for which it waited most."""

from collections.abc import Sequence
from itertools import groupby

from pydantic import BaseModel

from batkube.comparison.facts import PodFacts, RecordedRun
from batkube.results.wait_log import Wait, waits_of


class LongestWait(BaseModel, frozen=True):
    """A part of a pod's wait, in simulated seconds since the simulation began."""

    start: float
    end: float
    plugin: str = ""
    """The plugin of kube-scheduler that kept it away, where that is the reason."""


def longest_waits(run: RecordedRun, pods: Sequence[PodFacts]) -> dict[str, LongestWait]:
    """Return the longest for each pod for which it is known. Raises ResultsError."""
    path = run.path / "waits.csv"
    if run.is_file or not pods or not path.is_file():
        return {}
    rows = waits_of(path, {pod.pod for pod in pods})
    found = {pod.pod: _longest(pod, rows[pod.pod]) for pod in pods}
    return {name: longest for name, longest in found.items() if longest is not None}


def _longest(pod: PodFacts, rows: Sequence[Wait]) -> LongestWait | None:
    own = (row for row in rows if pod.created <= row.start < pod.created + pod.wait)  # not of one that it replaced
    spans = [
        LongestWait(start=together[0].start, end=together[-1].end, plugin=plugin)
        for (reason, plugin), group in groupby(own, key=lambda row: (row.reason, row.plugin))
        if reason == pod.reason and (together := list(group))
    ]
    return max(spans, key=lambda span: span.end - span.start, default=None)
