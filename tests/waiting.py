"""Waiting for what another program, or another task, brings about."""

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

DEADLINE = 180.0
"""Real seconds, for all: long enough for a program to start, and to do its work, on a machine that others keep busy."""
LONGEST_PAUSE = 0.02
"""Real seconds between two looks at a condition; the first pauses are shorter."""


def wait_until(what: str, condition: Callable[[], T]) -> T:
    """Return the value of the condition as soon as it is true.

    The test fails if it is not within DEADLINE, and says ``what`` it waited for.
    """
    for pause in _pauses(what):
        if value := condition():
            return value
        time.sleep(pause)
    raise AssertionError("unreachable: pauses end with an error")


async def wait_until_async(what: str, condition: Callable[[], object]) -> None:
    """Return as soon as the condition is true, which may be a coroutine function. Other tasks go on meanwhile.

    The test fails as that of ``wait_until`` does.
    """
    for pause in _pauses(what):
        value = condition()
        if await value if inspect.isawaitable(value) else value:
            return
        await asyncio.sleep(pause)


def _pauses(what: str) -> Iterator[float]:
    """Yield growing pauses until the deadline has passed; then fail."""
    end, pause = time.monotonic() + DEADLINE, 0.001
    while time.monotonic() < end:
        yield pause
        pause = min(2 * pause, LONGEST_PAUSE)
    raise AssertionError(f"not within {DEADLINE:g} s: {what}")
