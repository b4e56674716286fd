"""A comparison as sections with tables, which the terminal, Markdown and HTML show alike."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from batkube.comparison.changes import Comparison, FigureChange, GroupChange, PairOfRuns, PodChange
from batkube.comparison.longest_waits import LongestWait
from batkube.comparison.words import number, percent, signed

SHORTEST = 60
"""The characters of what a scheduler said that are shown."""


@dataclass(frozen=True)
class Section:
    """A heading, sentences, and a table."""

    title: str
    lines: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    numbers: frozenset[int] = frozenset()
    """The columns with numbers, which stand at the right."""


def sections(found: Comparison, *, all_figures: bool = True) -> Iterator[Section]:
    """Yield the sections that have something to say. ``all_figures``: those that are the same, too, but for
    zeros.
    """
    yield Section(f"{found.left} (A) and {found.right} (B)", [*found.conclusion])
    if inputs := _inputs(found):
        yield inputs
    figures = [
        change
        for change in found.figures
        if change.verdict != "same" or (all_figures and (change.left or change.right))
    ]
    if figures and not (found.same and not all_figures):
        yield Section(
            "Figures",
            columns=["figure", "A", "B", "change", "", "95 %", "B is"],
            rows=[_figure(change) for change in figures],
            numbers=frozenset({1, 2, 3, 4}),
        )
    if found.groups and not found.same:
        yield Section(
            "Who waits longer or shorter",
            ["Mean wait in seconds, over the jobs that ran on both sides."],
            ["jobs by", "", "jobs", "A", "B", "change", "", "95 %", "wins"],
            [_group(change) for change in found.groups],
            frozenset({2, 3, 4, 5, 6}),
        )
    if found.pods:
        yield Section(
            "Pods that changed most",
            [
                "Their wait in seconds, for what they waited longest, and between which dates without a break. "
                f"{found.changed_pods} pods wait otherwise."
            ],
            ["pod", "A", "B", "change", "reason in A", "reason in B"],
            [_pod(change) for change in found.pods],
            frozenset({1, 2, 3}),
        )
    if found.ends:
        yield Section(
            "Jobs that ended otherwise",
            columns=["job", "A", "B"],
            rows=[[_named(end.run, end.job), end.left or "absent", end.right or "absent"] for end in found.ends],
        )
    if partings := [pair for pair in found.pairs if pair.parting is not None]:
        yield Section(
            "First decision that is not the same",
            columns=["run", "number", "A", "B"] if len(found.pairs) > 1 else ["number", "A", "B"],
            rows=[_parting(pair, len(found.pairs) > 1) for pair in partings],
        )


def _inputs(found: Comparison) -> Section | None:
    rows = {
        (difference.name, difference.left, difference.right): [
            "input" if difference.kind == "input" else "under test",
            difference.name,
            difference.left,
            difference.right,
        ]
        for pair in found.pairs
        for difference in pair.inputs
    }
    if not rows:
        return None
    return Section("Not the same", columns=["", "what", "A", "B"], rows=list(rows.values()))


def _figure(change: FigureChange) -> list[str]:
    return [
        change.name,
        number(change.left),
        number(change.right),
        signed(change.change) if change.change else "",
        percent(change.relative) if change.change else "",
        _interval(change),
        _VERDICTS[change.verdict],
    ]


_VERDICTS = {"same": "", "better": "better", "worse": "worse", "other": "other", "untold": "not to be told apart"}
_WINNERS = {"same": "", "better": "B", "worse": "A", "other": "", "untold": "not to be told"}


def _interval(change: FigureChange | GroupChange) -> str:
    if change.low is None or change.high is None or change.low == change.high:
        return ""
    over = f" ({change.over})" if isinstance(change, FigureChange) else ""
    return f"{signed(change.low)} to {signed(change.high)}{over}"


def _group(change: GroupChange) -> list[str]:
    return [
        change.by,
        change.name,
        number(change.jobs),
        number(change.left),
        number(change.right),
        signed(change.change) if change.change else "",
        percent(change.relative) if change.change else "",
        _interval(change),
        _WINNERS[change.verdict],
    ]


def _pod(change: PodChange) -> list[str]:
    return [
        _named(change.run, change.pod),
        number(change.left),
        number(change.right),
        signed(change.change),
        _reason(change.left_reason, change.left_longest, change.left_said),
        _reason(change.right_reason, change.right_longest, change.right_said),
    ]


def _reason(reason: str, longest: LongestWait | None, said: str) -> str:
    """Return the reason, its plugin, the dates between which it held longest, and the scheduler's words."""
    what = reason.replace("_", " ")
    if longest is not None:
        plugin = f" ({longest.plugin})" if longest.plugin else ""
        what += f"{plugin} from {number(longest.start)} to {number(longest.end)}"
    said = said if len(said) <= SHORTEST else said[: SHORTEST - 3] + "..."
    return ": ".join(part for part in (what, said) if part)


def _parting(pair: PairOfRuns, several: bool) -> list[str]:
    assert pair.parting is not None
    a, b = (str(decision) if decision else "no more" for decision in (pair.parting.left, pair.parting.right))
    return [*([pair.name] if several else []), str(pair.parting.number), a, b]


def _named(run: str, name: str) -> str:
    return f"{run}: {name}" if run else name
