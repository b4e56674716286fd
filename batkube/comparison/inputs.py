"""Were two runs given the same? What was simulated, and what was under test."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from batkube.results.run import InputFile, Run

Kind = Literal["input", "tested"]


class InputDifference(BaseModel, frozen=True):
    """An input that was not the same."""

    kind: Kind
    """``input``: what was simulated; ``tested``: the scheduler, the seed, batkube itself."""
    name: str
    left: str
    right: str


def input_differences(left: Run, right: Run) -> list[InputDifference]:
    """Return what was not the same, in a fixed order; files go by the hashes of their bytes."""
    found = []
    ours, theirs = _inputs(left), _inputs(right)
    for kind, name in dict.fromkeys([*ours, *theirs]):
        a, b = ours.get((kind, name)), theirs.get((kind, name))
        if _identity(a) != _identity(b):
            found.append(InputDifference(kind=kind, name=name, left=_shown(a), right=_shown(b)))
    return found


def _inputs(run: Run) -> dict[tuple[Kind, str], Any]:
    found: dict[tuple[Kind, str], Any] = {("input", "platform"): run.platform}
    found |= {("input", f"workload {number}"): file for number, file in enumerate(run.workloads, start=1)}
    found["input", "startup"] = run.startup
    found |= {("input", f"objects {Path(file.path).name}"): file for file in run.objects}
    found |= {("input", f"--{name}"): value for name, value in run.batsim.items()}
    found |= {("input", f"file {Path(file.path).name}"): file for file in run.batsim_inputs}
    found["input", "simulator"] = "tcp" if "://" in run.simulator else run.simulator
    found["input", "exact"], found["input", "epoch"] = run.exact, run.epoch
    found["input", "compute sharing"] = run.compute_sharing
    scheduler = run.scheduler
    found["tested", "scheduler"] = scheduler.kind
    if scheduler.binary is None:
        found["tested", "scheduler's program"] = scheduler.command[0] if scheduler.command else None
    found["tested", "scheduler's source"] = scheduler.source
    found["tested", "scheduler's binary"] = scheduler.binary
    found["tested", "scheduler's configuration"] = scheduler.configuration
    found["tested", "seed"] = run.seed
    found["tested", "batkube"] = run.batkube
    return found


def _identity(value: Any) -> Any:
    return value.sha256 if isinstance(value, InputFile) else value


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    return f"{value.path} ({value.sha256[:12]})" if isinstance(value, InputFile) else str(value)
