"""The profile ``smpi``: ranks that compute and send each other messages, as SimGrid's SMPI replays a trace.

It has only computation and point-to-point messages; collective operations, probes and tests are refused by name.
(``smpi_replay.cpp``, ``Request::start`` and ``Request::wait`` of SimGrid 3.32.)
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from batkube.batsim.topology import Host
from batkube.batsim.traces import Action, Trace
from batkube.simulator.time.dates import picoseconds
from batkube.simulator.work.replay import Player, ReplayLeaf, Work

DETACHED = 65536
"""SimGrid's ``smpi/send-is-detached-thresh`` in bytes. Only the receiver waits for the end of a shorter message."""
ENVELOPE = 16
"""The bytes that come with each message."""
_INT = 1 << 31
_DATATYPES = (8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8)
"""The bytes of a value, by the number of its MPI datatype."""

_ARGUMENTS = {
    "init": 0,
    "finalize": 0,
    "comm_size": 0,
    "comm_split": 0,
    "comm_dup": 0,
    "location": 2,
    "compute": 1,
    "sleep": 1,
    "send": 3,
    "isend": 3,
    "recv": 3,
    "irecv": 3,
    "sendRecv": 6,
    "wait": 3,
    "waitall": 0,
}
"""The actions that can be replayed, and the number of arguments they need."""
_NOTHING = ("finalize", "comm_size", "comm_split", "comm_dup", "location")
_NUMBERS = {"compute": 1, "sleep": 1, "send": 3, "isend": 3, "recv": 3, "irecv": 3, "sendRecv": 4, "wait": 3}
_PARTNERS = {"send": (1,), "isend": (1,), "recv": (1,), "irecv": (1,), "sendRecv": (2, 4)}


def check(trace: Trace) -> None:
    """Raise ValueError for the first action that cannot be replayed."""
    for rank, actions in enumerate(trace.ranks):
        for action in actions:
            try:
                _check(action, len(trace.ranks))
            except ValueError as error:
                raise ValueError(f"trace: rank {rank}: {' '.join(action)}: {error}") from None
        if actions and actions[0][0] != "init":
            raise ValueError(f"trace: rank {rank}: Batsim crashes unless the first action is init")


def _check(action: Action, ranks: int) -> None:
    needed = _ARGUMENTS.get(action[0])
    if needed is None:
        raise ValueError(f"the embedded simulator does not replay {action[0]!r}, Batsim may")
    if len(action) <= needed:
        raise ValueError(f"expected {needed} arguments")
    for word in action[1 : 1 + _NUMBERS.get(action[0], 0)]:
        if not math.isfinite(float(word)):
            raise ValueError(f"expected a number, not {word!r}")
    if action[0] in ("recv", "irecv") and float(action[3]) < 0:
        raise ValueError("the embedded simulator does not probe for a message of unknown size, Batsim does")
    if action[0] in ("compute", "sleep") and float(action[1]) < 0:
        raise ValueError(f"expected 0 or more, not {action[1]}")
    for place in _PARTNERS.get(action[0], ()):
        if not 0 <= int(float(action[place])) < ranks:
            raise ValueError(f"there is no rank {action[place]}")


class Mpi:
    """The state that all jobs share: SimGrid's one default datatype, which the last ``init`` of any of them has set."""

    def __init__(self) -> None:
        self.default = 1
        """The bytes of the default datatype."""

    def bytes(self, action: Action, count: int, datatype: int) -> int:
        """Return the bytes of a message: word ``count`` of an action, times the size of word ``datatype`` if given."""
        size = self.default
        if len(action) > datatype:
            number = action[datatype]
            if not number.isdecimal() or int(number) >= len(_DATATYPES):
                raise ValueError(f"there is no MPI datatype {number!r}")
            size = _DATATYPES[int(number)]
        return int(float(action[count])) * size


@dataclass(slots=True, eq=False)
class _Request:
    """A message that a rank sends or expects."""

    partner: int
    tag: int
    size: int = 0
    detached: bool = False
    truncated: bool = False
    """True if the message that came was longer than expected."""
    done: bool = False
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def end(self) -> None:
        self.done = True
        waiting, self.waiting = self.waiting, []
        for then in waiting:
            then()


class _Mail:
    """Brings sends and receives of a job together."""

    def __init__(self, hosts: Sequence[Host], work: Work) -> None:
        self._hosts = hosts
        self._work = work
        self._sent: list[list[_Request]] = [[] for _ in hosts]
        self._expected: list[list[_Request]] = [[] for _ in hosts]
        """The expected messages by the rank that receives."""
        self.ended = [False] * len(hosts)
        """The ranks that have said farewell, as truth values by rank."""

    def send(self, source: int, request: _Request) -> None:
        expected = self._match(self._expected[request.partner], source, request.tag)
        if expected is None:
            self._sent[request.partner].append(_Request(source, request.tag, request.size, waiting=[request.end]))
        else:
            expected.truncated = expected.size < request.size
            self._carry(source, request.partner, request.size, request.end, expected.end)

    def receive(self, destination: int, request: _Request) -> None:
        sent = self._match(self._sent[destination], request.partner, request.tag)
        if sent is None:
            self._expected[destination].append(request)
        else:
            request.truncated = request.size < sent.size
            self._carry(request.partner, destination, sent.size, sent.end, request.end)

    @staticmethod
    def _match(requests: list[_Request], partner: int, tag: int) -> _Request | None:
        for index, request in enumerate(requests):
            if request.partner == partner and request.tag == tag:
                return requests.pop(index)
        return None

    def _carry(self, source: int, destination: int, size: int, *ends: Callable[[], None]) -> None:
        def ended() -> None:
            for end in ends:
                end()

        hosts = [self._hosts[source], self._hosts[destination]]
        self._work.task(hosts, [0.0, 0.0], [(0, 1, float(size + ENVELOPE))], ended)


