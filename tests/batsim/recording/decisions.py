"""The decisions of a decision process: each adds to a reply, or bends it where a run shows what Batsim refuses."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

JSON = dict[str, Any]


@dataclass
class Reply:
    """A reply while it is made."""

    now: float
    """The date of Batsim's message, in simulated seconds."""
    events: list[JSON] = field(default_factory=list)
    members: JSON = field(default_factory=dict)
    """Further members beside ``now`` and ``events``, or these two with another value."""
    left_out: set[str] = field(default_factory=set)
    text: str | None = None
    """Said in place of a message."""

    def written(self) -> str:
        if self.text is not None:
            return self.text
        whole = {"now": self.now, "events": self.events} | self.members
        return json.dumps({name: value for name, value in whole.items() if name not in self.left_out})


Decision = Callable[[Reply], None]


def full(job: str) -> str:
    """The job's identifier: one of the first workload may be given by its name."""
    return job if "!" in job else f"w0!{job}"


def event(type_: str, data: object, *, at: float | None = None, **further: object) -> Decision:
    """Any event, dated as the message that is answered, or ``at`` another date; ``further`` stands beside ``data``."""

    def add(reply: Reply) -> None:
        date = reply.now if at is None else at
        reply.events.append({"timestamp": date, "type": type_, "data": data, **further})

    return add


def execute(job: str, alloc: str, *, at: float | None = None, **members: object) -> Decision:
    return event("EXECUTE_JOB", {"job_id": full(job), "alloc": alloc, **members}, at=at)


def reject(job: str, **members: object) -> Decision:
    return event("REJECT_JOB", {"job_id": full(job), **members})


def kill(*jobs: str, at: float | None = None) -> Decision:
    return event("KILL_JOB", {"job_ids": [full(job) for job in jobs]}, at=at)


def call(date: float) -> Decision:
    """CALL_ME_LATER at a date."""
    return event("CALL_ME_LATER", {"timestamp": date})


def call_in(seconds: float) -> Decision:
    """CALL_ME_LATER so long after the message that is answered."""

    def add(reply: Reply) -> None:
        call(reply.now + seconds)(reply)

    return add


def register_profile(name: str, profile: JSON, workload: str = "dyn") -> Decision:
    data = {"workload_name": workload, "profile_name": name, "profile": profile}
    return event("REGISTER_PROFILE", data)


def register_job(job: str, profile: str, *, res: int = 1, without: str = "", **members: object) -> Decision:
    """REGISTER_JOB, with the date of the message as date of submission; ``without`` leaves a member out."""

    def add(reply: Reply) -> None:
        described = {"id": full(job), "res": res, "profile": profile, "subtime": reply.now, **members}
        described.pop(without, None)
        event("REGISTER_JOB", {"job_id": full(job), "job": described})(reply)

    return add


def notify(type_: str) -> Decision:
    return event("NOTIFY", {"type": type_})


def set_state(resources: str, state: int) -> Decision:
    return event("SET_RESOURCE_STATE", {"resources": resources, "state": str(state)})


def query(what: str = "consumed_energy") -> Decision:
    return event("QUERY", {"requests": {what: {}}})


def change_state(job: str, state: str) -> Decision:
    return event("CHANGE_JOB_STATE", {"job_id": full(job), "job_state": state})


def metadata(job: str, text: str) -> Decision:
    return event("SET_JOB_METADATA", {"job_id": full(job), "metadata": text})


def tell(job: str, text: str) -> Decision:
    return event("TO_JOB_MSG", {"job_id": full(job), "msg": text})


def replied_at(date: float) -> Decision:
    """The reply's ``now`` is this date."""

    def change(reply: Reply) -> None:
        reply.members["now"] = date

    return change


def took(seconds: float) -> Decision:
    """The reply's ``now`` is so long after the message that is answered: the time the decision took."""

    def change(reply: Reply) -> None:
        reply.members["now"] = reply.now + seconds

    return change


def dated(date: float) -> Decision:
    """All events so far, and the reply, are dated so."""

    def change(reply: Reply) -> None:
        reply.members["now"] = date
        for said in reply.events:
            said["timestamp"] = date

    return change


def with_member(name: str, value: object) -> Decision:
    """A member of the reply beside, or in place of, ``now`` and ``events``."""

    def change(reply: Reply) -> None:
        reply.members[name] = value

    return change


def without(name: str) -> Decision:
    """The reply lacks a member; ``events.NAME``: its first event does."""

    def change(reply: Reply) -> None:
        if name.startswith("events."):
            del reply.events[0][name.removeprefix("events.")]
        else:
            reply.left_out.add(name)

    return change


def saying(text: str) -> Decision:
    """The reply is this text and no message."""

    def change(reply: Reply) -> None:
        reply.text = text

    return change
