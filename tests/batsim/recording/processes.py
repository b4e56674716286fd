"""Decision processes: a script, alone or beside a policy that starts jobs by itself."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from tests.batsim.recording.decisions import Decision, Reply, execute, kill, reject

JSON = dict[str, Any]

Script = Mapping[str, Sequence[Decision]]
"""The decisions by the event that they answer: ``begins``, ``submitted JOB``, ``completed JOB``, ``killed``,
``called N`` (the Nth call of all, from 1), the type of a NOTIFY, ``message from JOB``, ``switched RESOURCES``,
``answer``, ``ends``; and ``every``, at the end of each reply."""


class Policy(Protocol):
    """Starts jobs by a rule."""

    def told(self, event: JSON) -> None:
        """Take note of an event."""
        ...

    def decide(self) -> Iterator[Decision]:
        """Tell what to do now."""
        ...


class Process:
    """A decision process. The same messages get the same replies."""

    def __init__(self, script: Script | None = None, policy: Policy | None = None) -> None:
        self._script = script or {}
        self._policy = policy
        self._calls = 0
        self.over = False

    def answer(self, message: JSON) -> str:
        """The text to reply to a message of Batsim."""
        reply = Reply(message["now"])
        for event in message["events"]:
            if self._policy:
                self._policy.told(event)
            for decision in self._script.get(self._occasion(event), ()):
                decision(reply)
        if self._policy and not self.over:
            for decision in self._policy.decide():
                decision(reply)
        for decision in self._script.get("every", ()):
            decision(reply)
        return reply.written()

    def _occasion(self, event: JSON) -> str:
        data = event["data"]
        match event["type"]:
            case "SIMULATION_BEGINS":
                return "begins"
            case "JOB_SUBMITTED":
                return f"submitted {_short(data['job_id'])}"
            case "JOB_COMPLETED":
                return f"completed {_short(data['job_id'])}"
            case "JOB_KILLED":
                return "killed"
            case "REQUESTED_CALL":
                self._calls += 1
                return f"called {self._calls}"
            case "NOTIFY":
                return str(data["type"])
            case "FROM_JOB_MSG":
                return f"message from {_short(data['job_id'])}"
            case "RESOURCE_STATE_CHANGED":
                return f"switched {data['resources']}"
            case "ANSWER":
                return "answer"
            case "SIMULATION_ENDS":
                self.over = True
                return "ends"
            case other:
                raise ValueError(f"Batsim says {other}, which no decision process here knows")


def _short(job: str) -> str:
    return job.removeprefix("w0!")


class Queue:
    """Keeps free hosts and waiting jobs, and starts jobs on the hosts of the lowest numbers.

    ``refuse``: job names (a regular expression) to reject. ``kill_on_failure``: kill the jobs of a host that goes.
    ``spared``: hosts that are never used. Jobs larger than the platform are rejected.
    """

    skips = False
    """True if a job that fits is started before one that waits for more hosts (first fit)."""

    def __init__(self, *, refuse: str = "", kill_on_failure: bool = False, spared: str = "") -> None:
        self._refuse = re.compile(refuse) if refuse else None
        self._kill_on_failure = kill_on_failure
        self._spared = numbers(spared)
        self._size = 0
        self._free: set[int] = set()
        self._down: set[int] = set()
        self._waiting: list[tuple[str, int]] = []
        self._running: dict[str, set[int]] = {}
        self._to_kill: list[str] = []

    def told(self, event: JSON) -> None:
        data = event["data"]
        match event["type"]:
            case "SIMULATION_BEGINS":
                self._free = {host["id"] for host in data["compute_resources"]} - self._spared
                self._size = len(self._free)
            case "JOB_SUBMITTED":
                self._waiting.append((data["job_id"], data["job"]["res"]))
            case "JOB_COMPLETED":
                self._free |= self._running.pop(data["job_id"], set())
            case "NOTIFY" if data["type"] == "event_machine_unavailable":
                gone = numbers(data["resources"])
                self._down |= gone
                if self._kill_on_failure:
                    self._to_kill += [job for job, hosts in self._running.items() if hosts & gone]
            case "NOTIFY" if data["type"] == "event_machine_available":
                self._down -= numbers(data["resources"])

    def decide(self) -> Iterator[Decision]:
        # Batsim aborts on a kill of a job whose end it has told, be it in the same message.
        if doomed := [job for job in self._to_kill if job in self._running]:
            yield kill(*doomed)
        self._to_kill = []
        left = []
        for place, (job, size) in enumerate(self._waiting):
            if size > self._size or (self._refuse and self._refuse.search(job)):
                yield reject(job)
                continue
            usable = sorted(self._free - self._down)
            if size > len(usable):
                if not self.skips:
                    left += self._waiting[place:]
                    break
                left.append((job, size))
                continue
            self._running[job] = set(usable[:size])
            self._free -= self._running[job]
            yield execute(job, interval_set(usable[:size]))
        self._waiting = left


class Fcfs(Queue):
    """First come, first served: a job never starts before one that came earlier."""


class FirstFit(Queue):
    """Starts whatever fits, in order of arrival."""

    skips = True


class Shared:
    """Starts each job at once, on the hosts with the fewest jobs (--enable-compute-sharing)."""

    def __init__(self) -> None:
        self._jobs: dict[int, int] = {}
        self._running: dict[str, list[int]] = {}
        self._new: list[tuple[str, int]] = []

    def told(self, event: JSON) -> None:
        data = event["data"]
        match event["type"]:
            case "SIMULATION_BEGINS":
                self._jobs = {host["id"]: 0 for host in data["compute_resources"]}
            case "JOB_SUBMITTED":
                self._new.append((data["job_id"], data["job"]["res"]))
            case "JOB_COMPLETED":
                for host in self._running.pop(data["job_id"], []):
                    self._jobs[host] -= 1

    def decide(self) -> Iterator[Decision]:
        for job, size in self._new:
            if size > len(self._jobs):
                yield reject(job)
                continue
            hosts = sorted(sorted(self._jobs, key=lambda host: (self._jobs[host], host))[:size])
            self._running[job] = hosts
            for host in hosts:
                self._jobs[host] += 1
            yield execute(job, interval_set(hosts))
        self._new = []


def numbers(resources: str) -> set[int]:
    """The numbers of an interval set such as ``0-2 5``."""
    found: set[int] = set()
    for part in resources.split():
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def interval_set(hosts: Sequence[int]) -> str:
    """Ascending numbers as Batsim writes an interval set."""
    parts: list[list[int]] = []
    for host in hosts:
        if parts and host == parts[-1][1] + 1:
            parts[-1][1] = host
        else:
            parts.append([host, host])
    return " ".join(f"{first}-{last}" if last > first else str(first) for first, last in parts)
