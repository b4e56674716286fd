"""Every recorded case, asked of `batkube serve --api-only`: as the real server answered, but for what is listed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .cases import CORPUS, Case, area, load
from .checking import JOBS, differences, outcome_of, run_all
from .known import known_differences
from .report import case_text
from .servers import Server, batkube

CASES = load([CORPUS])
AREAS = sorted({area(case) for case in CASES})
CASES_OF = {name: {str(case["case"]) for case in CASES if area(case) == name} for name in AREAS}
KNOWN = {strict: known_differences(strict=strict) for strict in (False, True)}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with batkube() as server:
        yield server


@pytest.mark.parametrize("name", AREAS)
def test_area(server: Server, name: str) -> None:
    cases = [case for case in CASES if area(case) == name]
    outcomes = run_all(cases, JOBS, server.url, server.token, outcome_of)
    differing: list[str] = []
    settled: list[str] = []
    for case, outcome in zip(cases, outcomes, strict=True):
        found = {strict: differences(case, outcome, strict=strict) for strict in (False, True)}
        differing += [
            case_text(case, found[strict]) for strict in (False, True) if _surprises(case, found[strict], strict)
        ]
        settled += [
            str(case["case"]) for strict in (False, True) if case["case"] in KNOWN[strict] and not found[strict]
        ]
    assert not differing, "\n".join(differing)
    assert not settled, f"these do as the real server does: take them off differences.yaml: {settled}"


def _surprises(case: Case, found: object, strict: bool) -> bool:
    return bool(found) and case["case"] not in KNOWN[strict]


def test_known_differences_are_of_cases_that_exist() -> None:
    names = {case["case"] for case in CASES}
    assert not [name for name in KNOWN[True] if name not in names]


def test_nearly_all_cases_hold() -> None:
    """All but a few at the level of what clients branch on, 95 % with every text."""
    assert len(KNOWN[False]) <= 5
    assert len(KNOWN[True]) <= 0.05 * len(CASES)


def test_the_document_counts_the_cases() -> None:
    text = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text()
    told = re.findall(r"^\| ([\w-]+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    counts = {
        name: [len(CASES_OF[name]), *(len(CASES_OF[name] - KNOWN[strict].keys()) for strict in (False, True))]
        for name in AREAS
    }
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    assert {name: [int(number) for number in numbers] for name, *numbers in told} == counts
    assert f"1.36.3 answered: {counts['all'][0]} cases" in text
