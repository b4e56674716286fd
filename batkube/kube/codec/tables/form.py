"""The form of tables, in which kubectl asks for objects that it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import orjson

from ...apimachinery.status import ApiError, quote
from ...schema.resources import ResourceType
from ...storage.form import ListMeta
from ...storage.store import Version
from ..conversion import metadata_alone, to_served
from ..empty_objects import empty_fields
from ..forms import INITIAL_EVENTS_END, json_error
from .ages import Ages
from .cells import CELLS
from .columns import column_definitions
from .custom import custom_cells

JSON = dict[str, Any]

# What a row says of its object: nothing, its metadata (PartialObjectMetadata), or all of it.
INCLUDES = ("", "Metadata", "Object", "None")


def table_form(resource: ResourceType, version: str, include: str, now: Callable[[], float]) -> TableForm:
    """Return the form of a Table of meta.k8s.io/`version`. Raise 400 if `include` is unknown.

    `include` is the query's includeObject. `now` returns the simulated time in Unix seconds.
    """
    if include not in INCLUDES:
        why = f"includeObject: Invalid value: {quote(include)}: must be 'Metadata', 'Object', 'None', or empty"
        raise ApiError.bad_request(f"Unable to convert to Table as requested: {why}")
    return TableForm(resource, version, include or "Metadata", now)


class TableForm:
    """The form that sends versions of one resource as tables. Ages grow, so nothing is kept from one answer to the
    next.
    """

    def __init__(self, resource: ResourceType, version: str, include: str, now: Callable[[], float]) -> None:
        self._resource = resource
        self._api_version = f"meta.k8s.io/{version}"
        self._include = include
        self._now = now

    def one(self, version: Version) -> bytes:
        return orjson.dumps(self._table([version], {"resourceVersion": str(version.revision)}))

    def many(self, versions: Sequence[Version], meta: ListMeta) -> bytes:
        return orjson.dumps(self._table(versions, meta.json())) + b"\n"

    def event(self, kind: str, version: Version, first: bool) -> bytes:
        """Return a watch event. The first one of a stream has the columns."""
        content = self._table([version], {"resourceVersion": str(version.revision)}, headed=first)
        return orjson.dumps({"type": kind, "object": content}) + b"\n"

    def bookmark(self, revision: int, marked: bool, first: bool) -> bytes:
        """Return a row of empty cells, whose object carries the mark."""
        metadata: JSON = {"resourceVersion": str(revision)}
        if marked:
            metadata["annotations"] = {INITIAL_EVENTS_END: "true"}
        resource = self._resource
        obj: JSON = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        obj |= empty_fields(resource)
        rows = [_row(obj, self._cells(obj, Ages(self._now())), self._shown(obj))]
        content = self._wrapped(rows, {"resourceVersion": str(revision)}, headed=first)
        return orjson.dumps({"type": "BOOKMARK", "object": content}) + b"\n"

    def error(self, status: JSON) -> bytes:
        """Return an ERROR event: a Status, not a table."""
        return json_error(status)

    def _table(self, versions: Iterable[Version], meta: JSON, headed: bool = True) -> JSON:
        ages = Ages(self._now())
        rows = []
        for version in versions:
            served = to_served(self._resource, version.obj)
            # The real server prints its internal type: events of both groups have the same cells.
            rows.append(_row(served, self._cells(version.obj, ages), self._shown(served)))
        return self._wrapped(rows, meta, headed)

    def _wrapped(self, rows: list[JSON], meta: JSON, headed: bool) -> JSON:
        columns = column_definitions(self._resource) if headed else None
        return {
            "kind": "Table",
            "apiVersion": self._api_version,
            "metadata": meta,
            "columnDefinitions": columns,
            "rows": rows if rows or self._resource.kind in CELLS or self._resource.custom else None,
        }

    def _cells(self, obj: JSON, ages: Ages) -> list[Any]:
        return cells_of(self._resource, obj, ages)

    def _shown(self, obj: JSON) -> JSON | None:
        if self._include == "None":
            return None
        if self._include == "Object":
            return obj
        return {"kind": "PartialObjectMetadata", "apiVersion": self._api_version, "metadata": metadata_alone(obj)}


def cells_of(resource: ResourceType, obj: JSON, ages: Ages) -> list[Any]:
    """Return the cells of a row, in the order of the columns. `obj` is in the form in which it is stored."""
    if resource.custom:
        return custom_cells(resource, obj, ages)
    cells = CELLS.get(resource.kind)
    if cells is not None:
        return cells(obj, ages)
    metadata = obj["metadata"]
    return [metadata.get("name", ""), metadata.get("creationTimestamp") or "0001-01-01T00:00:00Z"]


def _row(obj: JSON, cells: list[Any], shown: JSON | None) -> JSON:
    row: JSON = {"cells": cells}
    ended = _ENDED.get(obj.get("status", {}).get("phase", "")) if obj["kind"] == "Pod" else None
    if ended is not None:
        row["conditions"] = [ended]
    row["object"] = shown
    return row


_ENDED = {
    phase: {"type": "Completed", "status": "True", "reason": phase, "message": message}
    for phase, message in (
        ("Succeeded", "The pod has completed successfully."),
        ("Failed", "The pod failed."),
    )
}


def table(resource: ResourceType, objects: Sequence[JSON], now: float, include: str = "Metadata") -> JSON:
    """Return a whole Table of stored objects, at a moment of simulated time."""
    form = table_form(resource, "v1", include, lambda: now)
    build = partial(Version, resource)
    versions = [build((obj["metadata"].get("namespace", ""), obj["metadata"]["name"]), obj, 0) for obj in objects]
    content: JSON = orjson.loads(form.many(versions, ListMeta(0)))
    return content
