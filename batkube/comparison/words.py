"""A comparison in words."""

from batkube.comparison.changes import Comparison, FigureChange
from batkube.comparison.figure_names import MEASURES
from batkube.comparison.statistics import FEWEST

MEANS = tuple(f"mean_{short}" for short in MEASURES.values() if short != "stretch")
"""The figures that a comparison is summed up by."""
_UNITS = {"wait": " s", "turnaround": " s", "makespan": " s"}


def conclusion(found: Comparison, lefts: int, rights: int) -> list[str]:
    """Return the result, a sentence each. ``lefts``, ``rights``: the number of runs on each side."""
    said = []
    if found.same:
        said.append("All is the same, byte for byte.")
    inputs = [difference for pair in found.pairs for difference in pair.inputs if difference.kind == "input"]
    if inputs:
        names = list(dict.fromkeys(difference.name for difference in inputs))
        said.append(f"The inputs are not the same: {', '.join(names)}.")
    if found.only_left or found.only_right:
        said.append(_unpaired(found, lefts, rights))
    if found.same:
        return said
    if lefts > 1 and found.pairs and len(found.pairs) < FEWEST:
        said.append(f"{len(found.pairs)} pairs of runs are too few for intervals over runs ({FEWEST} at least).")
    said += [in_words(change) for change in found.figures if change.name in MEANS or change.name == "makespan"]
    if ends := found.changed_ends:
        said.append(f"{ends} {'job' if ends == 1 else 'jobs'} ended otherwise, or only on one side.")
    return said


def in_words(change: FigureChange) -> str:
    """Return a sentence about a figure."""
    name = change.name.replace("_", " ")
    unit = next((text for word, text in _UNITS.items() if name.endswith(word)), "")
    if change.left is None or change.right is None:
        return f"There is a {name} on one side only: {number(change.left)} and {number(change.right)}."
    if change.verdict == "same":
        return f"The {name} is the same: {number(change.left)}{unit}."
    values = f"{number(change.left)} and {number(change.right)}{unit}"
    interval = ""
    if change.low is not None and change.high is not None:
        interval = f"; 95 % over {change.over}: {signed(change.low)} to {signed(change.high)}{unit}"
    if change.verdict == "untold":
        why = interval or "; too few jobs or runs"
        return f"No difference that can be told in the {name}: {values}{why}."
    return f"The {name} is {change.verdict}: {values} ({percent(change.relative) or signed(change.change)}{interval})."


def number(value: float | None) -> str:
    """Return a figure as people read it."""
    if value is None:
        return "none"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.3f}" if abs(value) >= 0.1 else f"{value:.3g}"


def signed(value: float | None) -> str:
    """Return a change."""
    if value is None:
        return ""
    return number(value) if value < 0 else f"+{number(value)}"


def percent(relative: float | None) -> str:
    """Return a change in percent; empty where there is none to be had."""
    return "" if relative is None else f"{relative:+.1%}".replace("%", " %")


def _unpaired(found: Comparison, lefts: int, rights: int) -> str:
    if not found.pairs:
        return f"No run of one side has its like on the other: {lefts} and {rights} runs are compared as two samples."
    alone = [*found.only_left, *found.only_right]
    return f"{len(alone)} runs have no like on the other side and are left out: {', '.join(alone[:5])}."
