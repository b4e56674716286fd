"""The reasons for which pods waited: for every instant of a wait exactly one, so that they sum to the wait.

A wait lasts from the pod's creation until its process starts, or until it is taken away, or the run ends. At every
instant the first line of this table that holds gives the reason:

| reason | holds while the pod ... |
|---|---|
| ``gates`` | has scheduling gates, or its scheduler last said that a quota or a suspension keeps it |
| ``startup`` | has its node, as all pods of its job have, and its process has not started |
| ``gang`` | has its node, and others of its job have not |
| ``no_capacity`` | asks for more of some resource than is free on all nodes that are up, together |
| ``fragmentation`` | asks for no more than that, and no node that is up has room for it |
| ``constraints`` | would fit on nodes that are up, and a rule on pod and node forbids each of them |
| ``gang`` | would find a place, but not as many as its job still needs at once; or its scheduler last said so |
| ``constraints`` | has a place free by all this, and was refused by a rule that only the scheduler knows (see below) |
| ``back_off`` | has a place free, which became free after it was last tried in vain |
| ``queue_order`` | has a place free: it was not tried yet, or others go first |

A place is a node that is up, has as much left as the pod asks for (on exclusive hosts: has no pod), and that cordons,
taints, node selector and node affinity allow. Where several of those rules forbid nodes with room, the one that forbids
most of them has the time; among equals the one that kube-scheduler asks first.

Rules on other pods, volumes, ports or devices are known from the scheduler's words alone. If it refused a pod by such
a rule, though a place was free, that holds until it tries the pod again. If it then binds the pod, the rule held until
the pod's node last changed for the better; if that node did not, until the last change of the cluster. The rest is
``back_off``.

A scheduler without back-off (a policy inside batkube) decides whenever something changes: for its pods what would be
``back_off`` is ``queue_order``. Words that are not known change nothing. All that happens at one date is one change: an
attempt counts as made before what became free at its date. Dates are counted in microseconds, as Batsim prints them.

The stretches of a wait are told with their dates as soon as they are known. Where reasons take turns so often that it
would fill a disk (see ``KEPT``), the earlier turns are summed up: stretches of the same dates, one a reason.
"""

from collections.abc import Callable, Collection, Sequence

from batkube.results.wait_constraints import UNCONSTRAINED, Constraints
from batkube.results.wait_line import FORBIDDEN, FRAGMENTATION, FREE, GANG, NO_CAPACITY, Line
from batkube.results.wait_reasons import NO_WAIT, SECOND, Cause, Reason, Stretch, Stretches, Waited
from batkube.results.wait_room import Requests, Room
from batkube.results.wait_words import OF_THE_POD_ALONE, Kind, Words, parse
from batkube.results.waiting_pod import NUMBER, OF_STATE, Gang, WaitingPod, forbid, note

KEPT = 500
"""The latest changes of what equal pods wait for that are told one by one, at least; up to twice as many are."""
FEW_KEPT = 8
"""The same where that would be too much to write: more stretches than PLENTY and MEAN for each wait that is over."""
PLENTY = 200_000
MEAN = 20


