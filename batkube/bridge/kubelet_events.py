"""The Events that a kubelet writes of a pod's start, in its words (Kubernetes 1.36)."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

JSON = dict[str, Any]


class Told(StrEnum):
    """The reason of an Event."""

    PULLING = "Pulling"
    PULLED = "Pulled"
    CREATED = "Created"
    STARTED = "Started"


def event(pod: JSON, what: Told, date: float, *, took: float = 0.0, after: int = 0) -> JSON:
    """Return the Event on ``pod``, dated ``date`` (Unix seconds). ``took``: the seconds of a pull.

    ``after``: the number in the name of the last Event on a pod of this name. A pod that was made anew at the same date
    goes through the same stages again.
    """
    metadata, container = pod["metadata"], pod["spec"]["containers"][0]
    image = container["image"]
    messages = {
        Told.PULLING: f'Pulling image "{image}"',
        Told.PULLED: (
            f'Successfully pulled image "{image}" in {go_duration(took)} ({go_duration(took)} including waiting). '
            "Image size: 0 bytes."
        ),
        Told.CREATED: "Container created",
        Told.STARTED: "Container started",
    }
    when = datetime.fromtimestamp(int(date), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    node = pod["spec"]["nodeName"]
    # Named as client-go names them, but by the microsecond: the stage distinguishes Events of one date.
    number = max(round(date * 1e6) * 1000 + list(Told).index(what), after + 1)
    return {
        "metadata": {"name": f"{metadata['name']}.{number:x}", "namespace": metadata["namespace"]},
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "fieldPath": field_path(pod, container["name"]),
        },
        "type": "Normal",
        "reason": what.value,
        "message": messages[what],
        "source": {"component": "kubelet", "host": node},
        "firstTimestamp": when,
        "lastTimestamp": when,
        "count": 1,
        "reportingComponent": "kubelet",
        "reportingInstance": node,
    }


def field_path(pod: JSON, container: str) -> str:
    """Return where a container stands in its pod, as Events name it."""
    initial = any(each["name"] == container for each in pod["spec"].get("initContainers") or ())
    return f"spec.{'initContainers' if initial else 'containers'}{{{container}}}"


def number_of(told: JSON) -> int:
    """Return the number in the name of an Event."""
    return int(told["metadata"]["name"].rpartition(".")[2], 16)


def go_duration(seconds: float) -> str:
    """Return a duration as Go writes it, cut to milliseconds: ``939ms``, ``1.5s``, ``1m2.25s``."""
    milliseconds = int(seconds * 1000)
    if milliseconds < 1000:
        return f"{milliseconds}ms" if milliseconds else "0s"
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{rest / 1000:g}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{hours}h{text}" if hours else text
