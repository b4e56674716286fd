"""The profile ``usage_trace``: each rank uses a part of the cores of its host, phase by phase.

``m_usage USAGE FLOPS``: so many flops on each of the cores, at least one, that the usage (0 to 1) rounds to
(``usage_trace_replayer`` in Batsim's ``jobs_execution.cpp``).
"""

import math
from collections.abc import Callable, Sequence

from batkube.batsim.topology import Host
from batkube.batsim.traces import Action, Trace
from batkube.simulator.work.replay import Player, ReplayLeaf, Work

USAGE = "m_usage"


def check(trace: Trace) -> None:
    """Raise ValueError for an action that is no ``m_usage``, or an impossible one."""
    for rank, actions in enumerate(trace.ranks):
        for action in actions:
            try:
                _parse(action)
            except ValueError as error:
                raise ValueError(f"trace: rank {rank}: {' '.join(action)}: {error}") from None


def _parse(action: Action) -> tuple[float, float]:
    if action[0] != USAGE:
        raise ValueError(f"there is no action {action[0]!r} in a usage_trace, only {USAGE}")
    if len(action) < 3:
        raise ValueError("expected a usage and flops")
    usage, flops = float(action[1]), float(action[2])
    if not 0.0 <= usage <= 1.0:
        raise ValueError(f"expected a usage from 0 to 1, not {action[1]}")
    if not (math.isfinite(flops) and flops >= 0.0):
        raise ValueError(f"expected flops, not {action[2]}")
    return usage, flops


class _UsagePlayer:
    """Plays one rank."""

    def __init__(self, host: Host, actions: Sequence[Action], work: Work, through: Callable[[], None]) -> None:
        self._host = host
        self._actions = iter(actions)
        self._work = work
        self._through = through

    def start(self) -> None:
        if self._work.stopped:
            return
        action = next(self._actions, None)
        if action is None:
            self._through()
            return
        usage, flops = _parse(action)
        # Half a core rounds up.
        cores = max(math.floor(usage * self._host.cores + 0.5), 1)
        self._work.task([self._host] * cores, [flops] * cores, [], self.start)


class UsageTraceLeaf(ReplayLeaf):
    """Replays a usage trace."""

    def player(self, rank: int, through: Callable[[], None]) -> Player:
        return _UsagePlayer(self.hosts[rank], self.actions[rank], self.work, through)
