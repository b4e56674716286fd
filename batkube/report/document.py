"""The page of a run: one file of HTML with all that it needs in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from batkube.report import sections
from batkube.report.columns import columns
from batkube.report.quantities import count, duration, percent, plain, size
from batkube.report.run_data import RunData
from batkube.report.stories import Moment, Story, slowest
from batkube.report.wait_spans import Span
from batkube.results.metrics import WAIT_REASONS

MOST_NODES = 40
"""The nodes that the table has; ``nodes.csv`` has them all."""

_PAGE = "page"
_SCRIPTS = (
    "vendor/uPlot.LICENSE.js",
    "vendor/uPlot.iife.min.js",
    "format.js",
    "time_view.js",
    "gantt.js",
    "charts.js",
    "report.js",
)
_STYLES = ("vendor/uPlot.min.css", "look.css", "report.css")
_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_UNIT = re.compile(r"(?<=[0-9]) (?=(?:s|min|h|d|%)\b|%)|(?<=[0-9] [dh]) (?=[0-9])|(?<=[0-9] min) (?=[0-9])")
_COLOR = {reason: index for index, reason in enumerate(WAIT_REASONS)}


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a stacked bar."""

    label: str
    meaning: str
    color: int
    weight: float
    duration: str
    percent: str


def document(data: RunData) -> str:
    """Return the page. The same results give the same text."""
    run = data.run
    drawn = columns(data)
    failed = sections.failures(data)
    told = slowest(data)
    thinned = (
        f"{len(drawn['series']['time']):,} of {drawn['rows']:,}" if drawn["rows"] > len(drawn["series"]["time"]) else ""
    )
    return environment().get_template("report.html").render(
        title=sections.title(data),
        subtitle=sections.subtitle(data),
        status=run.status if run else "",
        status_class={"finished": "good", "failed": "bad"}.get(run.status, "warn") if run else "",
        reason=run.reason if run else None,
        warnings=sections.warnings(data),
        tiles=[{"label": t.label, "value": _tied(t.value), "note": _tied(t.note)} for t in sections.tiles(data)],
        ran=any(job.started is not None for job in data.jobs),
        ended=any(job.slowdown is not None for job in data.jobs),
        placed=bool(drawn["bars"]["job"]),
        series=bool(drawn["series"]["time"]),
        usage=sections.usage(data) if drawn["usage"] else "",
        thinned=thinned,
        waits=_waits(data),
        wait_rows=_wait_rows(data),
        waited_in_all=duration(sum(data.figures.wait_reasons.values())),
        no_waits=_no_waits(data),
        wait_groups=_wait_groups(data),
        stories=[_story(story) for story in told],
        groups=_groups(data),
        nodes=[_node(data, index) for index in range(min(len(data.nodes), MOST_NODES))],
        more_nodes=max(0, len(data.nodes) - MOST_NODES),
        gpus=any(node.gpu_allocatable for node in data.nodes),
        failed_nodes=any(node.failures for node in data.nodes),
        failures=[
            {"job": f.job, "state": f.state, "when": duration(f.date), "why": f.why}
            for f in failed[: sections.MOST_FAILURES]
        ],
        more_failures=max(0, len(failed) - sections.MOST_FAILURES),
        facts=sections.facts(data),
        data=embedded(drawn),
        style=pieces(_STYLES),
        script=pieces(_SCRIPTS),
    )  # fmt: skip


