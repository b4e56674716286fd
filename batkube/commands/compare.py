"""``batkube compare``: do folders of results hold the same, and where do they part?"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from batkube.bridge.errors import InputError
from batkube.results.comparison import COMPARED, Difference, Fingerprint, differences
from batkube.results.run import Run
from batkube.settings import BAD_INPUT, FAILED, FINISHED

SHOWN = 3
"""The folders that part from the first and are shown line by line, at most."""


def main(folders: Sequence[Path]) -> int:
    """Compare; the exit code: 0 where all hold the same, 1 where not, 2 where one holds no results."""
    console = Console(highlight=False, soft_wrap=True)
    try:
        runs = [_read(folder) for folder in folders]
    except InputError as error:
        Console(stderr=True, highlight=False, soft_wrap=True).print(f"batkube: {error}", markup=False)
        return BAD_INPUT
    prints = [Fingerprint.of(folder) for folder in folders]
    found = differences(folders, prints)
    show(folders, runs, prints, found, console)
    return FAILED if found else FINISHED


def _read(folder: Path) -> Run:
    missing = [name for name in ("run.json", *COMPARED) if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} holds no results of a run: it has no {missing[0]}")
    try:
        return Run.read(folder / "run.json")
    except ValidationError:
        raise InputError(f"{folder / 'run.json'} was not written by batkube") from None


def show(
    folders: Sequence[Path],
    runs: Sequence[Run],
    prints: Sequence[Fingerprint],
    found: Sequence[Difference],
    console: Console,
) -> None:
    """Return what was compared, a line each; then where they part."""
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
