"""Show what the time of a scheduling attempt does to the published runs: kube-scheduler's queue in a hundred lines.

In simulation a scheduler reacts in no time: when a pod ends, all pods that wait are tried at once, and those that fail
back off for up to ten seconds. A real scheduler takes some milliseconds for each, and pods that end meanwhile are still
noticed. This model has the queue alone (active, back-off, unschedulable) and the start-up model; with attempts of no
time it should say what batkube says with a real kube-scheduler that waits for its back-off.
"""

import argparse
import sys
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from random import Random
from statistics import fmean, stdev

from fidelity import COMPARED, DATA, NODES, SLEEP, WORKLOADS, Outcome, real, submissions

from batkube.startup.errors import StartupError
from batkube.startup.model import StartupModel, read_startup

ATTEMPTS = (0.0, 0.001, 0.003, 0.005, 0.008)
"""Seconds."""
LONGEST = 10.0
"""The longest back-off in seconds; the first is 1, and each is twice the one before."""


@dataclass
class Queue:
    """Pods by number. ``waits``: whether their back-off is waited for."""

    waits: bool
    active: list[tuple[float, int]] = field(default_factory=list)
    """By the date of their last attempt, the order in which they are tried."""
    backing_off: dict[int, float] = field(default_factory=dict)
    unschedulable: dict[int, float] = field(default_factory=dict)
    """Pod to its last attempt."""
    attempts: dict[int, int] = field(default_factory=dict)

    def ready(self, pod: int, failed: float, now: float) -> bool:
        """Tell whether its back-off is over."""
        return not self.waits or failed + min(LONGEST, 2.0 ** (self.attempts[pod] - 1)) <= now

    def room(self, now: float) -> None:
        """A pod has ended: all that wait are tried again, at once or when they have backed off."""
        for pod, failed in self.unschedulable.items():
            if self.ready(pod, failed, now):
                heappush(self.active, (failed, pod))
            else:
                self.backing_off[pod] = failed
        self.unschedulable.clear()

    def flush(self, now: float) -> None:
        """Once a second: those that have backed off are tried."""
        for pod, failed in list(self.backing_off.items()):
            if self.ready(pod, failed, now):
                heappush(self.active, (failed, pod))
                del self.backing_off[pod]


def run(model: StartupModel, arrivals: list[float], attempt: float, seed: int, *, waits: bool = True) -> Outcome:
    """One run; ``attempt``: seconds that one takes."""
    queue = Queue(waits)
    events: list[tuple[float, bool, int]] = [(date, False, pod) for pod, date in enumerate(arrivals)]
    tick, now, free, room = Random(seed).random(), 0.0, NODES, -1.0
    tried: tuple[int, float] | None = None
    starts: dict[int, float] = {}
    end = 0.0
    while events or queue.active or queue.backing_off or tried:
        dates = [events[0][0]] if events else []
        dates += [tried[1] + attempt] if tried else []
        dates += [tick] if queue.backing_off else []
        now = max(now, min(dates))
        while events and events[0][0] <= now:
            date, ends, pod = heappop(events)
            if ends:
                free, room, end = free + 1, now, date
                queue.room(now)
            else:
                heappush(queue.active, (date, pod))
        if tick <= now:
            queue.flush(now)
            tick += int(now - tick) + 1.0
        if tried and tried[1] + attempt <= now:
            pod, begun = tried
            tried = None
            if free:
                free -= 1
                delays = model.delays(seed, f"w0-{pod + 1}", str(pod + 1))
                starts[pod] = now + delays.pulling + delays.pulled + delays.created + delays.started
                heappush(events, (starts[pod] + SLEEP + delays.ended, True, pod))
            else:
                (queue.backing_off if room >= begun and attempt else queue.unschedulable)[pod] = now
        if tried is None and queue.active:
            _, pod = heappop(queue.active)
            queue.attempts[pod] = queue.attempts.get(pod, 0) + 1
            tried = pod, now
    return Outcome(end, fmean(starts[pod] - date for pod, date in enumerate(arrivals)))


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("startup", type=Path, help="the start-up model (fidelity.py --keep leaves one)")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the real runs (%(default)s)")
    parser.add_argument("--seeds", type=int, default=20, help="how many runs of each kind (%(default)s)")
    options = parser.parse_args()
    try:
        model = read_startup(options.startup)
        reference = {workload: [real(options.data, workload, one) for one in COMPARED] for workload in WORKLOADS}
    except (StartupError, OSError) as error:
        print(f"backoff_queue: {error}", file=sys.stderr)
        return 2
    print("| workload | attempt | makespan, s | | mean wait, s | |\n|---|---|---:|---:|---:|---:|")
    for workload in WORKLOADS:
        for attempt, waits in [*((attempt, True) for attempt in ATTEMPTS), (0.0, False)]:
            outcomes = [run(model, submissions(workload), attempt, seed, waits=waits) for seed in range(options.seeds)]
            cells = [workload, f"{attempt * 1000:g} ms" + ("" if waits else ", no back-off")]
            for name in ("makespan", "waiting"):
                values = [getattr(outcome, name) for outcome in outcomes]
                goal = fmean(getattr(outcome, name) for outcome in reference[workload])
                cells += [f"{fmean(values):.1f} ± {stdev(values):.1f}", f"{fmean(values) / goal - 1:+.2%}"]
            print(f"| {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
