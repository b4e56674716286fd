"""Workflows: tasks that depend on each other, read from a Pegasus DAX file (Batsim's options ``-W`` and ``--WS``).

Like Batsim, it reads each ``job`` with its ``id``, ``runtime`` in seconds and ``num_procs``, and each ``child`` with
its ``parent``s (``workflow.cpp``).
"""

import math
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from batkube.batsim.input_file import read_text


class WorkflowError(ValueError):
    """A workflow that cannot be used. The text, one line, names file and element."""


@dataclass(slots=True, eq=False)
class Task:
    """A task of a workflow: a delay."""

    id: str
    runtime: float
    """The runtime in seconds."""
    processors: int
    """The number of hosts that its job asks for."""
    parents: list["Task"] = field(default_factory=list, repr=False)
    children: list["Task"] = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Workflow:
    """A workflow, whose tasks Batsim submits as jobs of a workload of the same name."""

    name: str
    path: Path
    tasks: tuple[Task, ...]
    """The tasks in order of their ids."""
    start: float = 0.0
    """The date in seconds before which no task is submitted."""


def read_workflow(path: Path, name: str, start: float = 0.0) -> Workflow:
    """Return the workflow in a file. Raises WorkflowError."""
    path = Path(path)
    try:
        root = fromstring(read_text(path))
        if _tag(root) != "adag":
            raise ValueError(f"expected an <adag>, found a <{_tag(root)}>")
        tasks = {task.id: task for task in map(_task, _named(root, "job"))}
        for element in _named(root, "child"):
            child = _known(tasks, element)
            for parent in (_known(tasks, part) for part in _named(element, "parent")):
                if parent not in child.parents:
                    child.parents.append(parent)
                    parent.children.append(child)
    except ParseError as error:
        raise WorkflowError(f"{path}: not XML: {error}") from None
    except DefusedXmlException as error:
        raise WorkflowError(f"{path}: declares entities, which is refused: {error}") from None
    except ValueError as error:
        raise WorkflowError(f"{path}: {error}") from None
    return Workflow(name, path, tuple(tasks[key] for key in sorted(tasks)), start)


def _tag(element: Element) -> str:
    """Return the tag without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _named(element: Element, tag: str) -> list[Element]:
    return [part for part in element if _tag(part) == tag]


def _task(element: Element) -> Task:
    name = element.get("id")
    if not name:
        raise ValueError("job: id: missing")
    text = element.get("runtime", "0")
    try:
        runtime = float(text)
    except ValueError:
        runtime = math.nan
    if not (math.isfinite(runtime) and runtime >= 0):
        raise ValueError(f"job {name!r}: runtime: expected seconds, not {text!r}")
    processors = element.get("num_procs", "1").strip()
    # A text that is no number above 0 counts as 1.
    return Task(name, runtime, max(1, int(processors)) if processors.isdecimal() else 1)


def _known(tasks: dict[str, Task], element: Element) -> Task:
    name = element.get("ref", "")
    if name not in tasks:
        raise ValueError(f"{_tag(element)}: ref: there is no job {name!r}")
    return tasks[name]
