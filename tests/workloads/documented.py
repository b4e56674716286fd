"""The examples of docs/workloads.md: blocks of code whose language is the name of a format."""

import re
from dataclasses import dataclass
from pathlib import Path

from batkube.workloads.formats import BUILT_IN

DOCUMENT = Path(__file__).parents[2] / "docs" / "workloads.md"


@dataclass(frozen=True)
class Example:
    """A file that the document shows."""

    format: str
    text: str

    def __str__(self) -> str:
        return self.format


EXAMPLES = [
    Example(name, text)
    for name, text in re.findall(r"^```(\S+)\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    if name in BUILT_IN
]
assert {example.format for example in EXAMPLES} == set(BUILT_IN) - {"simkube", "azure"}  # which are no texts
