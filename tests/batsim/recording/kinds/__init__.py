"""All kinds of runs, in groups; each group is one archive."""

from collections.abc import Mapping, Sequence

from tests.batsim.recording.kind import Kind
from tests.batsim.recording.kinds import dynamic, energy, jobs, models, refusals, schedules

GROUPS: Mapping[str, Sequence[Kind]] = {
    "dynamic": dynamic.KINDS,
    "energy": energy.KINDS,
    "jobs": jobs.KINDS,
    "models": models.KINDS,
    "refusals": refusals.KINDS,
    "schedules": schedules.KINDS,
}
