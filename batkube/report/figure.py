"""The report as one figure for papers and slides: schedule, utilisation, queue and distributions, by matplotlib."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batkube.report.columns import columns
from batkube.report.run_data import RunData
from batkube.report.sections import title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = {"succeeded": "#2f73b3", "failed": "#b3261e", "walltime reached": "#b38b00", "killed": "#9a4f9e",
          "rejected": "#6b7280", "running": "#1f8a62", "waiting": "#6b7280"}  # fmt: skip
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "batkube", "svg.fonttype": "none",  # the same bytes each time, and text that is text
    "font.size": 8.5, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": False,
}  # fmt: skip
_UNITS = ((172_800, 86_400, "d"), (7_200, 3_600, "h"), (300, 60, "min"), (0, 1, "s"))
"""From how many seconds on an axis has which unit."""
_MOST_NAMES = 24
_MOST_ROWS = 64
"""The rows beyond which nothing is left between them."""


class NoPlots(Exception):
    """matplotlib is not installed. The text says what to install."""


def write_figure(data: RunData, path: Path, form: str) -> None:
    """Write a file of the form ``svg`` or ``png``: the same results give the same bytes. Raises NoPlots, OSError."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise NoPlots(f"{form} figures need matplotlib: pip install 'batkube[plot]'") from None
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 7.6), layout="constrained")
        figure.suptitle(_plain(title(data)), fontsize=10)
        places = figure.add_gridspec(4, 2, height_ratios=[2.6, 1, 1, 1.5])
        schedule = figure.add_subplot(places[0, :])
        use = figure.add_subplot(places[1, :], sharex=schedule)
        queue = figure.add_subplot(places[2, :], sharex=schedule)
        scale, unit = next((seconds, name) for least, seconds, name in _UNITS if data.end >= least)
        _schedule(schedule, data, scale)
        _series(use, queue, data, scale)
        for axes in (schedule, use):
            axes.tick_params(labelbottom=False)
        queue.set_xlabel(f"simulated time ({unit})")
        schedule.set_xlim(0, max(data.end, 1e-6) / scale)
        _distributions(figure.add_subplot(places[3, 0]), figure.add_subplot(places[3, 1]), data)
        figure.align_ylabels([schedule, use, queue])
        metadata: dict[str, Any] = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(path, format=form, dpi=200, metadata=metadata)


def _schedule(axes: "Axes", data: RunData, scale: float) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    drawn = columns(data)
    own = {bar: (since, until) for bar, since, until, _ in drawn["bars"]["own"]}
    rows = len(drawn["nodes"]) if drawn["bars"]["job"] else len(data.jobs)
    half = 0.44 if rows <= _MOST_ROWS else 0.5
    boxes: dict[str, list[Sequence[tuple[float, float]]]] = {}
    placed = bool(drawn["bars"]["job"])
    places = (
        zip(drawn["bars"]["job"], drawn["bars"]["node"], strict=True) if placed else enumerate(range(len(data.jobs)))
    )
    for bar, (number, row) in enumerate(places):
        job = data.jobs[number]
        since, until = own.get(bar, (job.started, job.finished)) if placed else (job.started, job.finished)
        if since is None:
            continue
        left, right = since / scale, (data.end if until is None else until) / scale
        box = ((left, row - half), (left, row + half), (right, row + half), (right, row - half))
        boxes.setdefault(job.state, []).append(box)
    shared = bool(data.run and data.run.compute_sharing)
    many = sum(map(len, boxes.values())) > 5_000
    for state, found in boxes.items():
        edges = {"edgecolors": "white", "linewidths": 0.25} if not many else {"linewidths": 0}
        # Beyond some thousand bars a vector image of each is of no use to anybody.
        axes.add_collection(
            PolyCollection(found, facecolors=COLORS[state], alpha=0.55 if shared else 1, rasterized=many, **edges)
        )
    axes.set_ylim(max(rows, 1) - 0.5, -0.5)
    axes.set_ylabel("node" if placed else "job, by submission")
    names = drawn["nodes"] if placed else [job.name for job in data.jobs]
    if rows <= _MOST_NAMES:
        axes.set_yticks(range(rows), [_plain(name) for name in names], fontsize=7)
    if boxes:
        marks = [Patch(color=COLORS[state], label=state) for state in COLORS if state in boxes]
        axes.legend(handles=marks, loc="lower right", bbox_to_anchor=(1, 0.98), ncols=len(marks), frameon=False)
    else:
        axes.text(0.5, 0.5, "no job ran", transform=axes.transAxes, ha="center")


def _series(use: "Axes", queue: "Axes", data: RunData, scale: float) -> None:
    series = columns(data)["series"]
    times = [time / scale for time in [*series["time"], data.end]] if series["time"] else []

    def line(axes: "Axes", name: str, color: str, label: str, factor: float = 1.0) -> None:
        if times and name in series:
            values = [float("nan") if value is None else value * factor for value in series[name]]
            axes.step(times, [*values, values[-1]], where="post", color=color, label=label, linewidth=1)

    line(use, "cpu", "#2f73b3", "CPU", 100)
    line(use, "memory", "#d9652b", "memory", 100)
    line(use, "gpu", "#1f8a62", "GPU", 100)
    use.set_ylim(0, 102)
    use.set_ylabel("requested (%)")
    line(queue, "waiting", "#d9652b", "waiting")
    line(queue, "running", "#2f73b3", "running")
    queue.set_ylim(bottom=0)
    queue.set_ylabel("pods")
    for axes in (use, queue):
        if axes.lines:
            axes.legend(loc="lower right", bbox_to_anchor=(1, 0.93), frameon=False, ncols=3, borderpad=0)


def _distributions(waits: "Axes", slowdowns: "Axes", data: RunData) -> None:
    for axes, found, label in (
        (
            waits,
            [job.waited for job in data.jobs if job.slowdown is not None and job.waited is not None],
            "waiting time",
        ),
        (slowdowns, [job.slowdown for job in data.jobs if job.slowdown is not None], "bounded slowdown"),
    ):
        values = sorted(found)
        if values:
            scale, unit = 1.0, ""
            if axes is waits:
                scale, name = next((seconds, name) for least, seconds, name in _UNITS if values[-1] >= least)
                unit = f" ({name})"
            parts = [(index + 1) / len(values) * 100 for index in range(len(values))]
            axes.step(
                [values[0] / scale, *(value / scale for value in values)], [0, *parts], where="post", color="#2f73b3"
            )
            axes.set_xlabel(label + unit)
        else:
            axes.set_xlabel(label)
        axes.set_ylabel("jobs (%)")
        axes.set_ylim(0, 102)
    if slowdowns.lines and max(slowdowns.get_xlim()) > 10:
        slowdowns.set_xscale("log")
        slowdowns.set_xlim(left=1)


def _plain(text: str) -> str:
    """Return text that matplotlib does not read as a formula."""
    return text.replace("$", r"\$")
