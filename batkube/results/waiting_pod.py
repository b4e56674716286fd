"""A pod that waits: what is known of it, the time that it spent for each reason, and the stretches of its wait."""

from dataclasses import dataclass, field

from batkube.results.wait_constraints import Constraints
from batkube.results.wait_line import FORBIDDEN, FRAGMENTATION, FREE, GANG, NO_CAPACITY, STATES, Line
from batkube.results.wait_reasons import REASONS, Cause, Reason, Stretches
from batkube.results.wait_room import Requests
from batkube.results.wait_words import OF_THE_POD_ALONE, PHRASES, Refusal, Words

NUMBER = {reason: index for index, reason in enumerate(REASONS)}
OF_STATE = {NO_CAPACITY: Reason.NO_CAPACITY, FRAGMENTATION: Reason.FRAGMENTATION, GANG: Reason.GANG}


@dataclass(slots=True, eq=False)
class Gang:
    """The pods of a job that start together."""

    size: int
    pods: dict[str, "WaitingPod"] = field(default_factory=dict)
    """The pods that still wait, by name."""
    bound: int = 0

    @property
    def need(self) -> int:
        """The number of places that it still needs at once."""
        return max(self.size - self.bound, 1)


@dataclass(slots=True, eq=False)
class WaitingPod:
    """A pod that waits."""

    key: str
    wanted: Requests
    constraints: Constraints
    backs_off: bool
    gated: bool
    since: int
    """The date until which its time is counted."""
    gang: Gang | None = None
    gang_name: str = ""
    node: str | None = None
    over: bool = False
    line: Line | None = None
    """The line in which it waits for a place."""
    spent: tuple[int, ...] = ()
    """``line.at(since)``."""
    fixed: Reason | None = None
    """The reason while it is in no line."""
    free_as: Reason = Reason.QUEUE_ORDER
    """The reason while its line is free."""
    rule: Refusal | None = None
    """The rule that refused it, while that may be the reason."""
    ruled: list[tuple[int, int]] = field(default_factory=list)
    """Times with a free place for which it is not known yet whether the rule still held."""
    tried: int = -1
    words: Words | None = None
    said: Words | None = None
    """The scheduler's words on it at the present date."""
    attempt: int = 0
    """The number of the attempt in vain to which ``words`` belong."""
    said_at: int = 0
    """The time to which ``said`` belongs."""
    gains: list[int] = field(default_factory=lambda: [0] * len(REASONS))
    plugins: dict[str, int] | None = None
    stretches: Stretches | None = None


def forbid(pod: WaitingPod, plugin: str, time: int) -> None:
    """Count time for which a plugin's rule kept the pod away."""
    if pod.plugins is None:
        pod.plugins = {}
    pod.plugins[plugin] = pod.plugins.get(plugin, 0) + time
    pod.gains[NUMBER[Reason.CONSTRAINTS]] += time


def note(pod: WaitingPod, stretches: Stretches, line: Line, spent: tuple[int, ...], begin: int, end: int) -> None:
    """Note the stretches of the time in a line. ``spent``: the time in each of its states until ``begin``."""
    causes = [_cause(pod, state) for state in range(STATES)]
    kept = line.kept_since
    if begin < kept:
        for state, (until, before) in enumerate(zip(line.before, spent, strict=True)):
            if until > before:
                stretches.note(begin, kept, causes[state], until - before)
        begin = kept
    if begin == end:
        return
    dates, states = line.states(begin, end)
    if causes[FREE] != causes[GANG]:
        stretches.extend(dates, [causes[state] for state in states])
        return
    for since, until, state in zip(dates, dates[1:], states, strict=False):
        stretches.note(since, until, causes[state])


def _cause(pod: WaitingPod, state: int) -> Cause:
    """Return why the pod waits while its line is in a state."""
    if state in OF_STATE:
        return Cause(OF_STATE[state], attempt=pod.attempt)
    if state != FREE:
        plugin = OF_THE_POD_ALONE[state - FORBIDDEN]
        return Cause(Reason.CONSTRAINTS, plugin, PHRASES[plugin], pod.attempt)
    if pod.rule is not None:
        return Cause(None, pod.rule.plugin, pod.rule.phrase, pod.attempt)
    return Cause(pod.free_as, attempt=pod.attempt)
