"""The differences of two sides: figures, groups of jobs, pods, ends of jobs."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from batkube.comparison.decisions import Parting
from batkube.comparison.inputs import InputDifference
from batkube.comparison.longest_waits import LongestWait
from batkube.results.comparison import Difference

Verdict = Literal["same", "better", "worse", "other", "untold"]
"""Of the right side. ``other``: neither is better; ``untold``: it may be chance."""
Over = Literal["jobs", "runs", ""]


class FigureChange(BaseModel, frozen=True):
    """A figure on both sides; with several runs, its mean over them."""

    name: str
    left: float | None
    right: float | None
    change: float | None = None
    """right - left."""
    relative: float | None = None
    """The change over the left; None where that is 0."""
    low: float | None = None
    """The change lies between these with a confidence of 95 %."""
    high: float | None = None
    over: Over = ""
    """Of what the interval is: differences of jobs, or of runs."""
    verdict: Verdict


class GroupChange(BaseModel, frozen=True):
    """The mean wait of a group of jobs, over those that ran on both sides."""

    by: str
    """``user``, ``queue``, ``priority`` or ``size``."""
    name: str
    jobs: int
    left: float
    right: float
    change: float
    relative: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: Verdict


class PodChange(BaseModel, frozen=True):
    """A pod that waited longer or shorter: seconds, and the reasons for which it waited longest."""

    run: str = ""
    """The name of the run, where there are several."""
    pod: str
    job: str
    user: str = ""
    queue: str = ""
    priority: int = 0
    left: float
    right: float
    change: float
    left_reason: str = ""
    right_reason: str = ""
    left_longest: LongestWait | None = None
    """The time for which it did without a break."""
    right_longest: LongestWait | None = None
    left_said: str = ""
    """The last that its scheduler said of it."""
    right_said: str = ""


class EndChange(BaseModel, frozen=True):
    """A job that ended otherwise."""

    run: str = ""
    job: str
    left: str | None
    """Batsim's word for its end; None where it has not ended."""
    right: str | None


class PodMove(BaseModel, frozen=True):
    """A pod that had another node, or started at another date."""

    pod: str
    left_node: str
    """Empty for none."""
    right_node: str
    left: float
    """The date at which it stopped waiting."""
    right: float


class PairOfRuns(BaseModel, frozen=True):
    """Two runs that were compared with one another."""

    name: str
    left: str
    right: str
    same_bytes: bool
    inputs: list[InputDifference] = []
    parting: Parting | None = None
    """The first decision that is not the same."""
    difference: Difference | None = None
    """The first line that is not the same."""
    unequal_jobs: int = 0
    """The number of jobs that only one of the two has."""
    moves: list[PodMove] = []
    """The first pods with another node or date, in order of dates."""
    moved_pods: int = 0


class Comparison(BaseModel, frozen=True):
    """All that was found out about two sides; the right one is judged against the left one."""

    left: str
    right: str
    same: bool
    """True if all is the same, byte for byte."""
    conclusion: list[str]
    """The result in words, a sentence each."""
    pairs: list[PairOfRuns]
    only_left: list[str] = []
    """The names of runs without their like on the other side."""
    only_right: list[str] = []
    figures: list[FigureChange] = []
    groups: list[GroupChange] = []
    pods: list[PodChange] = []
    """The pods that changed most."""
    changed_pods: int = 0
    ends: list[EndChange] = []
    changed_ends: int = 0

    def figure(self, name: str) -> FigureChange:
        """Return the change of a figure. Raises KeyError."""
        for found in self.figures:
            if found.name == name:
                return found
        raise KeyError(name)


def judged(better: str, change: float | None, interval: tuple[float, float] | None, *, exact: bool) -> Verdict:
    """Return the verdict on a change. ``exact``: it needs no interval, the two runs are all there is."""
    if change is None:
        return "other"
    if change == 0:
        return "same"
    if interval is not None and not (interval[0] > 0 or interval[1] < 0):
        return "untold"
    if interval is None and not exact:
        return "untold"
    if not better:
        return "other"
    return "better" if (change < 0) == (better == "less") else "worse"


def most_changed(changes: Sequence[PodChange], most: int) -> list[PodChange]:
    """Return the pods that changed most, the worst first."""
    chosen = sorted(changes, key=lambda found: (-abs(found.change), found.run, found.pod))[:most]
    return sorted(chosen, key=lambda found: (-found.change, found.run, found.pod))
