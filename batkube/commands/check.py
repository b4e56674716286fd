"""``batkube check``: results are held to rules, and to what no schedule may break."""

import os
from pathlib import Path

from rich.console import Console

from batkube.checks.reports import annotations, check_markdown, junit, worse_for
from batkube.checks.rules import RulesError, default_rules, read_rules
from batkube.checks.verdicts import Verdicts, check_side
from batkube.commands.errors import tell
from batkube.comparison.settings import CheckSettings
from batkube.comparison.sides import Side
from batkube.named_file import write_named
from batkube.results.csv_rows import ResultsError
from batkube.settings import BAD_INPUT, BROKEN, FINISHED

WORDS = {"holds": "holds", "broken": "BROKEN", "untold": "cannot be told", "skipped": "skipped"}


def main(settings: CheckSettings) -> int:
    """Check; the exit code: 0 where all rules hold, 3 where not, 2 for bad input."""
    try:
        found = checked(settings)
        _write(settings, found)
    except (RulesError, ResultsError, OSError) as error:
        tell(error)
        return BAD_INPUT
    _print(found, Console(emoji=False, highlight=False, soft_wrap=True), quiet=settings.quiet)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotations(found):
            print(line)
    return FINISHED if found.passed else BROKEN


def checked(settings: CheckSettings) -> Verdicts:
    """Return the verdicts. Raises RulesError and ResultsError."""
    against = settings.against
    if against is not None and settings.baseline_optional and not against.exists():
        against = None
    rules = read_rules(settings.rules) if settings.rules else default_rules(baseline=settings.against is not None)
    if against is None and not settings.baseline_optional and (needing := rules.needing_baseline):
        raise RulesError(f"{settings.rules}: {needing[0]!r} needs a baseline (--against)")
    side = Side.of(settings.out)
    baseline = Side.of(against) if against is not None else None
    return check_side(side, baseline, rules, shared_hosts=settings.shared_hosts)


def _write(settings: CheckSettings, found: Verdicts) -> None:
    if settings.junit is not None:
        write_named(settings.junit, junit(found))
    if settings.markdown is not None:
        write_named(settings.markdown, check_markdown(found))
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(check_markdown(found) + "\n")


def _print(found: Verdicts, console: Console, *, quiet: bool) -> None:
    for warning in found.warnings:
        console.print(f"warning: {warning}", markup=False)
    for one in found.verdicts:
        if quiet and one.outcome != "broken":
            continue
        why = f": {one.why}" if one.why else ""
        console.print(f"{WORDS[one.outcome]:>14}  {one.rule}{why}", markup=False)
        for detail in one.details:
            console.print(f"{'':>14}    {detail}", markup=False)
    for note in found.notes if not quiet else ():
        console.print(f"{'note':>14}  {note}", markup=False)
    if not found.passed and found.comparison is not None:
        for line in worse_for(found.comparison):
            console.print(f"{'worse for':>14}  {line}", markup=False)
