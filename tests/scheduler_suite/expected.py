"""The tests of the suite that an API server can be expected to pass, and what it must be for that.

A leaf is a test without subtests; leaves are what is counted. Those listed passed with kube-apiserver 1.36.3.
"""

import csv
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "leaves.csv"


class Needs(StrEnum):
    """The needs of a leaf: what its server must have."""

    PLAIN = "plain"
    """No more than a kube-apiserver without the admission plugins that the suite turns off."""
    ALPHA = "alpha"
    """Workloads, pod groups, and tolerations with Gt and Lt: feature gates that are off by default."""
    FLAGS = "flags"
    """The flags or the admission plugin that this very test asks for."""
    PERF = "perf"
    """The short workloads of scheduler_perf: beside the scheduler runs a garbage collector, which asks for all kinds in
    one document, and watches the metadata of each."""
    PROCESS = "in-process"
    """A gate that changes while the server runs, or is locked by now: no server of its own process passes."""


class Leaf(NamedTuple):
    """One test without subtests: package `scheduler/bind`, test `TestDefaultBinder/same_UID`."""

    package: str
    test: str

    @property
    def top(self) -> "Leaf":
        """The test that runs it."""
        return Leaf(self.package, self.test.partition("/")[0])


def expected(wanted: set[Needs]) -> dict[Leaf, Needs]:
    """The leaves that need nothing but that, in order of their names."""
    with FILE.open() as file:
        rows = {Leaf(row["package"], row["test"]): Needs(row["needs"]) for row in csv.DictReader(file)}
    return {leaf: needs for leaf, needs in sorted(rows.items()) if needs in wanted}
