"""A kind of run: its inputs, Batsim's options, and the decision process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.batsim.recording.processes import Policy, Process, Script

JSON = dict[str, Any]
PLATFORMS = Path(__file__).parent / "platforms"


@dataclass(frozen=True)
class Kind:
    """A run to record. ``name`` is the folder's; Batsim 4's words for things throughout."""

    name: str
    shows: str
    workload: JSON | None = None
    """The content of ``workload.json``; None for a run without ``-w``."""
    script: Script = field(default_factory=dict)
    policy: type[Policy] | None = None
    policy_options: Mapping[str, Any] = field(default_factory=dict)
    platform: str = "hamlet"
    options: str = ""
    """Of Batsim, behind ``-p`` and ``-w``."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Further input files by their names."""
    talks: bool = True
    """True if Batsim asks for decisions (not with --no-sched)."""

    @property
    def words(self) -> list[str]:
        """The command line, without the endpoint."""
        workload = ["-w", "workload.json"] if self.workload is not None else []
        return ["batsim", "-p", f"{self.platform}.xml", *workload, *self.options.split(), "-e", "out"]

    def process(self) -> Process:
        """A decision process as it is at the beginning."""
        return Process(self.script, self.policy(**self.policy_options) if self.policy else None)


def job(id_: str | int, subtime: float, profile: str, res: int = 1, **members: Any) -> JSON:
    """A job of a workload."""
    return {"id": id_, "subtime": subtime, "res": res, "profile": profile, **members}


def workload(*jobs: JSON, nb_res: int = 4, **profiles: Any) -> JSON:
    """A workload. The profile ``d``, 10 s of delay, is there always."""
    return {"nb_res": nb_res, "jobs": list(jobs), "profiles": {"d": delay(10), **profiles}}


def delay(seconds: float, **members: object) -> JSON:
    return {"type": "delay", "delay": seconds, **members}


def homogeneous(cpu: float, com: float = 0, **members: object) -> JSON:
    return {"type": "parallel_homogeneous", "cpu": cpu, "com": com, **members}


def total(cpu: float, com: float = 0) -> JSON:
    return {"type": "parallel_homogeneous_total", "cpu": cpu, "com": com}


def parallel(cpu: list[float], com: list[float]) -> JSON:
    return {"type": "parallel", "cpu": cpu, "com": com}


def composed(*seq: str, repeat: int = 1, **members: object) -> JSON:
    return {"type": "composed", "repeat": repeat, "seq": list(seq), **members}


def storage(read: float = 0, write: float = 0, **members: object) -> JSON:
    return {"type": "parallel_homogeneous_pfs", "bytes_to_read": read, "bytes_to_write": write, **members}


def ten_delays(**members: Any) -> JSON:
    """Ten jobs, one each 3 s, of 10 s on one host."""
    return workload(*(job(number, 3 * number, "d", walltime=100, **members) for number in range(10)))
