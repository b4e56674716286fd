"""The time in which jobs may be registered. It ends when nothing is left that could need one."""

from collections.abc import Callable

from batkube.bridge.client_jobs import ClientJobs
from batkube.bridge.decisions import Decisions
from batkube.bridge.open_jobs import OpenJobs
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer


class Registration:
    """``until``: the simulated date before which it does not end. ``warn`` is told of what is left undone."""

    def __init__(
        self,
        server: ApiServer,
        time: SimulatedTime,
        clients: ClientJobs,
        decisions: Decisions,
        *,
        until: float,
        warn: Callable[[str], None],
    ) -> None:
        self.open = False
        """True while jobs may be registered."""
        self.until = until
        self._jobs = OpenJobs(server)
        self._time = time
        self._clients = clients
        self._decisions = decisions
        self._warn = warn

    def begin(self) -> None:
        """Note that the simulator takes jobs that are registered."""
        self.open = True
        self._jobs.start()

    def stop(self) -> None:
        """Listen no more."""
        self._jobs.stop()

    @property
    def goes_on(self) -> bool:
        """True if the user wants the simulation to go on, whatever happens."""
        return self.open and self._time.now < self.until

    @property
    def awaits_controllers(self) -> bool:
        """True if there are Jobs (batch/v1) that a controller may carry on."""
        return self.open and bool(self._jobs)

    def end(self) -> None:
        """Say that no more jobs will be registered, and stop what would run for ever."""
        self.open = False
        if self._jobs:
            self._warn(f"Jobs have not ended, and nothing carries them on: {', '.join(self._jobs.names)}")
        self._clients.stop_endless()
        self._decisions.finish_registration()
