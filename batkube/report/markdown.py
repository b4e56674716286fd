"""The report as Markdown, for a pull request or a job summary: tables and the main figures."""

import re
from collections.abc import Iterable, Sequence

from batkube.report import sections
from batkube.report.quantities import duration, percent
from batkube.report.run_data import RunData
from batkube.report.sparkline import means, sparkline
from batkube.report.stories import slowest

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_SLOWEST = 5
_FAILURES = 10
_WARNINGS = 5
_WIDTH = 48
"""Characters of a line over time."""


def markdown(data: RunData) -> str:
    """Return the report. Everything that comes from the input is escaped."""
    run = data.run
    lines = [f"## {escaped(sections.title(data))}", "", escaped(sections.subtitle(data)), ""]
    if run is not None and run.status != "finished":
        lines += [f"**{run.status}**" + (f": {escaped(run.reason)}" if run.reason else ""), ""]
    warnings = sections.warnings(data)
    lines += [f"> **Warning:** {escaped(text)}" for text in warnings[:_WARNINGS]]
    if len(warnings) > _WARNINGS:
        lines.append(f"> and {len(warnings) - _WARNINGS} more warnings")
    lines += [""] if warnings else []
    lines += table(["Figure", "Value", ""], [(t.label, t.value, t.note) for t in sections.tiles(data)], right=(1,))
    lines += _over_time(data) + _waits(data) + _groups(data) + _slowest(data) + _failures(data)
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table; nothing without rows. ``right``: the columns of numbers."""
    body = [f"| {' | '.join(map(escaped, row))} |" for row in rows]
    if not body:
        return []
    marks = ["---:" if index in right else "---" for index in range(len(heads))]
    return [f"| {' | '.join(heads)} |", f"|{'|'.join(marks)}|", *body, ""]


def _over_time(data: RunData) -> list[str]:
    if not data.series:
        return []
    times = [row.time for row in data.series]
    used = [row.cpu_requested / row.cpu_allocatable if row.cpu_allocatable else 0.0 for row in data.series]
    waiting = [float(row.waiting_pods) for row in data.series]
    used_of_it = sections.usage(data)
    return [
        f"From 0 to {duration(data.end)}:",
        "",
        "```",
        f"CPU use      {sparkline(means(times, used, data.end, _WIDTH), 1.0)} of 100 %",
        f"waiting pods {sparkline(means(times, waiting, data.end, _WIDTH))} at most {max(waiting):,.0f}",
        "```",
        "",
        *([f"Of what they request, pods that ran used {used_of_it}.", ""] if used_of_it else []),
    ]


def _waits(data: RunData) -> list[str]:
    rows = [
        (sections.reason_name(row.reason, row.plugin), percent(row.part), duration(row.seconds), row.meaning)
        for row in sections.wait_rows(data.figures)
    ]
    heads = ["Reason to wait", "Part", "Pod time", "Meaning"]
    return ["### Why pods waited", "", *table(heads, rows, right=(1, 2))] if rows else []


def _groups(data: RunData) -> list[str]:
    lines = []
    for kind, members in sections.groups(data).items():
        rows = [(group.name, *sections.spread_cells(group.figures)) for group in members[: sections.MOST_GROUPS]]
        heads = [sections.GROUPS[kind], "Jobs", "Mean wait", "p95 wait", "Mean slowdown", "CPU use"]
        lines += [f"### By {sections.GROUPS[kind]}", "", *table(heads, rows, right=range(1, 6))]
    return lines


def _slowest(data: RunData) -> list[str]:
    rows = []
    for story in slowest(data, _SLOWEST):
        said = [moment.said for moment in story.moments if moment.said]
        rows.append((story.job.name, duration(story.waited), story.job.state, said[-1] if said else ""))
    heads = ["Job", "Waited", "End", "The scheduler's last words of it"]
    return ["### Slowest jobs", "", *table(heads, rows, right=(1,))] if rows else []


def _failures(data: RunData) -> list[str]:
    failures = sections.failures(data)
    rows = [(failure.job, failure.state, failure.why) for failure in failures[:_FAILURES]]
    lines = ["### Jobs without success", "", *table(["Job", "How", "Why"], rows)] if rows else []
    return lines + ([f"and {len(failures) - _FAILURES} more"] if len(failures) > _FAILURES else [])
