"""The event loop in which the commands work."""

from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from batkube.commands import garbage

Result = TypeVar("Result")


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Carry out ``work`` to its end."""
    garbage.seldom()
    garbage.keep()
    return uvloop.run(work)
