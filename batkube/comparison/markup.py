"""Sections as Markdown and as HTML."""

from collections.abc import Iterable
from html import escape

from batkube.comparison.sections import Section

_STYLE = """
:root { color-scheme: light dark }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { padding: .15rem .7rem; text-align: left; border-bottom: 1px solid #8884 }
td.number { text-align: right; font-variant-numeric: tabular-nums }
"""


def markdown(sections: Iterable[Section], *, level: int = 2) -> str:
    """Return Markdown, as GitHub and GitLab show it."""
    parts = []
    for section in sections:
        parts.append(f"{'#' * level} {_plain(section.title)}\n")
        if section.lines:
            parts.append("\n".join(f"- {_plain(line)}" for line in section.lines) + "\n")
        if section.rows:
            rules = ["--:" if place in section.numbers else "---" for place in range(len(section.columns))]
            lines = [section.columns, rules, *([_plain(cell) for cell in row] for row in section.rows)]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n")
    return "\n".join(parts)


def html(title: str, sections: Iterable[Section], *drawings: str) -> str:
    """Return a page that needs nothing else. ``drawings``: HTML that comes after the first section."""
    body = []
    for number, section in enumerate(sections):
        body.append(f"<h2>{escape(section.title)}</h2>")
        if section.lines:
            body.append("<ul>" + "".join(f"<li>{escape(line)}</li>" for line in section.lines) + "</ul>")
        if section.rows:
            head = "".join(f"<th>{escape(column)}</th>" for column in section.columns)
            rows = "".join(f"<tr>{_cells(row, section.numbers)}</tr>" for row in section.rows)
            body.append(f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>")
        if number == 0:
            body += drawings
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def _cells(row: list[str], numbers: frozenset[int]) -> str:
    return "".join(
        f'<td class="number">{escape(cell)}</td>' if place in numbers else f"<td>{escape(cell)}</td>"
        for place, cell in enumerate(row)
    )


def _plain(text: str) -> str:
    """Return a text that Markdown takes for nothing but a text, in one line."""
    text = " ".join(text.split()).replace("\\", "\\\\")
    for sign in "|*_`<>[]":
        text = text.replace(sign, "\\" + sign)
    return text
