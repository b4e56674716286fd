"""Jobs, and the progress of killed ones, in batprotocol and in the messages of protocol 4."""

from collections.abc import Mapping
from typing import Any

import orjson

from batkube.batsim.batprotocol.document import Document
from batkube.batsim.batprotocol.profiles import full_name, local_name
from batkube.batsim.extra_data import FIELD as EXTRA_DATA
from batkube.batsim.job_id import split_job_id
from batkube.batsim.messages import LeafProgress, Progress, SequenceProgress

JSON = dict[str, Any]

UNKNOWN = -1.0
"""The progress of a trace, which Batsim does not know; protocol 4 has a sequence without a task for it."""
_OWN = {"id", "subtime", "res", "profile", "walltime", EXTRA_DATA}
"""The fields of a job that are Batsim's; others are the user's."""


def read_job(job_id: str, job: Document, subtime: float) -> JSON:
    """Return a Job as JOB_SUBMITTED of protocol 4 has it; the user's own fields are in its ``extra_data``."""
    workload, _ = split_job_id(job_id)
    raw: JSON = {
        "id": job_id,
        "subtime": subtime,
        "res": job["resource_request"],
        "profile": local_name(job.get("profile_id", ""), workload),
    }
    if job["walltime"] is not None:
        raw["walltime"] = job["walltime"]
    if job.get(EXTRA_DATA):
        raw[EXTRA_DATA] = job[EXTRA_DATA]
    return raw


def write_job(job_id: str, raw: JSON) -> Document:
    """Return the Job for ``raw`` (of a workload file or REGISTER_JOB); the user's own fields go into ``extra_data``."""
    workload, _ = split_job_id(job_id)
    job: Document = {
        "resource_request": raw.get("res"),
        "profile_id": full_name(str(raw.get("profile")), workload),
    }
    walltime = raw.get("walltime")
    if walltime is not None and walltime != -1:
        job["walltime"] = walltime
    extra = raw.get(EXTRA_DATA)
    theirs = {name: value for name, value in raw.items() if name not in _OWN}
    if isinstance(extra, dict | list):
        extra = orjson.dumps(extra).decode()
    if theirs and not extra:
        extra = orjson.dumps(theirs).decode()
    if extra:
        job[EXTRA_DATA] = str(extra)
    return job


def read_progress(wrapper: Document, workload: str, sequence_lengths: Mapping[str, int]) -> Progress:
    """Read a KillProgressWrapper. Protocol 4 counts the elements of a sequence over all repetitions."""
    progress = wrapper["kill_progress"]
    name = local_name(progress["profile_id"], workload)
    match wrapper["kill_progress_type"]:
        case "KillProgressAtomicProfile" if progress["progress"] == UNKNOWN:
            return SequenceProgress(profile_name=name, current_task_index=-1)
        case "KillProgressAtomicProfile":
            return LeafProgress(profile_name=name, progress=progress["progress"])
        case "KillProgressSequentialProfile":
            length = sequence_lengths.get(progress["profile_id"], 1)
            return SequenceProgress(
                profile_name=name,
                current_task_index=progress["current_repetition"] * length + progress["current_task_index"],
                current_task=read_progress(progress["current_task_progress"], workload, sequence_lengths),
            )
        case _:
            # Batsim 5.0 refuses such profiles, though it has their progress in its protocol.
            return LeafProgress(profile_name=name, progress=0.0)


def write_progress(progress: Progress, workload: str, sequence_lengths: Mapping[str, int]) -> Document:
    """Return the KillProgressWrapper of a progress, the inverse of ``read_progress``."""
    profile_id = full_name(progress.profile_name, workload)
    if isinstance(progress, LeafProgress) or progress.current_task is None:
        done = progress.progress if isinstance(progress, LeafProgress) else UNKNOWN
        leaf = {"profile_id": profile_id, "progress": done}
        return {"kill_progress_type": "KillProgressAtomicProfile", "kill_progress": leaf}
    repetition, index = divmod(progress.current_task_index, sequence_lengths.get(profile_id, 1))
    sequence = {
        "profile_id": profile_id,
        "current_repetition": repetition,
        "current_task_index": index,
        "current_task_progress": write_progress(progress.current_task, workload, sequence_lengths),
    }
    return {"kill_progress_type": "KillProgressSequentialProfile", "kill_progress": sequence}
