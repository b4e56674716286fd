"""``batkube compare``: do runs hold the same, where do they part, what changed for whom, and can it be told?"""

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from batkube.commands.errors import tell
from batkube.comparison.changes import Comparison
from batkube.comparison.comparing import compare_sides
from batkube.comparison.expressions import ExpressionError, read_condition
from batkube.comparison.judging import Judgement, judge
from batkube.comparison.markup import html, markdown
from batkube.comparison.sections import Section, sections
from batkube.comparison.settings import CompareSettings, Format
from batkube.comparison.sides import Side
from batkube.named_file import write_named
from batkube.results.comparison import Difference, Fingerprint, differences
from batkube.results.csv_rows import ResultsError
from batkube.results.run import Run
from batkube.settings import BAD_INPUT, BROKEN, FAILED, FINISHED

SHOWN = 3
"""The folders that part from the first and are shown line by line, at most."""
ROOMY, WHOLE_WORDS = 100, 16
"""Columns of a terminal from which on tables have frames; the letters of a word up to which it is never cut."""


def main(settings: CompareSettings) -> int:
    """Compare; the exit code: 0 where all hold the same, 1 where not, 2 where one holds no results.

    With conditions to fail by: 3 where one is true, else 0.
    """
    try:
        conditions = [read_condition(text) for text in settings.fail_if]
        sides = _sides(settings)
        found = [compare_sides(sides[0], side, shown_pods=settings.pods) for side in sides[1:]]
        judged = [judge(condition, side, sides[0]) for side in sides[1:] for condition in conditions]
        if settings.format is Format.TABLE and settings.out is None:
            _print(sides, found, Console(emoji=False, highlight=False, soft_wrap=True))
            _print_judgements(judged, Console(emoji=False, highlight=False, soft_wrap=True))
        else:
            _write(settings, _text(settings, found, judged, sides))
    except ExpressionError as error:
        tell(f"--fail-if: {error}")
        return BAD_INPUT
    except (ResultsError, OSError) as error:
        tell(error)
        return BAD_INPUT
    if conditions:
        failing = [judgement for judgement in judged if fails(judgement)]
        for judgement in failing:
            tell(said(judgement))
        return BROKEN if failing else FINISHED
    return FINISHED if all(comparison.same for comparison in found) else FAILED


def fails(judgement: Judgement) -> bool:
    """Tell whether a condition to fail by is true; one that cannot be judged is taken to be."""
    return judgement.truth in ("true", "absent")


def said(judgement: Judgement) -> str:
    """Return what came of a condition, in a line."""
    words = {"true": "is true", "false": "is not true", "untold": "cannot be told", "absent": "cannot be judged"}
    return f"{judgement.condition.text} {words[judgement.truth]}: {judgement.why}"


def _sides(settings: CompareSettings) -> list[Side]:
    if not settings.groups:
        return [Side.of(folder) for folder in settings.folders]
    size = len(settings.folders) // settings.groups
    return [Side.group(settings.folders[start : start + size]) for start in range(0, len(settings.folders), size)]


def _text(
    settings: CompareSettings, found: Sequence[Comparison], judged: Sequence[Judgement], sides: Sequence[Side]
) -> str:
    match settings.format:
        case Format.JSON:
            record = {
                "same": all(comparison.same for comparison in found),
                "comparisons": [comparison.model_dump(mode="json") for comparison in found],
                "fail_if": [
                    {"condition": one.condition.text, "truth": one.truth, "why": one.why, "fails": fails(one)}
                    for one in judged
                ],
            }
            return json.dumps(record, indent=2) + "\n"
        case Format.HTML:
            title = f"{found[0].left} and {found[-1].right}"
            return html(title, _all_sections(found, judged), *_schedules(sides))
        case Format.MD:
            return markdown(_all_sections(found, judged))
    printed = StringIO()
    console = Console(emoji=False, highlight=False, soft_wrap=True, file=printed)
    _print(sides, found, console)
    _print_judgements(judged, console)
    return printed.getvalue()


