"""Jobs that talk with the decision process: the profiles ``send`` and ``recv``."""

import re
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from batkube.batsim.profiles import RecvProfile, SendProfile
from batkube.simulator.controls.control import Waiting
from batkube.simulator.work.leaves import KILLED, sleep

if TYPE_CHECKING:
    from batkube.simulator.work.execution import Execution


class SendLeaf:
    """Sends a message to the server, which passes it on to the decision process."""

    in_task = False

    def __init__(self, profile: SendProfile, execution: "Execution") -> None:
        self._profile = profile
        self._execution = execution
        self._letter: Waiting | None = None
        self._entry: Waiting | None = None

    def start(self) -> None:
        execution = self._execution
        handle = partial(execution.on_message, self._profile.msg)
        self._letter = execution.machinery.control.send(execution.placement.host, handle, self._sleep)

    def _sleep(self) -> None:
        end = partial(self._execution.leaf_ended, self._profile.ret)
        self._entry = sleep(self._execution, self._execution.machinery.control.time(self._profile.sleeptime), end)

    def stop(self) -> int:
        if self._letter is not None:
            self._letter.cancel()
        if self._entry is not None:
            self._entry.cancel()
        return KILLED

    def progress(self) -> None:
        """Return None: Batsim does not know the progress."""


class RecvLeaf:
    """Looks for a message of the decision process now and then."""

    in_task = False

    def __init__(self, profile: RecvProfile, execution: "Execution") -> None:
        self._profile = profile
        self._execution = execution
        self._entry: Waiting | None = None

    def start(self) -> None:
        if self._execution.job.inbox:
            self._receive(self._execution.job.inbox)
        elif self._profile.timeout:
            self._choose(self._profile.timeout)
        else:
            self._wait()

    def _wait(self) -> None:
        self._entry = sleep(self._execution, self._execution.machinery.control.time(self._profile.polltime), self._look)

    def _look(self) -> None:
        if self._execution.job.inbox:
            self._receive(self._execution.job.inbox)
        else:
            self._wait()

    def _receive(self, inbox: deque[str]) -> None:
        fits = re.fullmatch(self._profile.regex, inbox.popleft()) is not None
        self._choose(self._profile.success if fits else self._profile.failure)

    def _choose(self, name: str) -> None:
        if name:
            self._execution.play_instead(self._profile, name)
        else:
            self._execution.leaf_ended(self._profile.ret)

    def stop(self) -> int:
        if self._entry is not None:
            self._entry.cancel()
        return KILLED

    def progress(self) -> None:
        """Return None: Batsim does not know the progress."""
