"""The options by which a cluster is given."""

from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator

from batkube.option import INPUTS, Option


def _several(value: object) -> object:
    """Return what is given as a tuple, also where it is one thing, or nothing."""
    if value is None:
        return ()
    return value if isinstance(value, tuple | list) else (value,)


Platforms = Annotated[tuple[Path, ...], BeforeValidator(_several)]
"""One or several, in any of the forms that ``read_given_platform`` takes."""
GivenPlatforms = Annotated[
    Platforms,
    Option(
        "SimGrid platform (XML), kubectl's nodes (YAML, JSON), or '16 x 32cpu,128Gi zone=a'; may be repeated.",
        INPUTS,
        "FILE|TEXT",
        short="-p",
    ),
]
AddedNodes = Annotated[tuple[str, ...], Option("Further nodes: '20 like n1'; may be repeated.", INPUTS, "TEXT")]
