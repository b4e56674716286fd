"""Workflows of Knavigator (YAML), NVIDIA's benchmarks of schedulers: tasks, one after the other.

https://github.com/NVIDIA/knavigator
"""

from collections.abc import Iterator
from typing import Any

from batkube.batsim.input_file import quote
from batkube.batsim.jobs import MAX_RESOURCES
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source
from batkube.workloads.values import seconds
from batkube.workloads.yaml_file import yaml_document

JSON = dict[str, Any]


MOST = 1_000_000
"""The most jobs of a task."""


class KnavigatorReader(Reader):
    """A task ``SubmitObj`` is as many jobs as its ``count``, at once; ``Sleep`` is time between tasks.

    What a pod asks for is said in a template that is not part of the file: it asks for nothing.
    """

    name = "knavigator"
    title = "workflows of Knavigator (YAML)"

    def claims(self, head: Head) -> bool:
        """Tell whether it has a list of tasks that configure or submit something."""
        lines = head.lines
        kinds = ("type: SubmitObj", "type: Configure", "type: UpdateNodes", "type: RegisterObj")
        return "tasks:" in lines and any(line.removeprefix("- ") in kinds for line in lines)

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the jobs, named by their task, and numbered."""
        document = yaml_document(source)
        tasks = document.get("tasks")
        if not isinstance(tasks, list):
            raise source.error(None, "tasks: expected a list")
        now, submits = 0.0, 0
        seen: set[str] = set()
        for index, task in enumerate(tasks):
            where = f"tasks[{index}]"
            if not isinstance(task, dict) or not isinstance(task.get("type"), str):
                raise source.error(None, f"{where}: expected a task with a type")
            params = task.get("params") or {}
            if not isinstance(params, dict):
                raise source.error(None, f"{where}.params: expected an object, not {quote(params)}")
            if task["type"] == "Sleep":
                now += _time(source, f"{where}.params.timeout", params.get("timeout"))
            if task["type"] != "SubmitObj":
                continue
            submits += 1
            name = str(task.get("id", submits))
            if name in seen or not name or not set(name).isdisjoint('",|}!'):
                raise source.error(None, f"{where}.id: expected a name that no other task has, not {quote(name)}")
            seen.add(name)
            yield from _jobs(source, where, name, params, now)
        if not submits:
            raise source.error(None, "no task submits anything (type: SubmitObj)")


def _jobs(source: Source, where: str, name: str, params: JSON, now: float) -> Iterator[Record]:
    given = params.get("params") or {}
    if not isinstance(given, dict):
        raise source.error(None, f"{where}.params.params: expected an object, not {quote(given)}")
    count = _number(source, f"{where}.params.count", params.get("count", 1))
    if count > MOST:
        raise source.error(None, f"{where}.params.count: expected at most {MOST}, not {count}")
    if "workers" in given:
        pods = 1 + _number(source, f"{where}.params.params.workers", given["workers"])  # and their leader
    else:
        pods = _number(source, f"{where}.params.params.replicas", given.get("replicas", 1))
    duration = _time(source, f"{where}.params.params.ttl", given.get("ttl"))
    if duration == 0:
        raise source.error(None, f"{where}.params.params.ttl: must not be 0")
    for number in range(1, count + 1):
        yield Record(f"{name}-{number}", now, duration, pods)


def _number(source: Source, where: str, value: object) -> int:
    if type(value) is not int or not 0 < value < MAX_RESOURCES:
        raise source.error(None, f"{where}: expected a whole number above 0, not {quote(value)}")
    return value


def _time(source: Source, where: str, value: object) -> float:
    try:
        length = seconds(str(value))
    except ValueError as error:
        raise source.error(None, f"{where}: {error}") from None
    if length < 0:
        raise source.error(None, f"{where}: must not be negative, and is {quote(value)}")
    return length
