"""Scenarios of Kueue's performance tests (YAML): cohorts of queues, and what is submitted to each queue.

https://github.com/kubernetes-sigs/kueue, test/performance/scheduler
"""

from collections.abc import Iterator
from typing import Any

from batkube.batsim.input_file import quote
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source
from batkube.workloads.values import quantity
from batkube.workloads.yaml_file import yaml_document

JSON = dict[str, Any]

MOST = 10_000_000
"""The largest number in such a file, and the most jobs."""
MOST_QUEUES = 100_000
WorkloadsSet = tuple[int, float, list[tuple[str, float, int, JSON]]]
TOPOLOGY = "kueue.x-k8s.io/podset-{}-topology"
"""The annotation by which a pod set asks to be close together."""
CLASS = "batkube.io/class"


class KueueReader(Reader):
    """Each queue gets its own workloads, one each ``creationIntervalMs``. Quotas are no part of a workload."""

    name = "kueue"
    title = "scenarios of Kueue's performance tests (YAML)"

    def claims(self, head: Head) -> bool:
        """Tell whether it has cohorts with sets of queues and of workloads."""
        text = head.text
        return "cohorts:" in head.lines and "queuesSets:" in text and "workloadsSets:" in text

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the jobs, named by cohort, queue, class and number."""
        queues = list(self._queues(source))
        total = sum(count * len(kinds) for _, sets in queues for count, _, kinds in sets)
        if total > MOST:
            raise source.error(None, f"asks for {total} jobs: more than {MOST}")
        for queue, sets in queues:
            for set_number, (count, interval, kinds) in enumerate(sets, 1):
                for name, duration, pods, wants in kinds:
                    asked = {**wants, "queue": queue}
                    for number in range(count):
                        job = f"{queue}-{set_number}-{name}-{number + 1}"
                        yield Record(job, number * interval, duration, pods, wants=asked)

    def _queues(self, source: Source) -> Iterator[tuple[str, list[WorkloadsSet]]]:
        """Yield the queues of all cohorts by their names, each with what is submitted to it."""
        known = 0
        for where, cohort in _list(source, "", yaml_document(source), "cohorts"):
            name, cohorts = _name(source, where, cohort), _whole(source, where, cohort, "count", most=MOST_QUEUES)
            sets = [
                (
                    _name(source, there, queues),
                    _whole(source, there, queues, "count", most=MOST_QUEUES),
                    [_workloads(source, *found) for found in _list(source, there, queues, "workloadsSets")],
                )
                for there, queues in _list(source, where, cohort, "queuesSets")
            ]
            known += cohorts * sum(count for _, count, _ in sets)
            if known > MOST_QUEUES:
                raise source.error(None, f"{where}: more than {MOST_QUEUES} queues")
            for number in range(1, cohorts + 1):
                for of_set, count, workloads in sets:
                    for queue in range(1, count + 1):
                        yield f"{name}-{number}-{of_set}-{queue}", workloads


def _workloads(source: Source, where: str, of: JSON) -> WorkloadsSet:
    """Return how many there are of each class, the seconds between them, and the classes."""
    count = _whole(source, where, of, "count")
    interval = _whole(source, where, of, "creationIntervalMs", least=0) / 1000
    kinds = [
        (_name(source, there, kind), *_shape(source, there, kind))
        for there, kind in _list(source, where, of, "workloads")
    ]
    return count, interval, kinds


def _shape(source: Source, where: str, kind: JSON) -> tuple[float, int, JSON]:
    """Return duration, pods, and what each asks for."""
    duration = _whole(source, where, kind, "runtimeMs") / 1000
    pods = _whole(source, where, kind, "podCount") if "podCount" in kind else 1
    try:
        wants: JSON = {"cpu": quantity(str(kind.get("request", 1)))}
    except ValueError as error:
        raise source.error(None, f"{where}.request: {error}") from None
    if "priority" in kind:
        wants["priority"] = _whole(source, where, kind, "priority", least=0)
    wants["labels"] = {CLASS: _name(source, where, kind)}
    constraint, level = kind.get("tasConstraint"), kind.get("tasLevel")
    if constraint in ("required", "preferred") and isinstance(level, str):
        wants["pod"] = {"metadata": {"annotations": {TOPOLOGY.format(constraint): level}}}
    return duration, pods, wants


def _list(source: Source, where: str, of: JSON, name: str) -> Iterator[tuple[str, JSON]]:
    """Yield the objects of a list, each with its place in the file."""
    place = f"{where}.{name}".lstrip(".")
    found = of.get(name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise source.error(None, f"{place}: expected a list of objects, not {quote(found)}")
    yield from ((f"{place}[{index}]", one) for index, one in enumerate(found))


def _whole(source: Source, where: str, of: JSON, name: str, *, least: int = 1, most: int = MOST) -> int:
    value = of.get(name)
    if type(value) is not int or not least <= value <= most:
        raise source.error(None, f"{where}.{name}: expected a whole number from {least} to {most}, not {quote(value)}")
    return value


def _name(source: Source, where: str, of: JSON) -> str:
    value = of.get("className")
    if not isinstance(value, str) or not value or len(value) > 40 or not value.replace("-", "").isalnum():
        raise source.error(None, f"{where}.className: expected letters, digits and dashes, not {quote(value)}")
    return value
