"""The figures of a run as single numbers with a name each, which rules and comparisons go by.

``mean_wait`` is ``figures.waiting_time.mean`` of ``run.json``, ``p99_slowdown`` is ``figures.bounded_slowdown.p99``,
``wait_back_off`` is ``figures.wait_reasons.back_off``, ``wait_NodeAffinity`` is ``figures.constraints.NodeAffinity``;
other figures have the names that they have there.
"""

from difflib import get_close_matches

from batkube.results.figures import Better, Figures, Judged, Spread
from batkube.results.metrics import WAIT_REASONS
from batkube.results.wait_words import FILTERS, RESOURCES

MEASURES = {
    "waiting_time": "wait",
    "turnaround_time": "turnaround",
    "stretch": "stretch",
    "bounded_slowdown": "slowdown",
}
"""The measures of a job, and their short names."""
STATISTICS = tuple(Spread.model_fields)
ENERGY = "energy"
"""The joules of all hosts; None where energy was not simulated."""
SCALARS = tuple(name for name in Figures.model_fields if name not in {*MEASURES, "wait_reasons", "constraints"})
PLUGINS = tuple(name for name in FILTERS if name != RESOURCES)
"""The plugins of kube-scheduler whose rules keep pods away from nodes with room."""
GROUPS = ("user", "queue", "priority", "size")
"""The groups of jobs that have figures of their own."""

_JUDGED = {
    name: judged for name in SCALARS for judged in Figures.model_fields[name].metadata if isinstance(judged, Judged)
}
COUNTS = frozenset(name for name, judged in _JUDGED.items() if judged.counts)
"""The figures that count things which do not happen a little more or less by chance."""

Values = dict[str, float | None]


def values_of(figures: Figures, energy: float | None = None) -> Values:
    """Return all figures by name."""
    found: Values = {}
    for measure, short in MEASURES.items():
        spread = getattr(figures, measure)
        found |= {f"{statistic}_{short}": getattr(spread, statistic) for statistic in STATISTICS}
    found |= {name: getattr(figures, name) for name in SCALARS}
    found |= {f"wait_{name}": figures.wait_reasons.get(name) for name in WAIT_REASONS}
    by_plugin = bool(figures.constraints) or figures.wait_reasons.get("constraints") == 0
    found |= {f"wait_{name}": figures.constraints.get(name, 0.0) if by_plugin else None for name in PLUGINS}
    found[ENERGY] = energy
    return found


NAMES = tuple(values_of(Figures()))
"""The names of all figures, in the order in which they are shown."""

_OTHER_NAMES = {
    other: f"{statistic}_{short}"
    for measure, short in MEASURES.items()
    for statistic in STATISTICS
    for other in (f"{statistic}_{measure}", f"{measure}.{statistic}")
}
_OTHER_NAMES |= {f"wait_reasons.{name}": f"wait_{name}" for name in WAIT_REASONS}
_OTHER_NAMES |= {f"constraints.{name}": f"wait_{name}" for name in PLUGINS}


def known_name(name: str) -> str | None:
    """Return the name of a figure that may be spelt as in ``run.json``; None if there is no such figure."""
    name = name.removeprefix("figures.")
    return name if name in NAMES else _OTHER_NAMES.get(name)


def suggestion(name: str) -> str:
    """Return what may have been meant, to end an error with; else where the names are found."""
    near = get_close_matches(name, [*NAMES, *_OTHER_NAMES], n=1)
    return f"did you mean {near[0]}?" if near else "docs/comparing.md has the names"


def better(name: str) -> Better:
    """Return whether less or more of a figure is better; empty for neither."""
    return _JUDGED.get(name, Judged()).better