class Waits:
    """Follows the pods of a run, date by date, and tells of each why it waited.

    ``waited`` is called when a wait is over, with the pod's key; ``told``, if it is given, before that with some of its
    stretches at a time, in order of their dates. ``exclusive``: see Room.

    The changes must come in order of their dates (simulated seconds). Each costs the same however many pods wait, but
    for the number of different shapes of pods that it concerns.
    """

    def __init__(
        self,
        waited: Callable[[str, Waited], object],
        *,
        exclusive: bool,
        told: Callable[[str, Sequence[Stretch]], object] | None = None,
    ) -> None:
        self.room = Room(exclusive=exclusive)
        self.now = 0
        """The present date in microseconds."""
        self._waited = waited
        self._told = told
        self._to_spare = PLENTY
        """The stretches that may be told beyond those of waits to come."""
        self._pods: dict[str, WaitingPod] = {}
        self._gangs: dict[str, Gang] = {}
        self._changed: dict[WaitingPod, None] = {}
        """The pods of which something happened at the present date."""
        self._changed_gangs: dict[Gang, None] = {}

    # Changes

    def advance(self, time: float) -> None:
        """Go on to a date."""
        now = round(time * SECOND)
        if now > self.now:
            self.close()
            self.now = now

    def create(
        self,
        key: str,
        wanted: Requests,
        *,
        constraints: Constraints = UNCONSTRAINED,
        gang: str = "",
        gang_size: int = 1,
        gated: bool = False,
        backs_off: bool = True,
    ) -> None:
        """Note a new pod. ``gang``: the name of its gang, if that has more pods. ``backs_off``: see above."""
        if key in self._pods:  # it is the next one of this name
            self.close()
        pod = self._pods[key] = WaitingPod(key, wanted, constraints, backs_off, gated, self.now)
        if self._told is not None:
            pod.stretches = Stretches()
        if gang_size > 1:
            pod.gang_name = gang
            pod.gang = self._gangs.get(gang)
            if pod.gang is None:
                pod.gang = self._gangs[gang] = Gang(gang_size)
            pod.gang.pods[key] = pod
        self._changed[pod] = None

    def gate(self, key: str, gated: bool) -> None:
        """Note that the pod has scheduling gates, or has none any more."""
        if pod := self._pods.get(key):
            pod.gated = gated
            self._changed[pod] = None

    def tried(self, key: str, message: str, attempt: int = 0) -> None:
        """Note that the scheduler could not place the pod, and said so. ``attempt``: the number of it, from 1."""
        pod = self._pods.get(key)
        if pod is not None and pod.node is None:
            pod.said, pod.said_at = parse(message), attempt
            self._changed[pod] = None

    def bind(self, key: str, node: str, wanted: Requests = ()) -> None:
        """Note that the pod has its node. ``wanted``: the requests of a pod that was not created here."""
        pod = self._pods.get(key)
        self.room.take(key, node, pod.wanted if pod else wanted)
        if pod is not None and pod.node is None:
            pod.node = node
            self._changed[pod] = None
            if pod.gang is not None:
                pod.gang.bound += 1
                self._changed_gangs[pod.gang] = None

    def start(self, key: str) -> None:
        """Note that the pod's process starts: it waits no more."""
        if pod := self._pods.get(key):
            self._end(pod)

    def remove(self, key: str) -> None:
        """Note that the pod has ended, or was taken away: its place is free, and it waits no more."""
        self.room.release(self.now, key)
        pod = self._pods.get(key)
        if pod is None or pod.over:
            return
        if pod.gang is not None and pod.node is not None:
            pod.gang.bound -= 1
            self._changed_gangs[pod.gang] = None
        self._end(pod)

    def finish(self, time: float) -> None:
        """End the waits of all pods: the run is over."""
        self.advance(time)
        for pod in self._pods.values():
            self._end(pod)
        self.close()

    def _end(self, pod: WaitingPod) -> None:
        pod.over = True
        self._changed[pod] = None

    # The end of a date

    def close(self) -> None:
        """Take in all that has happened until now. What comes later at the same date is one more change."""
        now = self.now
        changes, before = self.room.changes, self.room.last_change
        lines = self.room.close(now)
        for gang in self._changed_gangs:
            self._changed.update(dict.fromkeys(gang.pods.values()))
        self._changed_gangs.clear()
        changed, self._changed = self._changed, {}
        for line in lines:
            state = line.shape.state(line.need, self.room.total)
            if state != line.state:
                self._turn(line, now, state, changed)
        for pod in changed:
            if pod.fixed is not None or pod.line is not None:
                self._count(pod, now, before, changes)
            if pod.over:
                self._tell(pod)
            else:
                self._place(pod, now)

    def _turn(self, line: Line, now: int, state: int, changed: Collection[WaitingPod]) -> None:
        """Change the state of a line. Pods that were tried while there was room have to be tried again."""
        for pod in [pod for pod in line.tried if pod not in changed]:
            assert isinstance(pod, WaitingPod)
            self._count(pod, now)
            pod.free_as = Reason.BACK_OFF
            del line.tried[pod]
        line.turn(now, state, KEPT if self._to_spare > 0 else FEW_KEPT)

    def _place(self, pod: WaitingPod, now: int) -> None:
        """Find out what the pod waits for from now on."""
        said, pod.said = pod.said, None
        if said is not None:
            pod.words, pod.tried, pod.attempt = said, now, pod.said_at
        gang = pod.gang
        pod.fixed = None
        if pod.gated or (pod.node is None and pod.words is not None and pod.words.has(Kind.GATE)):
            pod.fixed = Reason.GATES
        elif pod.node is not None:
            pod.fixed = Reason.GANG if gang is not None and gang.bound < gang.size else Reason.STARTUP
        need = gang.need if gang is not None else 1
        line = pod.line
        tried = line is not None and pod in line.tried
        if line is not None and (pod.fixed is not None or line.need != need):
            self._leave(pod, line)
            line = None
        if pod.fixed is not None:
            return
        if line is None:
            line = pod.line = self.room.line(now, pod.wanted, pod.constraints, need)
        if pod.rule is not None:
            line.hold(pod, now)
        pod.spent = line.at(now)
        if said is not None:
            self._refused(pod, line, said, now)
        elif tried and line.state == FREE:
            line.tried[pod] = None
        elif tried:
            line.tried.pop(pod, None)
            pod.free_as = Reason.BACK_OFF

    def _leave(self, pod: WaitingPod, line: Line) -> None:
        line.tried.pop(pod, None)
        line.let_go(pod)
        self.room.leave(line)
        pod.line = None

    def _refused(self, pod: WaitingPod, line: Line, said: Words, now: int) -> None:
        """Find out what time with a free place will be, until the pod is tried again."""
        line.tried.pop(pod, None)
        line.let_go(pod)
        pod.rule = None
        free = line.state == FREE
        rule = said.constraint
        pod.free_as = Reason.BACK_OFF if pod.backs_off else Reason.QUEUE_ORDER
        if said.has(Kind.GANG):
            pod.free_as = Reason.GANG
        elif rule is not None and free:
            pod.rule = rule
            line.hold(pod, now)
        elif free and line.free_since < now and pod.backs_off:
            pod.free_as = Reason.QUEUE_ORDER
            line.tried[pod] = None

    # Time

    def _count(self, pod: WaitingPod, now: int, before: int = -1, changes: int = 0) -> None:
        """Count the time since it was last counted. ``before``, ``changes``: the cluster's, for the end of a rule."""
        begin, pod.since = pod.since, now
        line = pod.line
        if line is None:
            assert pod.fixed is not None
            if now > begin:
                pod.gains[NUMBER[pod.fixed]] += now - begin
                if pod.stretches is not None:
                    attempt = pod.attempt if pod.fixed is Reason.GATES else 0
                    pod.stretches.note(begin, now, Cause(pod.fixed, attempt=attempt))
                    self._tell_stretches(pod)
            return
        spent, pod.spent = pod.spent, line.at(now)
        if now > begin:
            gains = pod.gains
            for state in (NO_CAPACITY, FRAGMENTATION, GANG):
                gains[NUMBER[OF_STATE[state]]] += pod.spent[state] - spent[state]
            for index, plugin in enumerate(OF_THE_POD_ALONE, FORBIDDEN):
                if time := pod.spent[index] - spent[index]:
                    forbid(pod, plugin, time)
            if pod.rule is not None:
                dates, states = line.states(begin, now)
                spans = zip(dates, dates[1:], states, strict=False)
                pod.ruled += [(since, until) for since, until, state in spans if state == FREE]
            else:
                gains[NUMBER[pod.free_as]] += pod.spent[FREE] - spent[FREE]
            if pod.stretches is not None:
                note(pod, pod.stretches, line, spent, begin, now)
        if pod.ruled and (pod.said is not None or pod.over or pod.node is not None):
            bound = pod.said is None and pod.node is not None
            self._split(pod, self._helped(pod, now, before, changes) if bound else now)
        if now > begin and pod.stretches is not None:
            self._tell_stretches(pod)

    def _split(self, pod: WaitingPod, held: int) -> None:
        """Share out the time for which a rule may have held: it did until ``held``."""
        for begin, end in pod.ruled:
            middle = min(max(held, begin), end)
            if middle > begin:
                assert pod.rule is not None
                forbid(pod, pod.rule.plugin, middle - begin)
            pod.gains[NUMBER[pod.free_as]] += end - middle
        if pod.stretches is not None:
            pod.stretches.settle(held, pod.free_as)
        pod.ruled.clear()

    def _helped(self, pod: WaitingPod, now: int, before: int, changes: int) -> int:
        """Return since when, as far as can be known, the rule that had kept the pod away no longer did."""
        freed = self.room.freed.get(pod.node or "", -1)
        if freed > pod.tried:
            return freed
        if changes > 1 or before <= pod.tried:  # the pod's own binding is one change
            return now
        return before

    def _tell_stretches(self, pod: WaitingPod, *, over: bool = False) -> None:
        """Tell what will not change any more, so that nobody has to keep it."""
        if self._told is None or pod.stretches is None:
            return
        stretches = pod.stretches.take(over=over)
        if stretches:
            self._told(pod.key, stretches)
        self._to_spare += MEAN * over - len(stretches)

    def _tell(self, pod: WaitingPod) -> None:
        """Report a wait that is over, and forget the pod."""
        if pod.line is not None:
            self._leave(pod, pod.line)
        del self._pods[pod.key]
        gang = pod.gang
        if gang is not None:
            del gang.pods[pod.key]
            if not gang.pods:
                self._gangs.pop(pod.gang_name, None)
        if not any(pod.gains):
            self._waited(pod.key, NO_WAIT)
            return
        self._tell_stretches(pod, over=True)
        self._waited(pod.key, Waited(tuple(pod.gains), tuple((pod.plugins or {}).items())))
