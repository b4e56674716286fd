"""The report of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping

from .expected import Leaf, Needs
from .running import Outcome

PASS = "PASS"
NOT_RUN = "NOT RUN"


def line(outcome: Outcome) -> str:
    """One top-level test: how many of its leaves ended how."""
    counted = Counter(outcome.results.values())
    said = ", ".join(f"{count} {result}" for result, count in sorted(counted.items()))
    return f"{outcome.leaf.package} {outcome.leaf.test}: {said} in {outcome.seconds:.1f} s"


def shortfalls(expected: Mapping[Leaf, Needs], results: Mapping[Leaf, str]) -> list[str]:
    """The expected leaves that did not pass, and what became of them."""
    return [
        f"{results.get(leaf, NOT_RUN)} {leaf.package} {leaf.test} ({needs})"
        for leaf, needs in expected.items()
        if results.get(leaf) != PASS
    ]


def table(expected: Mapping[Leaf, Needs], results: Mapping[Leaf, str]) -> str:
    """Passed of all expected leaves, by package and by what they need, as Markdown."""
    kinds = [needs for needs in Needs if needs in expected.values()]
    packages = sorted({leaf.package for leaf in expected})
    rows = [["package", *kinds], ["---", *("---:" for _ in kinds)]]
    for package in packages:
        rows.append([package, *(_share(expected, results, (package,), needs) for needs in kinds)])
    if len(packages) > 1:
        rows.append(["all", *(_share(expected, results, packages, needs) for needs in kinds)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _share(expected: Mapping[Leaf, Needs], results: Mapping[Leaf, str], packages: Iterable[str], needs: Needs) -> str:
    leaves = [leaf for leaf, needed in expected.items() if needed == needs and leaf.package in packages]
    passed = sum(results.get(leaf) == PASS for leaf in leaves)
    return f"{passed} of {len(leaves)}" if leaves else ""
