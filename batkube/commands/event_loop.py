"""The event loop in which the commands work."""

import gc
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

Result = TypeVar("Result")

YOUNG_OBJECTS = 20_000
"""The objects more than before that make the garbage collector look; Python's default is 700."""


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Carry out ``work`` to its end.

    A cluster is hundreds of thousands of small dictionaries that stay, and hardly any garbage is cyclic: by default
    the garbage collector would spend a tenth of the processor time on looking at them again and again.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 50, 100)
    return uvloop.run(work)
