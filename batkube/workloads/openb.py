"""The lists of pods of Alibaba's openb trace (CSV), published with "Beware of Fragmentation" (USENIX ATC 2023).

https://github.com/hkust-adsl/kubernetes-scheduler-simulator: a pod a line; several pods may share a GPU, in
thousandths of one.
"""

from collections.abc import Iterator
from typing import Any

from batkube.kube.apimachinery.quantity import Quantity
from batkube.workloads.csv_table import rows
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source
from batkube.workloads.values import number, whole

JSON = dict[str, Any]

GPU_MILLI, GPU_COUNT = "alibabacloud.com/gpu-milli", "alibabacloud.com/gpu-count"
"""Resource and annotations, by the names that the trace's own simulator has for them."""
MODEL = "alibabacloud.com/gpu-card-model"
QOS = "alibabacloud.com/qos"
WHOLE = 1000
"""The thousandths of a GPU."""
SHAPE = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
TIMES = ("creation_time", "deletion_time", "scheduled_time")


class OpenbReader(Reader):
    """A pod is a job that runs from ``scheduled_time`` to ``deletion_time``, and is submitted at ``creation_time``."""

    name = "openb"
    title = "pods of Alibaba's openb trace (CSV)"

    def claims(self, head: Head) -> bool:
        """Tell whether the first line names its columns."""
        return set(SHAPE) <= set(head.columns)

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the pods."""
        seen: set[str] = set()
        for line, row in rows(source, needed=(*SHAPE, *TIMES)):
            name = row["name"]
            if not name or name in seen or not set(name).isdisjoint('",|}!'):
                raise source.error(line, f"name: expected a name that no other pod has, not {name!r}")
            seen.add(name)
            created, deleted, scheduled = (_time(source, line, row, column) for column in TIMES)
            if created is None:
                raise source.error(line, "creation_time: missing")
            if scheduled is None or deleted is None:
                source.skip("were never scheduled or deleted, so that nobody knows how long they run")
                continue
            if deleted <= scheduled:
                source.skip("ended when they were scheduled, or before")
                continue
            yield Record(name, created, deleted - scheduled, wants=_wants(source, line, row))


def _time(source: Source, line: int, row: dict[str, str], column: str) -> float | None:
    if not row[column]:
        return None
    try:
        value = number(row[column])
    except ValueError as error:
        raise source.error(line, f"{column}: {error}") from None
    if value < 0:
        raise source.error(line, f"{column}: must not be negative, and is {row[column]}")
    return value


def _wants(source: Source, line: int, row: dict[str, str]) -> JSON:
    amounts: dict[str, int] = {}
    for column in SHAPE[1:]:
        try:
            amounts[column] = whole(row[column], most=10**12)
        except ValueError as error:
            raise source.error(line, f"{column}: {error}") from None
    wants: JSON = {
        "cpu": str(Quantity.parse(f"{amounts['cpu_milli']}m")),
        "memory": str(Quantity.parse(f"{amounts['memory_mib']}Mi")),
    }
    metadata: JSON = {"labels": {QOS: row["qos"]}} if row.get("qos") else {}
    spec: JSON = {}
    if gpus := amounts["num_gpu"]:
        share = amounts["gpu_milli"]
        if share == WHOLE:
            wants["gpu"] = str(gpus)
        asked = {GPU_MILLI: str(gpus * share)}
        metadata["annotations"] = {GPU_COUNT: str(gpus), GPU_MILLI: str(share)}
        spec["containers"] = [{"name": "job", "resources": {"requests": asked, "limits": asked}}]
        if models := [model for model in row.get("gpu_spec", "").split("|") if model]:
            term = {"matchExpressions": [{"key": MODEL, "operator": "In", "values": models}]}
            required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
            spec["affinity"] = {"nodeAffinity": required}
    pod = {name: part for name, part in (("metadata", metadata), ("spec", spec)) if part}
    if pod:
        wants["pod"] = pod
    return wants
