"""Compares two sides: were the inputs the same, what changed, for whom, and can it be told from chance?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import nlargest, nsmallest

from batkube.comparison.changes import (
    Comparison,
    EndChange,
    FigureChange,
    GroupChange,
    Over,
    PairOfRuns,
    PodChange,
    PodMove,
    judged,
    most_changed,
)
from batkube.comparison.decisions import first_parting
from batkube.comparison.facts import JobFacts, PodFacts, RecordedRun, common
from batkube.comparison.figure_names import GROUPS, MEASURES, NAMES, better
from batkube.comparison.inputs import input_differences
from batkube.comparison.longest_waits import longest_waits
from batkube.comparison.sides import Side, pairs
from batkube.comparison.statistics import (
    FEWEST,
    Interval,
    difference_interval,
    mean,
    mean_interval,
    serial_interval,
)
from batkube.comparison.words import conclusion
from batkube.results.comparison import Fingerprint, file_sha256, first_difference

SHOWN_PODS = 10
SHOWN_ENDS = 10
SHOWN_MOVES = 5
DIGITS = 6


@dataclass
class _Gathered:
    """The common parts of the pairs of runs, collected pair by pair."""

    differences: dict[str, list[float]] = field(default_factory=lambda: {short: [] for short in MEASURES.values()})
    """Of the jobs that ran on both sides: right - left, in order of runs and of submissions."""
    groups: dict[tuple[str, str], list[tuple[float, float]]] = field(default_factory=dict)
    """The waits of these jobs on both sides, by group."""
    pods: list[PodChange] = field(default_factory=list)
    changed_pods: int = 0
    ends: list[EndChange] = field(default_factory=list)
    changed_ends: int = 0


def compare_sides(left: Side, right: Side, *, shown_pods: int = SHOWN_PODS) -> Comparison:
    """Compare. Raises ResultsError for files that cannot be used."""
    together = pairs(left, right)
    gathered = _Gathered()
    compared = [_pair(name, ours, theirs, gathered, shown_pods) for name, ours, theirs in together]
    only_left = [name for name in left.runs if name not in {name for name, _, _ in together} and len(left.runs) > 1]
    only_right = [name for name in right.runs if name not in {name for name, _, _ in together} and len(right.runs) > 1]
    same = bool(compared) and all(pair.same_bytes for pair in compared) and not (only_left or only_right)
    figures = _figures(left, right, gathered)
    found = Comparison(
        left=left.name,
        right=right.name,
        same=same,
        conclusion=[],
        pairs=compared,
        only_left=only_left,
        only_right=only_right,
        figures=figures,
        groups=list(_groups(gathered)),
        pods=most_changed(gathered.pods, shown_pods),
        changed_pods=gathered.changed_pods,
        ends=gathered.ends[:SHOWN_ENDS],
        changed_ends=gathered.changed_ends,
    )
    return found.model_copy(update={"conclusion": conclusion(found, len(left.runs), len(right.runs))})


def _pair(name: str, left: RecordedRun, right: RecordedRun, gathered: _Gathered, shown: int) -> PairOfRuns:
    if left.is_file or right.is_file:
        same = file_sha256(left.jobs_csv) == file_sha256(right.jobs_csv)
    else:
        same = Fingerprint.of(left.path) == Fingerprint.of(right.path)
    unequal, moves, moved = 0, list[PodMove](), 0
    if not same:
        moves, moved = _moves(left.pods, right.pods)
        unequal = _gather_jobs(name, left.jobs, right.jobs, gathered)
        _gather_pods(name, left, right, gathered, shown)
    else:
        _gather_same(left.jobs, gathered)
    for run in (left, right):
        run.forget()
    whole = not (left.is_file or right.is_file)
    return PairOfRuns(
        name=name,
        left=str(left.path),
        right=str(right.path),
        same_bytes=same,
        inputs=input_differences(left.run, right.run) if left.run and right.run else [],
        parting=first_parting(left.path, right.path) if whole and not same else None,
        difference=first_difference(left.path, right.path) if whole and not same else None,
        unequal_jobs=unequal,
        moves=moves,
        moved_pods=moved,
    )


def _gather_same(jobs: dict[str, JobFacts], gathered: _Gathered) -> None:
    for job in jobs.values():
        if job.measures is not None:
            for differences in gathered.differences.values():
                differences.append(0.0)
            _gather_groups(job, job.measures["wait"], job.measures["wait"], gathered)


def _gather_jobs(run: str, left: dict[str, JobFacts], right: dict[str, JobFacts], gathered: _Gathered) -> int:
    """Take in the jobs of a pair of runs; the number of those that only one has."""
    shared = common(left, right)
    for name in shared:
        ours, theirs = left[name], right[name]
        if ours.state != theirs.state:
            gathered.changed_ends += 1
            gathered.ends.append(EndChange(run=run, job=name, left=ours.state, right=theirs.state))
        if ours.measures is not None and theirs.measures is not None:
            for short, differences in gathered.differences.items():
                differences.append(theirs.measures[short] - ours.measures[short])
            _gather_groups(ours, ours.measures["wait"], theirs.measures["wait"], gathered)
    for name in (name for name in left if name not in right):
        gathered.changed_ends += 1
        gathered.ends.append(EndChange(run=run, job=name, left=left[name].state, right=None))
    for name in (name for name in right if name not in left):
        gathered.changed_ends += 1
        gathered.ends.append(EndChange(run=run, job=name, left=None, right=right[name].state))
    del gathered.ends[SHOWN_ENDS:]
    return len(left) + len(right) - 2 * len(shared)


def _gather_groups(job: JobFacts, ours: float, theirs: float, gathered: _Gathered) -> None:
    for kind, name in job.groups.items():
        gathered.groups.setdefault((kind, name), []).append((ours, theirs))


def _gather_pods(run: str, left: RecordedRun, right: RecordedRun, gathered: _Gathered, shown: int) -> None:
    ours, theirs = left.pods, right.pods
    changed = [name for name in common(ours, theirs) if round(theirs[name].wait - ours[name].wait, DIGITS)]
    gathered.changed_pods += len(changed)
    most = nlargest(shown, changed, key=lambda pod: (abs(theirs[pod].wait - ours[pod].wait), pod))
    before, after = (longest_waits(run, [run.pods[name] for name in most]) for run in (left, right))
    for name in most:
        a, b = ours[name], theirs[name]
        gathered.pods.append(
            PodChange(
                run=run,
                pod=name,
                job=a.job,
                user=a.user,
                queue=a.queue,
                priority=a.priority,
                left=a.wait,
                right=b.wait,
                change=round(b.wait - a.wait, DIGITS),
                left_reason=a.reason,
                right_reason=b.reason,
                left_longest=before.get(name),
                right_longest=after.get(name),
                left_said=a.said,
                right_said=b.said,
            )
        )


def _moves(left: dict[str, PodFacts], right: dict[str, PodFacts]) -> tuple[list[PodMove], int]:
    """Return the first pods that had another node or stopped waiting at another date, and how many did."""

    def date(pod: PodFacts) -> float:
        return round(pod.created + pod.wait, DIGITS)

    moved = [
        PodMove(pod=name, left_node=a.node, right_node=b.node, left=date(a), right=date(b))
        for name, a, b in ((name, left[name], right[name]) for name in common(left, right))
        if a.node != b.node or date(a) != date(b)
    ]
    return nsmallest(SHOWN_MOVES, moved, key=lambda move: min(move.left, move.right)), len(moved)


def _figures(left: Side, right: Side, gathered: _Gathered) -> list[FigureChange]:
    alone = left.alone is not None and right.alone is not None
    together = pairs(left, right)
    found = []
    for name in NAMES:
        both = [(a.values[name], b.values[name]) for _, a, b in together]
        complete = [(a, b) for a, b in both if a is not None and b is not None]
        if together and (complete or not alone):
            ours, theirs = [a for a, _ in complete], [b for _, b in complete]
            interval, over = _interval(name, [b - a for a, b in complete], gathered)
        else:  # nothing goes in pairs, or only one side has this figure
            ours, theirs = (
                [value for run in side.runs.values() if (value := run.values[name]) is not None]
                for side in (left, right)
            )
            interval, over = (difference_interval(ours, theirs) if ours and theirs else None), "runs"
        if ours or theirs:
            found.append(_figure(name, ours, theirs, interval, over, alone))
    return found


def _figure(
    name: str, ours: Sequence[float], theirs: Sequence[float], interval: Interval | None, over: Over, alone: bool
) -> FigureChange:
    a, b = (round(mean(values), DIGITS) if values else None for values in (ours, theirs))
    change = round(b - a, DIGITS) if a is not None and b is not None else None
    bounds = _bounds(interval)
    return FigureChange(
        name=name,
        left=a,
        right=b,
        change=change,
        relative=round(change / abs(a), DIGITS) if change is not None and a else None,
        low=bounds[0] if bounds else None,
        high=bounds[1] if bounds else None,
        over=over if bounds else "",
        verdict=judged(better(name), change, bounds, exact=alone and not over),
    )


def _bounds(interval: Interval | None) -> tuple[float, float] | None:
    return (round(interval.low, DIGITS), round(interval.high, DIGITS)) if interval else None


def _interval(name: str, differences: Sequence[float], gathered: _Gathered) -> tuple[Interval | None, Over]:
    """Return the interval of a figure's change: over runs where there are enough, else that of a mean over jobs.

    What it would be over is told even where there is too little for an interval; empty for nothing.
    """
    if len(differences) >= FEWEST:
        return mean_interval(differences), "runs"
    statistic, _, short = name.partition("_")
    if statistic == "mean" and short in gathered.differences:
        return serial_interval(gathered.differences[short]), "jobs"
    return None, ""


def _groups(gathered: _Gathered) -> Iterator[GroupChange]:
    for by in GROUPS:
        members = {name: waits for (kind, name), waits in gathered.groups.items() if kind == by}
        if len(members) < 2:  # it would say what the figures of all jobs say
            continue
        for name, waits in sorted(members.items(), key=lambda item: _natural(item[0])):
            ours, theirs = mean([a for a, _ in waits]), mean([b for _, b in waits])
            change = round(theirs - ours, DIGITS)
            interval = serial_interval([b - a for a, b in waits])
            bounds = _bounds(interval)
            yield GroupChange(
                by=by,
                name=name,
                jobs=len(waits),
                left=round(ours, DIGITS),
                right=round(theirs, DIGITS),
                change=change,
                relative=round(change / ours, DIGITS) if ours else None,
                low=bounds[0] if bounds else None,
                high=bounds[1] if bounds else None,
                verdict=judged("less", change, bounds, exact=False),
            )


def _natural(name: str) -> tuple[float, str]:
    head = name.split("-")[0] if name[:1].isdigit() else name
    try:
        return float(head), name
    except ValueError:
        return float("inf"), name
