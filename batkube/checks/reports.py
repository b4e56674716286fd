"""Verdicts for machines and people: Markdown, JUnit's XML, annotations of GitHub Actions."""

from collections.abc import Iterator
from xml.etree import ElementTree

from batkube.checks.verdicts import Verdicts
from batkube.comparison.changes import Comparison
from batkube.comparison.markup import markdown
from batkube.comparison.sections import Section, sections
from batkube.comparison.words import number, signed

MARKS = {"holds": "✅", "broken": "❌", "untold": "❔", "skipped": "➖"}
WORST_GROUPS = 5


def check_sections(found: Verdicts) -> Iterator[Section]:
    """Yield what there is to tell: the rules, what got worse for whom, and all that changed."""
    broken = len(found.broken)
    summed_up = f"{broken} of {len(found.verdicts)} rules broken" if broken else "all rules hold"
    yield Section(
        f"{found.side.name}: {summed_up}",
        [*found.warnings, *found.notes],
        ["", "rule", "", ""],
        [[MARKS[one.outcome], one.rule, one.why, "; ".join(one.details)] for one in found.verdicts],
    )
    if found.comparison is not None and not found.comparison.same:
        if worse := list(worse_for(found.comparison)):
            yield Section("What got worse, and for whom", worse)
        yield from sections(found.comparison, all_figures=False)


def worse_for(comparison: Comparison) -> Iterator[str]:
    """Yield sentences about the groups and pods that wait longer than in the baseline, the worst first."""
    groups = sorted(
        (change for change in comparison.groups if change.verdict == "worse"),
        key=lambda change: (-change.change, change.by, change.name),
    )
    for change in groups[:WORST_GROUPS]:
        yield (
            f"{change.by} {change.name}: {change.jobs} jobs wait {number(change.right)} s on average, "
            f"{signed(change.change)} s"
        )
    for pod in comparison.pods[:WORST_GROUPS]:
        if pod.change > 0:
            plugin = f": {pod.right_longest.plugin}" if pod.right_longest and pod.right_longest.plugin else ""
            reason = f" ({pod.right_reason.replace('_', ' ')}{plugin})" if pod.right_reason else ""
            run = f"run {pod.run}: " if pod.run else ""
            yield f"{run}pod {pod.pod}: waits {number(pod.right)} s{reason}, {signed(pod.change)} s"


def check_markdown(found: Verdicts) -> str:
    """Return Markdown for a comment or the summary of a job."""
    return markdown(check_sections(found))


def junit(found: Verdicts) -> str:
    """Return the verdicts as JUnit's XML: each rule is a test."""
    suite = ElementTree.Element(
        "testsuite",
        name="batkube check",
        tests=str(len(found.verdicts)),
        failures=str(len(found.broken)),
        errors="0",
        skipped=str(sum(one.outcome == "skipped" for one in found.verdicts)),
    )
    for one in found.verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname=found.side.name, name=one.rule)
        if one.outcome == "broken":
            failure = ElementTree.SubElement(case, "failure", message=_clean(one.why))
            failure.text = _clean("\n".join([one.why, *one.details]))
        elif one.outcome == "skipped":
            ElementTree.SubElement(case, "skipped", message=_clean(one.why))
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def annotations(found: Verdicts) -> Iterator[str]:
    """Yield the workflow commands with which GitHub Actions shows what is broken."""
    for warning in found.warnings:
        yield f"::warning title=batkube check::{_escaped(warning)}"
    if found.notes:
        yield f"::notice title=batkube check::{_escaped(chr(10).join(found.notes))}"
    for one in found.broken:
        text = ": ".join(part for part in (one.rule, one.why) if part)
        yield f"::error title=batkube check::{_escaped(chr(10).join([text, *one.details]))}"


def _escaped(text: str) -> str:
    """Return the data of a workflow command, as actions/toolkit escapes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _clean(text: str) -> str:
    """Return a text without what XML cannot have."""
    return "".join(char for char in text if char in "\t\n" or ord(char) >= 32)
