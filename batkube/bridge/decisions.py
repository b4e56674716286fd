"""The decisions that Batsim is sent with the next reply, in an order and at dates that it accepts."""

import math
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.jobs import JobDescription
from batkube.bridge.live_table import LiveTable
from batkube.bridge.time import SimulatedTime, whole_microseconds

SOONEST = 1e-3
"""The nearest stop, in simulated seconds: nearer stops are put off. Stops lie on whole multiples of it, too.

The exact date at which a timer of a scheduler is due differs from run to run by nanoseconds; rounded up it is the same
each time.
"""
STANDING = 8
"""Messages that Batsim's own parts may have under way besides those of jobs and calls: submitters, external events."""
UNKNOWN_CONTROL_LATENCY = 0.01
"""Simulated seconds for a message, if the platform is not known: more than those of most clusters."""

_ONE_MICROSECOND = 1e-6

Decision = (
    m.ExecuteJob
    | m.RejectJob
    | m.KillJob
    | m.Notify
    | m.CallMeLater
    | m.SetResourceState
    | m.RegisterProfile
    | m.RegisterJob
)


class Decisions:
    """Gathers decisions between two replies, and the calls that Batsim has been asked for.

    ``control_latency``: the simulated seconds that a message between Batsim's own parts takes at most. Batsim's server
    handles the messages one after the other, each decision of a reply among them. It is 0 for a simulator that takes no
    time for messages.
    """

    def __init__(self, time: SimulatedTime, control_latency: float = 0.0) -> None:
        self.table = LiveTable()
        self.calls: list[float] = []
        """The dates for which Batsim was asked to call."""
        self._time = time
        self._latency = control_latency
        self._look: float | None = None
        """A date for which Batsim was asked to call though nothing of ours is due then."""
        self._told = 0.0
        self._handled = 0.0
        """The date when all decisions of earlier replies are handled: several replies may answer messages of
        one date."""
        self._owed: list[Decision] = []
        self._checked = 0
        """The number of these that the table knows already."""
        self._new_calls: list[Decision] = []

    @property
    def at_once(self) -> bool:
        """True if decisions take effect at their dates: messages take no time."""
        return not self._latency

    def told(self, now: float) -> None:
        """Note that the next reply answers a message of this date."""
        self._told = max(self._told, now)
        if self._look is not None and self._look <= now + _ONE_MICROSECOND:
            self._look = None
        if self.calls:
            self.calls = [date for date in self.calls if date > now + _ONE_MICROSECOND]

    @property
    def handled_by(self) -> float:
        """The date by which Batsim has handled, at the latest, what is decided now.

        The other messages of Batsim's parts may come in between: each running job may end, each call may come.
        """
        under_way = len(self._owed) + 1 + 2 * (self.table.running + len(self.calls) + STANDING)
        return max(self._time.now, self._told, self._handled) + under_way * self._latency

    def execute(self, data: m.ExecuteJobData) -> None:
        """Start a job."""
        self._owed.append(m.ExecuteJob(timestamp=self._time.now, data=data))

    def register(self, job_id: str, description: JobDescription, profile: dict[str, Any]) -> None:
        """Add a job, with a profile of its own: Batsim forgets a profile when a job that uses it has ended."""
        now, workload = self._time.now, job_id.partition("!")[0]
        named = m.RegisterProfileData(workload_name=workload, profile_name=description.profile, profile=profile)
        job: dict[str, Any] = {
            "id": job_id,
            "subtime": description.subtime,
            "res": description.res,
            "profile": description.profile,
        }
        if description.walltime is not None:
            job["walltime"] = description.walltime
        self._owed.append(m.RegisterProfile(timestamp=now, data=named))
        self._owed.append(m.RegisterJob(timestamp=now, data=m.RegisterJobData(job_id=job_id, job=job)))

    def reject(self, job_id: str) -> None:
        """Reject a job, which then never runs."""
        self._owed.append(m.RejectJob(timestamp=self._time.now, data=m.RejectJobData(job_id=job_id)))

    def kill(self, job_id: str) -> None:
        """Kill a job that runs."""
        self._owed.append(m.KillJob(timestamp=self._time.now, data=m.KillJobData(job_ids=[job_id])))

    def close_host(self, number: int, why: str) -> None:
        """Let the host take no job from now on. What was decided by now has gone before."""
        self._check()
        self.table.close_host(number, why)

    def finish_registration(self) -> None:
        """Say that no more jobs will be registered; without this Batsim waits for some for ever."""
        data = m.NotifyData(type="registration_finished")
        self._owed.append(m.Notify(timestamp=self._time.now, data=data))

    def set_resource_state(self, hosts: str, pstate: int) -> None:
        """Switch hosts (an interval set) to a pstate."""
        data = m.ResourceStateData(resources=hosts, state=str(pstate))
        self._owed.append(m.SetResourceState(timestamp=self._time.now, data=data))

    def call_later(self, date: float) -> None:
        """Let Batsim call at ``date``, unless it will by then.

        The call is later if Batsim may not have handled the request by ``date``: a call in the past makes it abort.
        """
        date = self._soonest_from(date)
        if any(call <= date for call in self.calls):
            return
        self.calls.append(date)
        self._ask_for(date)

    def look_at(self, date: float) -> None:
        """Let Batsim call at ``date`` only so that the actions of users until then get that date.

        Batsim is not asked if it calls before. The call is none of ``calls``, as nothing is expected to come of it.
        """
        date = self._soonest_from(date)
        if self._look is None and not any(call <= date for call in self.calls):
            self._look = date
            self._ask_for(date)

    def is_look(self, message: m.Message) -> bool:
        """Tell whether a message, which is not told yet, is only a call that ``look_at`` has asked for."""
        by = message.now + _ONE_MICROSECOND
        return (
            self._look is not None
            and self._look <= by
            and not any(call <= by for call in self.calls)
            and all(isinstance(event, m.RequestedCall) for event in message.events)
        )

    def _check(self) -> None:
        """Note the decisions made by now. Raises InvariantBroken for one on which Batsim would abort."""
        for decision in self._owed[self._checked :]:
            self.table.check(decision)
        self._checked = len(self._owed)

    def _soonest_from(self, date: float) -> float:
        if self._latency:
            soonest = self.handled_by + SOONEST
            date = max(date, round(math.ceil(round(soonest / SOONEST, 6)) * SOONEST, 6))
        return whole_microseconds(date)

    def _ask_for(self, date: float) -> None:
        # The call is dated at the message and sent first, so that no other decision of the reply delays it.
        self._new_calls.append(m.CallMeLater(timestamp=self._told, data=m.CallMeLaterData(timestamp=date)))

    def reply(self) -> m.Message:
        """Return all decisions since the last reply.

        Raises InvariantBroken for a decision on which Batsim would abort.
        """
        self._check()
        decisions = [*self._new_calls, *self._owed]
        self._new_calls, self._owed, self._checked = [], [], 0
        self._handled = max(self._handled, self._told) + len(decisions) * self._latency
        return m.Message(now=max(self._time.now, self._told), events=[*decisions])
