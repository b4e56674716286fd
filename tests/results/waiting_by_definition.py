"""The table of ``batkube.results.waiting`` taken at its word: slow, for each pod and each instant, without books."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from batkube.results.wait_constraints import NodeFacts, refusing
from batkube.results.wait_history import History, PodHistory
from batkube.results.wait_reasons import SECOND, Reason
from batkube.results.wait_words import FILTERS, Kind, parse

Answer = tuple[Reason, str]
"""A reason, and for ``constraints`` the plugin."""


def _us(time: float) -> int:
    return round(time * SECOND)


@dataclass
class _Node:
    up: bool
    allocatable: dict[str, int]
    facts: NodeFacts


class Definition:
    """The reasons of the pods of a history."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.dates = sorted(set(self._dates()))

    def _dates(self) -> Iterable[int]:
        yield _us(self.history.end)
        for state in self.history.nodes:
            yield _us(state.time)
        for attempt in self.history.attempts:
            yield _us(attempt.time)
        for pod in self.history.pods:
            yield from (_us(time) for time in (pod.created, pod.bound, pod.started, pod.ended) if time is not None)
            yield from (_us(time) for gate in pod.gates for time in gate if time is not None)

    def wait(self, pod: PodHistory) -> tuple[dict[Reason, int], dict[str, int]]:
        """Return the microseconds by reason, and those of ``constraints`` by plugin."""
        over = min(time for time in (pod.started, pod.ended, self.history.end) if time is not None)
        reasons: dict[Reason, int] = {}
        plugins: dict[str, int] = {}
        dates = [date for date in self.dates if _us(pod.created) <= date <= _us(over)]
        for date, following in pairwise(dates):
            reason, plugin = self.reason(pod, date)
            reasons[reason] = reasons.get(reason, 0) + following - date
            if plugin:
                plugins[plugin] = plugins.get(plugin, 0) + following - date
        return reasons, plugins

    def reason(self, pod: PodHistory, now: int) -> Answer:
        """Return why the pod waits from a date until the next."""
        said = [attempt for attempt in self.history.attempts if attempt.pod == pod.pod and _us(attempt.time) <= now]
        said = [attempt for attempt in said if pod.bound is None or attempt.time <= pod.bound]
        bound = pod.bound is not None and _us(pod.bound) <= now
        if any(_us(begin) <= now and (end is None or now < _us(end)) for begin, end in pod.gates):
            return Reason.GATES, ""
        words = parse(said[-1].message) if said else None
        if bound:
            whole = len(self.bound_of(pod, now)) == pod.gang_size
            return (Reason.STARTUP if whole else Reason.GANG), ""
        if words is not None and words.has(Kind.GATE):
            return Reason.GATES, ""
        answer = self.place(pod, now, now)
        if answer is not None:
            return answer
        if words is None:
            return Reason.QUEUE_ORDER, ""
        tried = _us(said[-1].time)
        later = Reason.BACK_OFF if pod.backs_off else Reason.QUEUE_ORDER
        if words.has(Kind.GANG):
            return Reason.GANG, ""
        was_free = self.place(pod, tried, tried) is None
        if was_free and (rule := words.constraint) is not None:
            again = [one for one in self.history.attempts if one.pod == pod.pod and _us(one.time) > tried]
            if pod.bound is not None:
                again = [one for one in again if one.time <= pod.bound]
            return (Reason.CONSTRAINTS, rule.plugin) if again or now < self.helped(pod, tried) else (later, "")
        between = [date for date in self.dates if tried <= date <= now]
        before = [date for date in self.dates if date < tried]
        free = all(self.place(pod, date, date) is None for date in between)
        free_before = bool(before) and self.place(pod, before[-1], tried) is None
        return (Reason.QUEUE_ORDER if free and free_before else later), ""

    def helped(self, pod: PodHistory, tried: int) -> int:
        """Return since when the rule no longer held."""
        if pod.bound is None:
            return 1 << 62
        bound = _us(pod.bound)
        freed = [date for date, node in self.freed() if node == pod.node and tried < date <= bound]
        if freed:
            return max(freed)
        changes = [date for date, _ in self.freed()]
        changes += [_us(one.bound) for one in self.history.pods if one.bound is not None and one is not pod]
        later = [date for date in changes if tried < date <= bound]
        return max(later, default=bound)

    def freed(self) -> list[tuple[int, str]]:
        """Return when nodes got more room, or other rules."""
        dates = [(_us(state.time), state.node) for state in self.history.nodes]
        return dates + [
            (_us(pod.ended), pod.node) for pod in self.history.pods if pod.ended is not None and pod.bound is not None
        ]

    def bound_of(self, pod: PodHistory, now: int) -> list[PodHistory]:
        """Return the pods of its gang that have a node."""
        return [
            one
            for one in self.history.pods
            if (one is pod or (pod.gang_size > 1 and one.job == pod.job))
            and one.bound is not None
            and _us(one.bound) <= now
            and (one.started is not None or one.ended is None or now < _us(one.ended))
        ]

    def place(self, pod: PodHistory, now: int, needed_at: int) -> Answer | None:
        """Return why the pod, if its gang needs what it needs at a date, has no place; None if it has one."""
        need = max(pod.gang_size - len(self.bound_of(pod, needed_at)), 1)
        nodes = self.nodes(now)
        free: dict[str, dict[str, int]] = {}
        for name, node in nodes.items():
            on_it = [
                one
                for one in self.history.pods
                if one.node == name
                and one.bound is not None
                and _us(one.bound) <= now
                and (one.ended is None or now < _us(one.ended))
            ]
            if not node.up or (self.history.exclusive and on_it):
                continue
            free[name] = {
                resource: amount - sum(one.requests.get(resource, 0) for one in on_it)
                for resource, amount in node.allocatable.items()
            }
        rooms, forbidden = 0, dict.fromkeys(FILTERS, 0)
        for name, left in free.items():
            room = min(left.get(resource, 0) // amount for resource, amount in pod.requests.items() if amount)
            if room <= 0:
                continue
            plugin = refusing(pod.constraints, nodes[name].facts)
            if plugin is None:
                rooms += 1 if self.history.exclusive else room
            else:
                forbidden[plugin] += 1
        for resource, amount in pod.requests.items():
            if sum(max(left.get(resource, 0), 0) for left in free.values()) < amount:
                return Reason.NO_CAPACITY, ""
        if rooms:
            return (Reason.GANG, "") if rooms < need else None
        most = max(FILTERS, key=lambda plugin: forbidden[plugin])
        return (Reason.CONSTRAINTS, most) if forbidden[most] else (Reason.FRAGMENTATION, "")

    def nodes(self, now: int) -> dict[str, _Node]:
        """Return the nodes at a date."""
        nodes: dict[str, _Node] = {}
        for state in self.history.nodes:
            if _us(state.time) > now:
                continue
            node = nodes.setdefault(state.node, _Node(True, {}, NodeFacts(state.node)))
            node.up = node.up if state.up is None else state.up
            node.allocatable = dict(state.allocatable) if state.allocatable is not None else node.allocatable
            node.facts = state.facts or node.facts
        return nodes