class _RankPlayer:
    """Plays one rank."""

    def __init__(
        self,
        rank: int,
        host: Host,
        actions: Sequence[Action],
        mail: _Mail,
        work: Work,
        through: Callable[[], None],
        mpi: Mpi,
    ) -> None:
        self._rank = rank
        self._host = host
        self._actions: Iterator[Action] = iter(actions)
        self._mail = mail
        self._work = work
        self._through = through
        self._mpi = mpi
        self._reach = rank + 1
        """The last rank that exists already: Batsim makes one after the other, while those before go on."""
        self._requests: dict[tuple[int, int, int], list[_Request]] = {}
        """The requests begun and not waited for, by source, destination and tag."""

    def start(self) -> None:
        for action in self._actions:
            if self._work.stopped:
                return
            if not self._play(action):
                return
        # At the end SMPI waits for the last request of each kind.
        self._wait_for([requests[-1] for requests in self._requests.values()], self._through)

    def _play(self, action: Action) -> bool:
        """Do an action; tell whether it is done at once. Otherwise ``start`` goes on later."""
        name = action[0]
        if name in _NOTHING:
            return True
        if name == "init":
            self._mpi.default = 8 if len(action) > 1 else 1
        elif name == "compute":
            self._reach = len(self._mail.ended)
            self._work.task([self._host], [float(action[1])], [], self.start)
            return False
        elif name == "sleep":
            duration = picoseconds(float(action[1]))
            if not duration:
                return True
            self._reach = len(self._mail.ended)
            self._work.sleep(duration, self.start)
            return False
        elif name == "wait":
            # SMPI looks for the request by ranks among process ids, so that in Batsim it finds none, and does not wait.
            if not self._requests:
                raise ValueError(f"trace: rank {self._rank}: wait without isend or irecv before: Batsim aborts")
        elif name == "waitall":
            requests = [request for requests in self._requests.values() for request in requests]
            self._requests.clear()
            return self._wait_for(requests, self.start, at_once=True)
        elif name == "sendRecv":
            received = self._receive(int(float(action[4])), 0, self._mpi.bytes(action, 3, 6))
            sent = self._send(int(float(action[2])), 0, self._mpi.bytes(action, 1, 5))
            return self._wait_for([received, sent], self.start, at_once=True)
        else:
            return self._exchange(name, action)
        return True

    def _exchange(self, name: str, action: Action) -> bool:
        partner, tag = int(float(action[1])), int(float(action[2]))
        if name in ("send", "isend"):
            request = self._send(partner, tag, self._mpi.bytes(action, 3, 4))
            key = (self._rank, partner, tag)
        else:
            request = self._receive(partner, tag, self._mpi.bytes(action, 3, 4))
            if name == "recv":
                request.waiting.append(lambda: self._check_length(request))
            key = (partner, self._rank, tag)
        if name in ("isend", "irecv"):
            self._requests.setdefault(key, []).append(request)
            return True
        return self._wait_for([request], self.start, at_once=True)

    def _check_length(self, request: _Request) -> None:
        if request.truncated:
            raise ValueError(f"rank {self._rank} expects {request.size} bytes, and more come: Batsim aborts")

    def _send(self, partner: int, tag: int, size: int) -> _Request:
        if partner > self._reach or self._mail.ended[partner]:
            when = "no more" if self._mail.ended[partner] else "not yet"
            raise ValueError(f"rank {self._rank} sends to rank {partner}, which is {when} there: Batsim aborts")
        self._reach += 1
        # SimGrid compares a size of 32 bits.
        detached = (size + _INT) % (2 * _INT) - _INT < DETACHED
        request = _Request(partner, tag, size, detached)
        self._mail.send(self._rank, request)
        return request

    def _receive(self, partner: int, tag: int, size: int) -> _Request:
        # From a rank that does not exist yet nothing will ever come.
        request = _Request(partner if partner <= self._reach else -1, tag, size)
        self._reach += 1
        self._mail.receive(self._rank, request)
        return request

    def _wait_for(self, requests: Sequence[_Request], then: Callable[[], None], *, at_once: bool = False) -> bool:
        """Go on with ``then`` when all are done; with ``at_once`` tell instead whether they are."""
        left = [request for request in requests if not (request.done or request.detached)]
        if left:
            self._reach = len(self._mail.ended)
        if not left:
            if not at_once:
                then()
            return True

        def one_less() -> None:
            left.pop()
            if not left:
                then()

        for request in tuple(left):
            request.waiting.append(one_less)
        return False


class SmpiLeaf(ReplayLeaf):
    """Replays MPI ranks."""

    _mail: _Mail | None = None

    def heard(self, rank: int) -> None:
        if self._mail is not None:
            self._mail.ended[rank] = True

    def player(self, rank: int, through: Callable[[], None]) -> Player:
        if self._mail is None:
            self._mail = _Mail(self.hosts, self.work)
        machinery = self._execution.machinery
        actions = self.actions[rank]
        return _RankPlayer(rank, self.hosts[rank], actions, self._mail, self.work, through, machinery.mpi)
