"""Measure what small cases cost, in counts that do not hang on the machine, beside those stored in costs.json.

`python benchmarks/costs.py` compares them, `--update` stores them anew where a change of them is meant.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cases import CASES, Case
from processes import StartError
from profile_run import measure

STORED = Path(__file__).with_name("costs.json")
SMALL = {
    "poisson-512": CASES["poisson-512"].smaller(100),
    "backlog": CASES["backlog"].smaller(120),
    "gangs": replace(CASES["gangs"].smaller(20), hosts=64),
    "policy": replace(CASES["policy"].smaller(100), hosts=64),
}
COUNTS = ("steps", "quiescences", "looks", "requests", "writes", "watch_bytes", "calls")
"""Messages of the simulator, reactions waited for, of them those that were looked for, HTTP requests, versions stored,
bytes of watch events, and calls of functions of batkube whose number does not hang on real time."""
MARGIN = 0.1
"""By so much a count may differ: some hang a little on real time."""

Costs = dict[str, float]
"""Counts a job."""


@dataclass(frozen=True)
class Difference:
    """A count that is not what is stored."""

    case: str
    count: str
    stored: float
    found: float

    def __str__(self) -> str:
        return f"{self.case}: {self.count} a job: {self.found:g}, stored {self.stored:g}"

    @property
    def is_worse(self) -> bool:
        """Tell whether it is more than what is stored."""
        return self.found > self.stored


def costs_of(case: Case) -> Costs:
    """Run a case. Raises StartError."""
    with tempfile.TemporaryDirectory(prefix="batkube-costs-") as folder:
        cost = measure(case, Path(folder), profile=Path(folder) / "profile.pstats")
    return {count: round(cost[count] / case.jobs, 2) for count in COUNTS}


def stored() -> dict[str, Costs]:
    """Return what costs.json has, by case."""
    found: dict[str, Costs] = json.loads(STORED.read_text())
    return found


def differences(name: str, found: Costs, expected: Costs) -> Iterator[Difference]:
    """The counts that differ by more than the margin."""
    for count in COUNTS:
        if abs(found[count] - expected[count]) > MARGIN * max(expected[count], 1.0):
            yield Difference(name, count, expected[count], found[count])


def main() -> int:
    """Entry point; exit code 1 where a count differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="store what is found")
    options = parser.parse_args()
    try:
        found = {name: costs_of(case) for name, case in SMALL.items()}
    except (StartError, OSError) as error:
        print(f"costs: {error}", file=sys.stderr)
        return 1
    if options.update:
        STORED.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    differing = [each for name, costs in found.items() for each in differences(name, costs, stored()[name])]
    for each in differing:
        print(each)
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main())
