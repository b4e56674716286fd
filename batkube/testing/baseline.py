"""Baselines: results that lie beside a test, which later ones are held to."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from batkube.checks.reports import worse_for
from batkube.checks.rules import default_rules, rules_of
from batkube.checks.verdicts import Verdicts, check_side
from batkube.comparison.sides import Side
from batkube.results.result import Result
from batkube.results.run import InputFile, Run

KEPT = ("events.jsonl", "jobs.csv", "pods.csv", "nodes.csv")
"""The files that comparisons read, beside ``run.json``."""
FOLDER = "baselines"
UPDATE = "--batkube-update"


class Regression(AssertionError):
    """Results that break a rule; the text says which, and for whom."""


class Baseline:
    """Holds the results of one test to those that lie beside it."""

    def __init__(self, test: Path, name: str, *, update: bool) -> None:
        self._folder = test.parent / FOLDER / test.stem
        self._name = name
        self._update = update

    def __call__(
        self, result: Result | Path | str, rules: Sequence[str | dict[str, Any]] | None = None, *, name: str = ""
    ) -> Verdicts:
        """Check results against the baseline. Raises Regression where a rule is broken, or there is no baseline.

        ``rules``: as in a file of rules; else those that `batkube check` has. ``name``: tells the baselines of one test
        apart.
        """
        __tracebackhide__ = True
        out = result.folder if isinstance(result, Result) else Path(result)
        stored = self.path(name)
        if self._update:
            keep(out, stored)
        if not stored.is_dir():
            raise Regression(f"there is no baseline {stored}; pytest {UPDATE} writes it")
        chosen = default_rules(baseline=True) if rules is None else rules_of(list(rules), "rules")
        found = check_side(Side.of(out), Side.of(stored), chosen)
        if not found.passed:
            raise Regression(told(found))
        return found

    def path(self, name: str = "") -> Path:
        """Return the folder of the baseline."""
        whole = f"{self._name}-{name}" if name else self._name
        return self._folder / re.sub(r"[^A-Za-z0-9_.-]+", "-", whole).strip("-")


def keep(out: Path, stored: Path) -> None:
    """Store results as a baseline: what comparisons read, without what has nothing to do with the simulation."""
    shutil.rmtree(stored, ignore_errors=True)
    stored.mkdir(parents=True)
    for name in KEPT:
        shutil.copyfile(out / name, stored / name)
    run = Run.read(out / "run.json")
    run.wall_seconds = 0.0
    run.scheduler.command = [Path(word).name for word in run.scheduler.command[:1]]
    for file in _input_files(run):
        file.path = Path(file.path).name
    run.scheduler_use, run.options = None, {}
    run.write(stored / "run.json")


def told(found: Verdicts) -> str:
    """Return what is broken, and for whom."""
    lines = []
    for one in found.broken:
        lines.append(f"{one.rule}: {one.why}" if one.why else one.rule)
        lines += [f"  {detail}" for detail in one.details]
    if found.comparison is not None:
        lines += [f"worse for {line}" for line in worse_for(found.comparison)]
    lines += [f"warning: {warning}" for warning in found.warnings]
    return "\n".join([*lines, f"(if that is meant: pytest {UPDATE})"])


def _input_files(run: Run) -> list[InputFile]:
    scheduler = run.scheduler
    files = [run.platform, run.startup, *run.workloads, *run.objects, *run.batsim_inputs]
    files += [scheduler.source, scheduler.binary, scheduler.configuration]
    return [file for file in files if file is not None]
