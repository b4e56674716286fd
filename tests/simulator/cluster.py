"""Small simulations for tests: a platform and jobs in a line, and a decision process that a test plays by hand."""

from pathlib import Path
from typing import Any

from batkube.batsim import messages as m
from batkube.batsim.platform import Platform
from batkube.batsim.topology import Host, Zone
from batkube.batsim.workload import Workload, parse_workload
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions


def platform(hosts: int = 4, *, cores: int = 1, speed: float = 1e9) -> Platform:
    """Hosts ``h00``, ``h01`` ... and a master, without a network."""
    zone = Zone("z", "full")
    names = ["master_host", *(f"h{number:02}" for number in range(hosts))]
    by_name = {name: Host(name, (speed,), cores, {}, ("z",), {}) for name in names}
    return Platform(by_name, dict.fromkeys(names, zone))


def workload(*jobs: dict[str, Any], **profiles: Any) -> Workload:
    """``w0``: jobs of the profile ``d10`` (a delay of 10 s) and those given."""
    return named("w0", *jobs, **profiles)


def named(name: str, /, *jobs: dict[str, Any], **profiles: Any) -> Workload:
    """The same by another name."""
    every = {"d10": {"type": "delay", "delay": 10}, **profiles}
    return parse_workload({"nb_res": 4, "jobs": list(jobs), "profiles": every}, name, path=Path(f"/{name}.json"))


def job(name: str, subtime: float = 0, *, profile: str = "d10", res: int = 1, **members: Any) -> dict[str, Any]:
    return {"id": name, "subtime": subtime, "res": res, "profile": profile, **members}


class Game:
    """A simulation in which a test decides by hand. The beginning is answered already."""

    def __init__(self, *workloads: Workload, on: Platform | None = None, **options: Any) -> None:
        self.simulator = EmbeddedSimulator(on or platform(), workloads, SimulatorOptions(**options))
        self.now = 0.0
        self.next()

    def next(self) -> list[m.Event]:
        """The events of the next message."""
        message = self.simulator.next_message()
        self.now = message.now
        return message.events

    def say(self, *decisions: m.Event, now: float | None = None) -> None:
        """Answer."""
        self.simulator.answer(m.Message(now=self.now if now is None else now, events=list(decisions)))

    def then(self, *decisions: m.Event, now: float | None = None) -> list[tuple[float, str]]:
        """Answer, and what comes next: dates and what ``brief`` says of the events."""
        self.say(*decisions, now=now)
        return [(event.timestamp, brief(event)) for event in self.next()]

    def execute(self, name: str, alloc: str, at: float | None = None, **members: Any) -> m.Event:
        data = m.ExecuteJobData(job_id=full(name), alloc=alloc, **members)
        return m.ExecuteJob(timestamp=self._at(at), data=data)

    def reject(self, name: str) -> m.Event:
        return m.RejectJob(timestamp=self.now, data=m.RejectJobData(job_id=full(name)))

    def kill(self, *names: str, at: float | None = None) -> m.Event:
        return m.KillJob(timestamp=self._at(at), data=m.KillJobData(job_ids=[full(name) for name in names]))

    def call(self, date: float) -> m.Event:
        return m.CallMeLater(timestamp=self.now, data=m.CallMeLaterData(timestamp=date))

    def notify(self, what: str) -> m.Event:
        return m.Notify(timestamp=self.now, data=m.NotifyData(type=what))

    def profile(self, name: str, workload: str = "dyn", **members: Any) -> m.Event:
        data = m.RegisterProfileData(
            workload_name=workload, profile_name=name, profile=members or {"type": "delay", "delay": 5}
        )
        return m.RegisterProfile(timestamp=self.now, data=data)

    def register(self, name: str, **members: Any) -> m.Event:
        content = {"id": full(name), "subtime": 0, "res": 1, "profile": "p"} | members
        return m.RegisterJob(timestamp=self.now, data=m.RegisterJobData(job_id=full(name), job=content))

    def _at(self, date: float | None) -> float:
        return self.now if date is None else date


def full(name: str) -> str:
    return name if "!" in name else f"w0!{name}"


def brief(event: m.Event) -> str:
    """An event in a word or two."""
    match event:
        case m.JobSubmitted():
            return f"submitted {event.data.job_id}"
        case m.JobCompleted():
            state = event.data.job_state.removeprefix("COMPLETED_").lower()
            return f"{state} {event.data.job_id} {event.data.return_code} on {event.data.alloc}"
        case m.JobKilled():
            return f"killed {' '.join(event.data.job_ids)}"
        case m.Notify():
            return f"{event.data.type} {event.data.resources}" if event.data.resources else event.data.type
        case m.RequestedCall():
            return "call"
        case _:
            return event.type.lower()
