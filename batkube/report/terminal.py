"""The summary of a run for the terminal, 80 columns wide."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from batkube.report import sections
from batkube.report.quantities import duration, percent
from batkube.report.run_data import RunData
from batkube.report.sparkline import means, sparkline
from batkube.report.stories import slowest

WIDTH = 80
_LINE = 44
"""Characters of a line over time."""
_BAR = 30
_NAME = 24
"""Characters of a job's name, at most."""
_SLOWEST = 5
_FAILURES = 5
_STYLES = {"finished": "green", "failed": "red"}


def show(data: RunData, console: Console) -> None:
    """Print the summary."""
    run = data.run
    heading = Text(sections.title(data), style="bold", overflow="fold")
    if run is not None:
        heading.append(f"  {run.status}", style=_STYLES.get(run.status, "yellow"))
    parts: list[RenderableType] = [heading, Text(sections.subtitle(data), style="dim")]
    if run is not None and run.reason:
        parts.append(Text(run.reason, style="red", overflow="fold"))
    for text in sections.warnings(data)[:5]:
        parts.append(Text(f"warning: {text}", style="yellow", overflow="fold"))
    parts += [Text(), _figures(data)]
    for name, table in (
        ("Over time", _over_time(data)),
        ("Why pods waited", _waits(data)),
        ("Slowest jobs", _slowest(data)),
        ("Jobs without success", _failures(data)),
    ):
        if table is not None:
            parts += [Text(), Text(name, style="bold"), Padding(table, (0, 0, 0, 2))]
    console.print(Group(*parts), width=min(console.width, WIDTH))


def _grid(*columns: Column) -> Table:
    return Table(*columns, box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)


def _list(names: Sequence[str], seconds: Sequence[str]) -> Table:
    """Return a table of three columns, of which the last is cut where the line ends."""
    name, second = min(_NAME, max(map(len, names))), max(map(len, seconds))
    return _grid(
        Column(width=name, no_wrap=True, overflow="ellipsis"),
        Column(width=second, no_wrap=True),
        Column(width=WIDTH - name - second - 2 - 3 * 2, style="dim", no_wrap=True, overflow="ellipsis"),
    )


def _figures(data: RunData) -> Table:
    table = _grid(Column(style="dim", no_wrap=True), Column(no_wrap=True, justify="right"), Column(overflow="fold"))
    for tile in sections.tiles(data):
        table.add_row(tile.label, Text(tile.value, style="bold"), Text(tile.note, style="dim"))
    return table


def _over_time(data: RunData) -> Table | None:
    if not data.series or data.end <= 0:
        return None
    times = [row.time for row in data.series]
    table = _grid(Column(style="dim", no_wrap=True), Column(no_wrap=True), Column(style="dim", no_wrap=True))
    used = [row.cpu_requested / row.cpu_allocatable if row.cpu_allocatable else 0.0 for row in data.series]
    for name, values, top, told in (
        ("CPU use", used, 1.0, "of 100 %"),
        ("running pods", [float(row.running_pods) for row in data.series], None, ""),
        ("waiting pods", [float(row.waiting_pods) for row in data.series], None, ""),
    ):
        line = sparkline(means(times, values, data.end, _LINE), top)
        table.add_row(name, Text(line, style="cyan"), told or f"at most {max(values):,.0f}")
    if used_of_it := sections.usage(data):
        table.add_row("really used", Text(used_of_it), "of requests")
    table.add_row("", Text("0" + duration(data.end).rjust(_LINE - 1), style="dim"), "")
    return table


def _waits(data: RunData) -> Table | None:
    rows = sections.wait_rows(data.figures)
    if not rows:
        return None
    table = _grid(Column(style="dim", no_wrap=True), Column(no_wrap=True), Column(no_wrap=True, justify="right"),
                  Column(no_wrap=True, justify="right"))  # fmt: skip
    for row in rows:
        bar = "█" * max(1, round(row.part * _BAR))
        style = "dim cyan" if row.plugin else "cyan"
        name = f"  {row.name}" if row.plugin else row.name
        table.add_row(name, Text(bar, style=style), percent(row.part), duration(row.seconds))
    return table


def _slowest(data: RunData) -> Table | None:
    stories = slowest(data, _SLOWEST)
    if not stories:
        return None
    waits = [duration(story.waited) for story in stories]
    table = _list([story.job.name for story in stories], waits)
    for story in stories:
        said = next((moment.said for moment in reversed(story.moments) if moment.said), story.job.state)
        table.add_row(Text(story.job.name), duration(story.waited), Text(said))
    return table


def _failures(data: RunData) -> Table | None:
    failures = sections.failures(data)
    if not failures:
        return None
    shown = failures[:_FAILURES]
    table = _list([failure.job for failure in shown], [failure.state for failure in shown])
    for failure in shown:
        table.add_row(Text(failure.job), failure.state, Text(failure.why))
    if len(failures) > _FAILURES:
        table.add_row(Text(f"and {len(failures) - _FAILURES:,} more", style="dim"), "", "")
    return table
