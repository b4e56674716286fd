"""The part of ``run.json`` on a run that is over: how it ended, why another one may differ, what it took."""

import time
from collections.abc import Mapping

from batkube.batsim.outputs import MachineTotals
from batkube.bridge.quiescence import Quiescence
from batkube.bridge.simulation import Simulation
from batkube.clock.pace import Pace
from batkube.kube.server import ApiServer
from batkube.results.run import DecisionTime, PaceKept, Run, SchedulerUse
from batkube.session.process_use import ProcessUse


def conclude(
    run: Run, simulation: Simulation, quiescence: Quiescence, server: ApiServer, pace: Pace, began: float
) -> None:
    """Note what is known without the records of jobs. ``began``: by ``time.monotonic``."""
    run.simulated_seconds = simulation.time.now
    run.requeued = simulation.requeue.account
    run.unserved = simulation.submissions.unserved
    run.warnings = simulation.warnings
    run.quiescence = quiescence.counts
    run.not_repeatable += _not_repeatable(run, server, simulation)
    reactions = simulation.reactions
    run.decision_time = DecisionTime(
        model=reactions.model,
        reactions=reactions.count,
        total=round(reactions.total, 6),
        longest=round(reactions.longest, 6),
    )
    run.pace = PaceKept(factor=pace.factor, behind=round(pace.most_behind, 3))
    run.wall_seconds = round(time.monotonic() - began, 3)
    run.rejected = dict(simulation.control.rejections)


def note_use(run: Run, counted: Mapping[tuple[str, str], int], process: ProcessUse | None) -> None:
    """Note what the scheduler took. ``counted``: the requests of all clients. ``process``: None for one not ours."""
    requests: dict[str, dict[str, int]] = {}
    for (verb, resource), count in sorted(counted.items()):
        requests.setdefault(verb, {})[resource] = count
    run.scheduler_use = SchedulerUse(
        cpu_seconds=None if process is None else round(process.cpu_seconds, 2),
        peak_memory=None if process is None else process.peak_memory,
        requests=requests,
        attempts=run.figures.attempts if run.figures else 0,
        simulated_seconds_per_second=round(run.simulated_seconds / run.wall_seconds, 3) if run.wall_seconds else None,
    )


def consumed(totals: MachineTotals | None) -> float | None:
    """Return the joules that the simulator's own file has."""
    return totals.consumed_joules if totals is not None else None


def _not_repeatable(run: Run, server: ApiServer, simulation: Simulation) -> list[str]:
    counts, turns, deeds = run.quiescence, server.turns, simulation.deeds
    reasons = [
        (counts.metrics, f"quiescence was told by metrics {counts.metrics} times"),
        (counts.quiet_period, f"quiescence was assumed after silence {counts.quiet_period} times"),
        (counts.lost, f"the scheduler was gone {counts.lost} times"),
        (counts.nudges, f"the scheduler's clock had to be nudged on {counts.nudges} times"),
        (turns.together, f"events were told at once {turns.together} times (--determinism fast)"),
        (
            deeds.requests,
            f"others than the scheduler sent {deeds.requests} requests that write (events.jsonl has them)",
        ),
        (deeds.clock, f"a user controlled the clock {deeds.clock} times (events.jsonl has how)"),
        (run.status == "interrupted", "the user interrupted it"),
    ]
    return [reason for holds, reason in reasons if holds]
