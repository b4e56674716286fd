"""Profiles in batprotocol and in workload files: the same types, other names of their members."""

from typing import Any

from batkube.batsim.batprotocol.document import Document
from batkube.batsim.errors import ProtocolError
from batkube.batsim.extra_data import FIELD as EXTRA_DATA
from batkube.batsim.job_id import job_id

JSON = dict[str, Any]

_AMOUNTS = {"computation_amount": "cpu", "communication_amount": "com", "generation_strategy": "generation_strategy"}
_MEMBERS: dict[str, dict[str, str]] = {
    "DelayProfile": {"delay": "delay"},
    "ParallelTaskProfile": {"computation_vector": "cpu", "communication_matrix": "com"},
    "ParallelTaskHomogeneousProfile": _AMOUNTS,
    "SequentialCompositionProfile": {"repetition_count": "repeat", "profile_ids": "seq"},
    "ForkJoinCompositionProfile": {"profile_ids": "profile_ids"},
    "ParallelTaskMergeCompositionProfile": {"profile_ids": "profile_ids"},
    "ParallelTaskOnStorageHomogeneousProfile": {
        "storage_name": "storage",
        "bytes_to_read": "bytes_to_read",
        "bytes_to_write": "bytes_to_write",
        "generation_strategy": "generation_strategy",
    },
    "ParallelTaskDataStagingBetweenStoragesProfile": {
        "bytes_to_transfer": "nb_bytes",
        "emitter_storage_name": "from",
        "receiver_storage_name": "to",
    },
    "TraceReplayProfile": {"trace_type": "trace_type", "filename": "filename"},
}
"""The members of each type: the workload file's name by batprotocol's name."""

OLD_TYPES: dict[str, tuple[str, JSON]] = {
    "delay": ("DelayProfile", {}),
    "parallel": ("ParallelTaskProfile", {}),
    "parallel_homogeneous": ("ParallelTaskHomogeneousProfile", {}),
    "parallel_homogeneous_total": (
        "ParallelTaskHomogeneousProfile",
        {"generation_strategy": "DefinedAmountsSpreadUniformly"},
    ),
    "composed": ("SequentialCompositionProfile", {}),
    "parallel_homogeneous_pfs": ("ParallelTaskOnStorageHomogeneousProfile", {"storage": "pfs"}),
    "data_staging": ("ParallelTaskDataStagingBetweenStoragesProfile", {}),
    "smpi": ("TraceReplayProfile", {"trace_type": "SMPI"}),
    "usage_trace": ("TraceReplayProfile", {"trace_type": "FractionalComputation"}),
}
"""Batsim 4's types, with their type and members in Batsim 5."""


TYPES = frozenset(_MEMBERS)
"""The types that a workload file for Batsim 5 may name: Batsim 5 refuses those of Batsim 4."""


def local_name(profile_id: str, workload: str) -> str:
    """Return the name of ``profile_id`` (``WORKLOAD!NAME``) within that workload."""
    return profile_id.removeprefix(f"{workload}!")


def full_name(name: str, workload: str) -> str:
    """Return the full name, the inverse of ``local_name``."""
    return name if "!" in name else job_id(workload, name)


def read_profile(document: Document) -> JSON:
    """Return a ProfileAndId as in a workload file."""
    kind = document["profile_type"]
    workload = document["id"].partition("!")[0]
    raw: JSON = {"type": kind}
    for member, name in _MEMBERS[kind].items():
        value = document["profile"].get(member)
        if value is not None:
            raw[name] = [local_name(part, workload) for part in value] if member == "profile_ids" else value
    if document.get(EXTRA_DATA):
        raw[EXTRA_DATA] = document[EXTRA_DATA]
    return raw


def write_profile(workload: str, name: str, raw: JSON) -> Document:
    """Return a profile of a workload file (with Batsim 5's types or Batsim 4's) as ProfileAndId, without return code.

    Raises ProtocolError for a type that Batsim 5 does not know.
    """
    profile_id = full_name(name, workload)
    kind, meant = OLD_TYPES.get(str(raw.get("type")), (str(raw.get("type")), {}))
    if kind not in _MEMBERS:
        raise ProtocolError(f"profile {profile_id}: Batsim 5 has no profiles of type {raw.get('type')!r}")
    given = {**meant, **raw}
    if "filename" not in given and "trace" in given:
        given["filename"] = given["trace"]
    content = {}
    for member, name_in_file in _MEMBERS[kind].items():
        if name_in_file in given:
            value = given[name_in_file]
            ids = member == "profile_ids" and isinstance(value, list)
            content[member] = [full_name(str(part), workload) for part in value] if ids else value
    document: Document = {"id": profile_id, "profile_type": kind, "profile": content}
    if isinstance(raw.get(EXTRA_DATA), str):
        document[EXTRA_DATA] = raw[EXTRA_DATA]
    return document
