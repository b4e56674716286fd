"""The schedules of two runs under each other, for the page of a comparison."""

from markupsafe import Markup

from batkube.report.columns import columns
from batkube.report.document import embedded, pieces
from batkube.report.run_data import RunData

_SCRIPTS = ("format.js", "time_view.js", "gantt.js", "compare.js")
_STYLES = ("look.css", "report.css")
_DRAWN = ("end", "jobs", "nodes", "bars", "down")
_JOBS = ("name", "submitted", "started", "finished")


def two_schedules(left: RunData, right: RunData) -> str:
    """Return HTML that draws both on one scale of time, and needs nothing else. The same results give the same text."""
    sides = []
    for data in (left, right):
        drawn = columns(data)
        jobs = {name: drawn["jobs"][name] for name in _JOBS}
        sides.append({name: drawn[name] for name in _DRAWN} | {"jobs": jobs})
    return Markup(
        "<style>{style}</style>\n"
        '<h2>Schedules</h2>\n<div id="legend" class="legend"></div>\n'
        '<h3>A: {left}</h3>\n<div id="gantt-0"></div>\n<h3>B: {right}</h3>\n<div id="gantt-1"></div>\n'
        '<script type="application/json" id="schedules">{data}</script>\n<script>{script}</script>'
    ).format(
        style=pieces(_STYLES),
        left=str(left.result.folder),
        right=str(right.result.folder),
        data=embedded({"sides": sides}),
        script=pieces(_SCRIPTS),
    )