def _schedules(sides: Sequence[Side]) -> list[str]:
    """Return the drawing of two single runs; nothing where there are more."""
    runs = [run for side in sides if (run := side.alone) is not None]
    if len(sides) != 2 or len(runs) != 2:
        return []
    from batkube.report.run_data import RunData
    from batkube.report.two_schedules import two_schedules
    from batkube.results.result import Result

    results = [Result.of_jobs_csv(run.path) if run.is_file else Result(run.path) for run in runs]
    return [two_schedules(RunData(results[0]), RunData(results[1]))]


def _all_sections(found: Sequence[Comparison], judged: Sequence[Judgement]) -> list[Section]:
    shown = [section for comparison in found for section in sections(comparison)]
    if judged:
        shown.append(Section("Conditions to fail by", [said(judgement) for judgement in judged]))
    return shown


def _write(settings: CompareSettings, text: str) -> None:
    if settings.out is None:
        print(text, end="")
    else:
        write_named(settings.out, text)


def _print_judgements(judged: Sequence[Judgement], console: Console) -> None:
    for judgement in judged:
        console.print(said(judgement), markup=False)


def _print(sides: Sequence[Side], found: Sequence[Comparison], console: Console) -> None:
    """Print all: the hashes, then what they stand for."""
    runs = [run for side in sides if (run := side.alone) is not None and run.run is not None]
    if len(runs) == len(sides):
        folders = [run.path for run in runs]
        prints = [Fingerprint.of(folder) for folder in folders]
        records = [run.run for run in runs if run.run is not None]
        show(folders, records, prints, differences(folders, prints), console)
    for comparison in found:
        if comparison.same and not any(pair.inputs for pair in comparison.pairs) and len(runs) == len(sides):
            continue
        for section in sections(comparison):
            _print_section(section, console)


def _print_section(section: Section, console: Console) -> None:
    console.print()
    console.print(section.title, markup=False, style="bold")
    for line in section.lines:
        console.print(line, markup=False)
    if section.rows:
        narrow = console.width < ROOMY
        table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False) if narrow else Table()
        for place, column in enumerate(section.columns):
            right = place in section.numbers
            words = [word for text in (column, *(row[place] for row in section.rows)) for word in text.split()]
            table.add_column(
                column,
                justify="right" if right else "left",
                no_wrap=right or place == 0,
                overflow="fold",
                min_width=min(max(map(len, words), default=0), WHOLE_WORDS),
            )
        for row in section.rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)


def show(
    folders: Sequence[Path],
    runs: Sequence[Run],
    prints: Sequence[Fingerprint],
    found: Sequence[Difference],
    console: Console,
) -> None:
    """Print what was compared, a line each; then where they part."""
    names = ("status", "makespan", "events", "events.jsonl", "jobs.csv")
    table = Table(Column("results", overflow="fold"), *(Column(name, no_wrap=True) for name in names))
    for folder, run, fingerprint in zip(folders, runs, prints, strict=True):
        table.add_row(
            Text(str(folder)),
            run.status,
            "" if run.makespan is None else f"{run.makespan:,.3f}",
            f"{run.events:,}",
            *((value or "missing")[:12] for value in (fingerprint.events_sha256, fingerprint.jobs_sha256)),
        )
    console.print(table)
    if not found:
        console.print(f"all {len(folders)} agree, byte for byte")
    for difference in found[:SHOWN]:
        console.print(_side_by_side(difference))
    if len(found) > SHOWN:
        console.print(f"and {len(found) - SHOWN} more part from {folders[0]}", markup=False)


def _side_by_side(difference: Difference) -> Table:
    left, right = difference.left_record, difference.right_record
    title = f"{difference.left} and {difference.right} part at line {difference.line} of {difference.file}"
    sides = (Column(escape(str(folder)), overflow="fold") for folder in (difference.left, difference.right))
    table = Table(Column("", no_wrap=True), *sides, "", title=Text(title), title_justify="left")
    for name in {**(left or {}), **(right or {})}:
        differs = name in difference.fields
        values = (Text(_value(record, name)) for record in (left, right))
        table.add_row(Text(name), *values, "differs" if differs else "", style="bold" if differs else None)
    if left is None or right is None:
        table.add_row("", *("ends here" if record is None else "" for record in (left, right)), "")
    return table


def _value(record: dict[str, Any] | None, name: str) -> str:
    if record is None or name not in record:
        return ""
    value = record[name]
    return value if isinstance(value, str) else json.dumps(value)