@cache
def environment() -> Environment:
    """Return what fills in the pages: all text is escaped."""
    return Environment(
        loader=PackageLoader("batkube.report", _PAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


@cache
def pieces(names: tuple[str, ...]) -> Markup:
    """Return files of the page, one after another, as they are: they are batkube's own."""
    folder = files("batkube.report") / _PAGE
    return Markup("\n").join(Markup((folder / name).read_text(encoding="utf-8")) for name in names)


def embedded(value: Any) -> Markup:
    """Return a value as JSON that may stand in a script element: no text in it can end the element."""
    text = orjson.dumps(value).decode()
    for character, escape in _IN_SCRIPT.items():
        text = text.replace(character, escape)
    return Markup(text)


def _tied(text: str) -> str:
    """Return the text with numbers and their units on one line."""
    return _UNIT.sub("\u00a0", text)


def _parts(reasons: list[tuple[str, float]]) -> list[_Part]:
    total = sum(seconds for _, seconds in reasons)
    return [
        _Part(
            label=sections.WAITED_FOR[name][0],
            meaning=sections.WAITED_FOR[name][1],
            color=_COLOR[name],
            weight=round(seconds / total, 5),
            duration=duration(seconds),
            percent=percent(seconds / total),
        )
        for name, seconds in reasons
        if seconds > 0
    ]


def _waits(data: RunData) -> list[_Part]:
    return _parts([(name, seconds) for name, seconds, _ in sections.wait_parts(data.figures)])


def _wait_rows(data: RunData) -> list[dict[str, Any]]:
    return [
        {
            "name": row.name,
            "meaning": row.meaning,
            "color": None if row.plugin else _COLOR[row.reason],
            "duration": duration(row.seconds),
            "percent": percent(row.part),
        }
        for row in sections.wait_rows(data.figures)
    ]


def _no_waits(data: RunData) -> str:
    if any((job.waited or 0) > 0 for job in data.jobs):
        return "These results do not say why pods waited."
    return "No pod waited." if data.jobs else "There were no jobs."


def _wait_groups(data: RunData) -> list[dict[str, Any]]:
    """Return the stacked bars of groups, each as long as its jobs waited on average."""
    found = []
    for kind, members in sections.groups(data).items():
        shown = [(g, sum(g.figures.wait_reasons.values()) / max(1, g.figures.submitted)) for g in members]
        longest = max((mean for _, mean in shown), default=0.0)
        if longest <= 0:
            continue
        rows = [
            {
                "name": group.name,
                "parts": [
                    _Part(p.label, p.meaning, p.color, round(p.weight * mean / longest, 5), p.duration, p.percent)
                    for p in _parts(list(group.figures.wait_reasons.items()))
                ]
                if mean > 0
                else [],
                "rest": round(1 - mean / longest, 5),
                "total": duration(mean),
            }
            for group, mean in shown[: sections.MOST_GROUPS]
        ]
        found.append({"heading": sections.GROUPS[kind], "rows": rows})
    return found


def _groups(data: RunData) -> list[dict[str, Any]]:
    return [
        {
            "heading": sections.GROUPS[kind],
            "rows": [
                {"name": g.name, "cells": sections.spread_cells(g.figures)} for g in members[: sections.MOST_GROUPS]
            ],
            "more": max(0, len(members) - sections.MOST_GROUPS),
        }
        for kind, members in sections.groups(data).items()
    ]


def _course(spans: Sequence[Span]) -> list[_Part]:
    """Return the parts of a bar in order of time."""
    total = sum(span.seconds for span in spans)
    return [
        _Part(
            label=sections.reason_name(span.reason, span.plugin),
            meaning=sections.WAITED_FOR.get(span.reason, ("", ""))[1],
            color=_COLOR.get(span.reason, 0),
            weight=round(span.seconds / total, 5),
            duration=duration(span.seconds),
            percent=percent(span.seconds / total),
        )
        for span in spans
    ]


def _story(story: Story) -> dict[str, Any]:
    job = story.job
    about = [count(job.resources, "pod"), _cores(job.cores), job.user, job.queue]
    return {
        "name": job.name,
        "waited": duration(story.waited),
        "parts": _course(story.course) or _parts(story.reasons),
        "what": " · ".join([*(part for part in about if part), job.state]),
        "moments": [_moment(moment) for moment in story.moments],
    }


def _cores(cores: float) -> str:
    return f"{plain(cores)} {'core' if cores == 1 else 'cores'}" if cores else ""


def _moment(moment: Moment) -> dict[str, Any]:
    return {
        "time": duration(moment.time),
        "what": _what(moment),
        "said": moment.said,
        "waited": _course(moment.waited),
    }


def _what(moment: Moment) -> str:
    if moment.times < 2 or moment.until is None:
        return moment.what
    return f"{moment.what}, {moment.times} times until {duration(moment.until)}"


def _node(data: RunData, index: int) -> dict[str, Any]:
    node = data.nodes[index]
    part = node.cpu_utilization
    return {
        "name": node.node,
        "cores": plain(node.cpu_allocatable),
        "memory": size(node.memory_allocatable),
        "gpu": node.gpu_allocatable,
        "pods": f"{node.pods:,}",
        "up": percent(node.up_seconds / data.end if data.end else None),
        "busy": percent(node.busy_seconds / node.up_seconds if node.up_seconds else None),
        "cpu": percent(part),
        "width": round(100 * (part or 0.0), 1),
        "failures": node.failures,
    }
