"""A piece of work that is given up as soon as what it depends on ends, or the user wishes."""

import asyncio
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from batkube.bridge.errors import RunFailed
from batkube.schedulers.process import SchedulerProcess


class Interrupted(Exception):
    """Ctrl-C, or SIGTERM."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(number.name)
        self.number = number


class Asked(asyncio.Event):
    """Set when the user wants an end; ``number`` is the first signal that said so."""

    number = signal.SIGINT

    def by(self, number: signal.Signals) -> None:
        """Note that the signal has come."""
        if not self.is_set():
            self.number = number
            self.set()


@contextmanager
def interruptible() -> Iterator[Asked]:
    """Yield an event that SIGINT or SIGTERM sets while the context lasts; a second one changes nothing."""
    loop = asyncio.get_running_loop()
    asked = Asked()
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, asked.by, number)
    try:
        yield asked
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def until_interrupted(asked: Asked) -> NoReturn:
    """Raise Interrupted when the event is set."""
    await asked.wait()
    raise Interrupted(asked.number)


async def until_dead(process: SchedulerProcess) -> NoReturn:
    """Raise RunFailed when the scheduler has ended: nobody is left to place pods."""
    await process.wait()
    raise RunFailed(f"the scheduler {process.name} {process.how_it_ended()}")


async def supervised(work: Coroutine[Any, Any, None], *watches: Coroutine[Any, Any, NoReturn]) -> None:
    """Do ``work`` until it is done or one of ``watches`` raises, whose error is raised here.

    Nothing of it goes on afterwards.
    """
    main = asyncio.ensure_future(work)
    others = [asyncio.ensure_future(watch) for watch in watches]
    try:
        await asyncio.wait([main, *others], return_when=asyncio.FIRST_COMPLETED)
        if main.done():
            return await main
        for other in others:
            if other.done():
                await other
    finally:
        for task in [main, *others]:
            task.cancel()
        await asyncio.gather(main, *others, return_exceptions=True)
