"""The quiescence of a policy inside this process with programs beside it, which live on the simulated clock."""

from batkube.bridge.clock_quiescence import QuiescenceOnSimulatedClock, earliest
from batkube.bridge.policy_quiescence import PolicyQuiescence


class QuiescenceOfPolicyAndPrograms:
    """The policy goes first, as a scheduler does: it decides on what is new, then the programs are told."""

    knows_timers = True
    one_by_one = True
    keeps_appointments = True

    def __init__(self, policy: PolicyQuiescence, programs: QuiescenceOnSimulatedClock) -> None:
        self._policy = policy
        self._programs = programs
        self.counts = programs.counts = policy.counts

    async def start(self) -> None:
        """Return when the programs have started up, and the policy listens."""
        await self._policy.start()
        await self._programs.start()

    async def advance(self, now: float) -> None:
        """Move the clock of the programs to ``now``; what they do then comes before the events of this date."""
        await self._programs.advance(now)

    async def wait(self) -> float:
        """Return when the policy has decided on all that the programs have done, and they rest: the present."""
        await self._policy.wait()
        while True:
            rested = await self._programs.wait()
            if not self._policy.has_news:
                return rested
            await self._policy.wait()

    async def came_back(self) -> bool:
        """Return False: the policy is never gone."""
        return False

    def next_timer(self) -> float | None:
        """Return the simulated second at which a program would wake up by itself."""
        return self._programs.next_timer()

    def next_appointment(self) -> float | None:
        """Return the simulated second at which the policy wants to decide, or a program has something to do."""
        return earliest(self._policy.next_appointment(), self._programs.next_appointment())

    def close(self) -> None:
        """Listen no more."""
        self._policy.close()
        self._programs.close()
