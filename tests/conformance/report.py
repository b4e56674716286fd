"""The report of a check: differences in words, a table by area, a JUnit file."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .cases import Case, area
from .comparison import Difference

JSON = Any


def case_text(case: Case, found: Sequence[Difference]) -> str:
    """All differences of a case, step by step."""
    lines = [f"{case['case']}: {case['why']}"]
    step = None
    for difference in found:
        if difference.step != step:
            step = difference.step
            lines.append(f"  step {step}: {_request(case['steps'][step - 1]) if step else ''}")
        lines.append(f"    {difference.path}")
        lines.append(f"      expected {difference.expected}")
        lines.append(f"      got      {difference.got}")
    return "\n".join(lines)


def _request(step: JSON) -> str:
    return f"join {step['join']}" if "join" in step else f"{step.get('method', 'WATCH')} {step.get('path', '')}"


def area_table(cases: Sequence[Case], found: Sequence[Sequence[Difference]], expected: Sequence[str]) -> str:
    """Return how many cases of each area are equal, differ, and differ for a known reason (`expected`: their names)."""
    total, differing, known = Counter[str](), Counter[str](), Counter[str]()
    for case, differences in zip(cases, found, strict=True):
        total[area(case)] += 1
        differing[area(case)] += bool(differences)
        known[area(case)] += bool(differences) and case["case"] in expected
    lines = [f"{'area':24} {'cases':>6} {'equal':>6} {'known':>6} {'differ':>6}"]
    for name in sorted(total):
        rest = differing[name] - known[name]
        lines.append(f"{name:24} {total[name]:6} {total[name] - differing[name]:6} {known[name]:6} {rest:6}")
    every, differ, reasoned = total.total(), differing.total(), known.total()
    lines.append(f"{'all':24} {every:6} {every - differ:6} {reasoned:6} {differ - reasoned:6}")
    return "\n".join(lines)


def write_junit(file: Path, cases: Sequence[Case], found: Sequence[Sequence[Difference]]) -> None:
    """For CI systems that show tests. Raises OSError."""
    suite = ElementTree.Element(
        "testsuite", name="conformance", tests=str(len(cases)), failures=str(sum(map(bool, found)))
    )
    for case, differences in zip(cases, found, strict=True):
        test = ElementTree.SubElement(suite, "testcase", classname=area(case), name=str(case["case"]).partition("/")[2])
        if differences:
            failure = ElementTree.SubElement(test, "failure", message=f"{len(differences)} differences")
            failure.text = "\n".join(
                f"step {difference.step} {difference.path}: expected {difference.expected}, got {difference.got}"
                for difference in differences
            )
    ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)
