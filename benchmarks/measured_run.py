"""One whole ``batkube run``, and what it took: processor time, memory, and counts that do not hang on the machine.

usage: python benchmarks/measured_run.py [--profile FILE] COST.json run ARGUMENTS...

The cost is that of the step loop: start and end of the processes, and reading the input, are left out.
"""

import argparse
import cProfile
import json
import os
import pstats
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from processes import family, processor_seconds

from batkube.batsim.messages import Message
from batkube.bridge.simulation import Simulation
from batkube.bridge.step_loop import StepLoop
from batkube.clock.simulated import SimulatedClock
from batkube.kube.server import ApiServer
from batkube.kube.storage.watch import Watcher

COUNTED = ("bridge", "results", "simulator", "batsim", "kube")
"""Folders of batkube whose calls are counted: what they do follows from the simulation alone ..."""
NOT_COUNTED = ("connection.py", "listener.py", "endpoint.py", "server.py", "quiescence.py", "clock_quiescence.py")
"""... but for these, which are asked at each look whether all is at rest."""


class Meter:
    """Counts while the step loop runs."""

    def __init__(self, profile: cProfile.Profile | None) -> None:
        self.counts = dict.fromkeys(("steps", "looks", "watch_bytes"), 0)
        self.cost: dict[str, float] = {}
        """What the step loop took; empty where it was not come to."""
        self._profile = profile
        self._servers: list[ApiServer] = []

    def install(self) -> None:
        """Begin to count what the classes of batkube do in this process."""
        apply, wait_for_quiescence, next_batch = (
            Simulation.apply,
            SimulatedClock.wait_for_quiescence,
            Watcher.next_batch,
        )
        init, run, counts = ApiServer.__init__, StepLoop.run, self.counts

        async def counted_apply(simulation: Simulation, message: Message, between: Callable[[], Any]) -> bool:
            counts["steps"] += 1
            return await apply(simulation, message, between)

        async def counted_wait(clock: SimulatedClock, **options: Any) -> Any:
            counts["looks"] += 1
            return await wait_for_quiescence(clock, **options)

        def counted_batch(watcher: Watcher) -> bytes:
            batch = next_batch(watcher)
            counts["watch_bytes"] += len(batch)
            return batch

        def noted_init(server: ApiServer, **options: Any) -> None:
            init(server, **options)
            self._servers.append(server)

        async def measured_run(loop: StepLoop, first: Message | None = None) -> None:
            self._begin()
            try:
                await run(loop, first)
            finally:
                self._end()

        for owner, name, counted in (
            (Simulation, "apply", counted_apply),
            (SimulatedClock, "wait_for_quiescence", counted_wait),
            (Watcher, "next_batch", counted_batch),
            (ApiServer, "__init__", noted_init),
            (StepLoop, "run", measured_run),
        ):
            setattr(owner, name, counted)

    def _begin(self) -> None:
        for name in self.counts:
            self.counts[name] = 0
        self._requests, self._writes = self._served()
        self._real, self._used = time.monotonic(), _processor_seconds()
        if self._profile is not None:
            self._profile.enable()

    def _end(self) -> None:
        if self._profile is not None:
            self._profile.disable()
        requests, writes = self._served()
        batkube, scheduler = (now - before for now, before in zip(_processor_seconds(), self._used, strict=True))
        self.cost = {
            **self.counts,
            "requests": requests - self._requests,
            "writes": writes - self._writes,
            "batkube_seconds": round(batkube, 3),
            "scheduler_seconds": round(scheduler, 3),
            "real_seconds": round(time.monotonic() - self._real, 3),
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        }
        if self._profile is not None:
            self.cost["calls"] = _calls(self._profile)

    def _served(self) -> tuple[int, int]:
        requests = sum(server.requests.total() for server in self._servers)
        return requests, sum(server.store.revision for server in self._servers)


def _processor_seconds() -> tuple[float, float]:
    """Of this process, and of those that it has started."""
    own = time.process_time()
    return own, sum(processor_seconds(pid) for pid in family(os.getpid())[1:])


def _calls(profile: cProfile.Profile) -> int:
    """Tell how often functions of batkube were called whose calls are counted."""
    total = 0
    for (file, _, _), (_, calls, *_) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        parts = Path(file).parts
        folder = parts[parts.index("batkube") + 1] if "batkube" in parts[:-1] else ""
        if folder in COUNTED and parts[-1] not in NOT_COUNTED:
            total += calls
    return total


def main() -> None:
    """Entry point; ends as ``batkube run`` does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", type=Path, help="run under cProfile, and leave its file there")
    parser.add_argument("cost", type=Path)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    profile = cProfile.Profile(time.process_time) if options.profile else None
    meter = Meter(profile)
    meter.install()
    from batkube.commands.cli import main as batkube

    sys.argv = ["batkube", *options.words]
    try:
        batkube()
    finally:
        options.cost.write_text(json.dumps(meter.cost))
        if profile is not None:
            profile.dump_stats(options.profile)


if __name__ == "__main__":
    main()
