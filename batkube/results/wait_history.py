"""The facts of a run after its end, and why its pods waited: ``waiting.Waits``, played over its records."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from batkube.results.wait_constraints import UNCONSTRAINED, Constraints, NodeFacts
from batkube.results.wait_reasons import SECOND, Stretch, Waited
from batkube.results.wait_room import requests
from batkube.results.waiting import Waits


@dataclass(frozen=True, slots=True)
class NodeState:
    """A node from a date on. Only the first one of a node must say everything; None: as before."""

    time: float
    """Simulated seconds."""
    node: str
    up: bool | None = None
    allocatable: Mapping[str, int] | None = None
    """Whole numbers of any unit, the same as the pods' requests."""
    facts: NodeFacts | None = None
    """The node's labels and taints."""


@dataclass(frozen=True, slots=True)
class PodHistory:
    """A pod and its dates, in simulated seconds; None for what did not happen."""

    pod: str
    """The pod's name, or anything that no other pod has."""
    created: float
    requests: Mapping[str, int] = field(default_factory=dict)
    node: str = ""
    bound: float | None = None
    started: float | None = None
    ended: float | None = None
    """The date at which it ended, or was taken away: its place is free."""
    job: str = ""
    gang_size: int = 1
    """The number of pods of its job, which start together."""
    gates: Sequence[tuple[float, float | None]] = ()
    """The times in which it had scheduling gates: from, to; None for ever."""
    constraints: Constraints = UNCONSTRAINED
    backs_off: bool = True
    """False if its scheduler decides whenever something changes."""


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """An attempt of the scheduler to place a pod, in vain."""

    pod: str
    time: float
    message: str


@dataclass(frozen=True, slots=True)
class History:
    """A run: its nodes over time, its pods, the attempts to place them in vain, and its end in simulated seconds."""

    nodes: Sequence[NodeState]
    pods: Sequence[PodHistory]
    attempts: Sequence[FailedAttempt]
    end: float
    exclusive: bool = False
    """True if a host takes one pod at a time."""


def classify(history: History, told: Callable[[str, Sequence[Stretch]], object] | None = None) -> dict[str, Waited]:
    """Return for each pod why it waited. ``told``: see Waits."""
    found: dict[str, Waited] = {}
    waits = Waits(found.__setitem__, exclusive=history.exclusive, told=told)
    gates = list(_gates(history.pods))
    play = _Play(history, gates, waits)
    for code in sorted(_codes(history, gates)):
        change, number = divmod(code, _MOST)
        microseconds, kind = divmod(change, _KINDS)
        waits.advance(microseconds / SECOND)
        play.change(kind, number)
    waits.finish(max(history.end, waits.now / SECOND))
    return {pod.pod: found[pod.pod] for pod in history.pods}


def timeline(history: History, pod: str) -> Sequence[Stretch]:
    """Return the stretches of one pod's wait, in order. Raises KeyError if there is no such pod."""
    found: list[Stretch] = []
    if pod not in classify(history, lambda of, told: found.extend(told) if of == pod else None):
        raise KeyError(pod)
    return found


# A change is one number, its date before its kind before its index: millions of them are sorted in little room.
_MOST = 1 << 32


class _Kind(IntEnum):
    """The kinds of changes in their order at one date: what is free is told before another takes it."""

    NODE = 0
    CREATE = 1
    GATE = 2
    LEAVE = 3
    TRY = 4
    BIND = 5
    START = 6
    LEAVE_AT_ONCE = 7


_KINDS = len(_Kind)


def _code(time: float, kind: int, number: int) -> int:
    return (round(time * SECOND) * _KINDS + kind) * _MOST + number


def _codes(history: History, gates: Sequence[tuple[float, int, bool]]) -> Iterator[int]:
    for number, state in enumerate(history.nodes):
        yield _code(state.time, _Kind.NODE, number)
    for number, (time, _, _) in enumerate(gates):
        yield _code(time, _Kind.GATE, number)
    for number, attempt in enumerate(history.attempts):
        yield _code(attempt.time, _Kind.TRY, number)
    for number, pod in enumerate(history.pods):
        yield _code(pod.created, _Kind.CREATE, number)
        if pod.bound is not None:
            yield _code(pod.bound, _Kind.BIND, number)
        if pod.started is not None:
            yield _code(pod.started, _Kind.START, number)
        if pod.ended is not None:
            at_once = pod.ended in (pod.created, pod.bound, pod.started)
            yield _code(pod.ended, _Kind.LEAVE_AT_ONCE if at_once else _Kind.LEAVE, number)


def _gates(pods: Sequence[PodHistory]) -> Iterator[tuple[float, int, bool]]:
    """Yield the dates at which pods get or lose their gates: date, number of the pod, gated."""
    for number, pod in enumerate(pods):
        for begin, end in pod.gates:
            yield max(begin, pod.created), number, True
            if end is not None:
                yield max(end, pod.created), number, False


class _Play:
    """Tells ``waits`` one change after the other."""

    def __init__(self, history: History, gates: Sequence[tuple[float, int, bool]], waits: Waits) -> None:
        self._history = history
        self._gates = gates
        self._waits = waits
        self._attempts: dict[str, int] = {}
        """The attempts in vain so far, by pod."""

    def change(self, kind: int, number: int) -> None:
        """Tell a change."""
        waits, history = self._waits, self._history
        match kind:
            case _Kind.NODE:
                state = history.nodes[number]
                waits.room.set_node(
                    waits.now, state.node, up=state.up, facts=state.facts, allocatable=state.allocatable
                )
            case _Kind.CREATE:
                self._create(history.pods[number])
            case _Kind.GATE:
                _, pod, gated = self._gates[number]
                waits.gate(history.pods[pod].pod, gated)
            case _Kind.TRY:
                attempt = history.attempts[number]
                number = self._attempts[attempt.pod] = self._attempts.get(attempt.pod, 0) + 1
                waits.tried(attempt.pod, attempt.message, number)
            case _Kind.BIND:
                waits.bind(history.pods[number].pod, history.pods[number].node)
            case _Kind.START:
                waits.start(history.pods[number].pod)
            case _:
                waits.remove(history.pods[number].pod)

    def _create(self, pod: PodHistory) -> None:
        self._waits.create(
            pod.pod,
            requests(pod.requests),
            constraints=pod.constraints,
            gang=pod.job,
            gang_size=pod.gang_size,
            backs_off=pod.backs_off,
        )
