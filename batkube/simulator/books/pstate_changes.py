"""The decisions that changed pstates, and the rows of ``pstate_changes.csv``."""

from collections.abc import Iterable, Sequence

from batkube.batsim.allocation import format_intervals
from batkube.batsim.power import PstateKind
from batkube.simulator.time.clock import Clock

TO_COMPUTATION, TO_SLEEP, TO_OTHER = -1, -2, -42
"""The numbers in the file for hosts on the way to a pstate of a kind."""
_ON_THE_WAY = {PstateKind.COMPUTATION: TO_COMPUTATION, PstateKind.SLEEP: TO_SLEEP, PstateKind.TRANSITION: TO_OTHER}


class PstateChanges:
    """Counts decisions, and notes when hosts leave a pstate and come to another. ``pstates``: the first, by host."""

    def __init__(self, clock: Clock, pstates: Iterable[int]) -> None:
        self._clock = clock
        self.grouped = 0
        self.machines = 0
        """The number of decisions, and of their hosts in all."""
        self.rows: list[tuple[int, str, int]] = []
        """Date, hosts, pstate."""
        by_pstate: dict[int, list[int]] = {}
        for number, pstate in enumerate(pstates):
            by_pstate.setdefault(pstate, []).append(number)
        for pstate, hosts in sorted(by_pstate.items()):
            self._note(hosts, pstate)

    def _note(self, hosts: Sequence[int], pstate: int) -> None:
        self.rows.append((self._clock.now, format_intervals(hosts), pstate))

    def decided(self, hosts: Sequence[int], kind: PstateKind) -> None:
        """Note that the hosts of a decision are on the way to a pstate of this kind."""
        self._note(hosts, _ON_THE_WAY[kind])
        self.grouped += 1
        self.machines += len(hosts)

    def done(self, hosts: Sequence[int], pstate: int) -> None:
        """Note that all hosts of a decision have come to their pstate."""
        self._note(hosts, pstate)
