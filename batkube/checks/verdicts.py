"""The verdicts on results: each rule, and whether it holds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from batkube.checks.invariants import look
from batkube.checks.rules import Rules
from batkube.comparison.changes import Comparison
from batkube.comparison.comparing import compare_sides
from batkube.comparison.facts import RecordedRun
from batkube.comparison.inputs import input_differences
from batkube.comparison.judging import judge
from batkube.comparison.sides import Side, pairs
from batkube.results.comparison import file_sha256

NO_BASELINE = "there is no baseline"

Outcome = Literal["holds", "broken", "untold", "skipped"]
"""``untold``: broken, but that may be chance. It counts as held, and so does what was skipped."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a rule."""

    rule: str
    outcome: Outcome
    why: str = ""
    details: list[str] = field(default_factory=list)
    """The first things that break it, in words."""


@dataclass(frozen=True)
class Verdicts:
    """The verdicts on all rules."""

    side: Side
    baseline: Side | None
    verdicts: list[Verdict]
    warnings: list[str]
    comparison: Comparison | None
    """The changes against the baseline."""
    notes: list[str] = field(default_factory=list)
    """Lines on what no rule asks about, of interest where all rules hold."""

    @property
    def broken(self) -> list[Verdict]:
        """The rules that are broken."""
        return [verdict for verdict in self.verdicts if verdict.outcome == "broken"]

    @property
    def passed(self) -> bool:
        """True if no rule is broken."""
        return not self.broken


def check_side(side: Side, baseline: Side | None, rules: Rules, *, shared_hosts: bool = False) -> Verdicts:
    """Hold results to rules; without a baseline those that need one are skipped. Raises ResultsError."""
    verdicts = [*_finished(side, rules)]
    verdicts += [_invariant(name, side, shared_hosts) for name in rules.invariants]
    for condition in rules.conditions:
        if condition.needs_baseline and baseline is None:
            verdicts.append(Verdict(condition.text, "skipped", NO_BASELINE))
            continue
        judgement = judge(condition, side, baseline)
        outcome: Outcome = "broken"
        if judgement.truth in ("true", "untold"):
            outcome = "holds" if judgement.truth == "true" else "untold"
        verdicts.append(Verdict(condition.text, outcome, judgement.why))
    comparison = None
    warnings: list[str] = []
    if baseline is not None:
        comparison = compare_sides(baseline, side)
        if comparison.only_left or comparison.only_right:
            warnings.append(next(line for line in comparison.conclusion if "like on the other" in line))
    same_inputs = _same_inputs(side, baseline)
    if rules.same_inputs:
        verdicts.append(same_inputs)
    elif same_inputs.outcome == "broken":
        warnings.append(f"The inputs are not those of the baseline: {same_inputs.why}.")
    notes: list[str] = []
    if rules.same_schedule:
        verdicts.append(_same_schedule(side, baseline, comparison))
    elif baseline is not None and comparison is not None and all(one.outcome != "broken" for one in verdicts):
        notes += _other_schedules(side, baseline, comparison)
    return Verdicts(side, baseline, verdicts, warnings, comparison, notes)


def _finished(side: Side, rules: Rules) -> Iterator[Verdict]:
    if not rules.finished:
        return
    ended = [(name, run.run) for name, run in side.runs.items() if run.run is not None]
    wrong = [f"{_run(name)}{run.status}: {run.reason}" for name, run in ended if run.status != "finished"]
    if ended:
        yield Verdict("finished: true", "broken" if wrong else "holds", wrong[0] if wrong else "", wrong[1:])


def _invariant(name: str, side: Side, shared: bool) -> Verdict:
    count, details, skipped = 0, [], ""
    for run_name, run in side.runs.items():
        found = look(name, run, shared=shared)
        count += found.count
        details += [_run(run_name) + breach for breach in found.breaches]
        skipped = skipped or found.skipped
        run.forget()
    rule = f"invariants: {name}"
    if count:
        return Verdict(rule, "broken", f"{count} {'breach' if count == 1 else 'breaches'}", details[:10])
    return Verdict(rule, "skipped", skipped) if skipped else Verdict(rule, "holds")


def _same_inputs(side: Side, baseline: Side | None) -> Verdict:
    rule = "same_inputs: true"
    if baseline is None:
        return Verdict(rule, "skipped", NO_BASELINE)
    differing = dict.fromkeys(
        found.name
        for _, before, run in pairs(baseline, side)
        if before.run and run.run
        for found in input_differences(before.run, run.run)
        if found.kind == "input"
    )
    return Verdict(rule, "broken" if differing else "holds", ", ".join(differing))


def _same_schedule(side: Side, baseline: Side | None, comparison: Comparison | None) -> Verdict:
    rule = "same_schedule: true"
    if baseline is None or comparison is None:
        return Verdict(rule, "skipped", NO_BASELINE)
    together = pairs(baseline, side)
    parted = [(name, before, run) for name, before, run in together if not _same_jobs(before, run)]
    lonely = comparison.only_left or comparison.only_right or not together
    if not parted and not lonely:
        return Verdict(rule, "holds")
    details = []
    for pair in comparison.pairs:
        if (parting := pair.parting) is not None:
            left, right = (
                str(decision) if decision else "no more decisions" for decision in (parting.left, parting.right)
            )
            details.append(f"{_run(pair.name)}decision {parting.number} was {left}; now it is {right}")
    why = f"{len(parted)} of {len(together)} runs part" if len(side.runs) > 1 else "the jobs have other dates or hosts"
    return Verdict(rule, "broken", why if parted else "no run has its like in the baseline", details[:10])


def _other_schedules(side: Side, baseline: Side, comparison: Comparison) -> Iterator[str]:
    """Yield a sentence about the schedules that are not those of the baseline, and one about each pod that moved first.

    Runs of other seeds have other schedules.
    """
    together = pairs(baseline, side)
    parted = {name for name, before, run in together if not _same_jobs(before, run) and not _other_seeds(before, run)}
    if not parted:
        return
    moved = [pair for pair in comparison.pairs if pair.name in parted]
    runs = f" of {len(parted)} of {len(together)} runs" if len(together) > 1 else ""
    pods = sum(pair.moved_pods for pair in moved)
    count = f": {pods} {'pod' if pods == 1 else 'pods'} on another node or at another date" if pods else ""
    yield f"the schedule{runs} is not that of the baseline{count} (the rule same_schedule: true forbids that)"
    for pair in [pair for pair in moved if pair.moves][:1]:
        for move in pair.moves:
            was, now = move.left_node or "no node", move.right_node or "no node"
            yield f"{_run(pair.name)}pod {move.pod}: {was} at {move.left:,.3f} s; now {now} at {move.right:,.3f} s"


def _other_seeds(left: RecordedRun, right: RecordedRun) -> bool:
    return left.run is not None and right.run is not None and left.run.seed != right.run.seed


def _same_jobs(left: RecordedRun, right: RecordedRun) -> bool:
    return file_sha256(left.jobs_csv) == file_sha256(right.jobs_csv)


def _run(name: str) -> str:
    return f"run {name}: " if name else ""
