"""The owners of fields: the entries of metadata.managedFields, and how writes change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..apimachinery.status import ApiError, plural
from . import fields as paths
from .fields import Fields
from .merge import Changes

JSON = dict[str, Any]

APPLY, UPDATE = "Apply", "Update"
BEFORE_FIRST_APPLY = "before-first-apply"


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields that one manager owns by one kind of operation."""

    manager: str
    operation: str
    api_version: str
    time: str
    fields: Fields
    subresource: str = ""

    def same_writer(self, other: Entry) -> bool:
        return (self.manager, self.operation, self.subresource) == (
            other.manager,
            other.operation,
            other.subresource,
        ) and (self.operation == APPLY or self.api_version == other.api_version)

    def json(self) -> JSON:
        entry: JSON = {
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.api_version,
        }
        if self.time:  # none if the manager never changed a thing
            entry["time"] = self.time
        entry["fieldsType"] = "FieldsV1"
        entry["fieldsV1"] = paths.encode(self.fields)
        if self.subresource:
            entry["subresource"] = self.subresource
        return entry

    def name(self) -> str:
        """Return the manager as a conflict names it."""
        text = f'"{self.manager}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        if self.operation == UPDATE:
            text += f" using {self.api_version}"
        return text


def read(managed: list[JSON]) -> list[Entry]:
    """Return the entries of a managedFields."""
    return [
        Entry(
            manager=entry.get("manager", ""),
            operation=entry.get("operation", ""),
            api_version=entry.get("apiVersion", ""),
            time=entry.get("time", ""),
            fields=paths.decode(entry.get("fieldsV1") or {}),
            subresource=entry.get("subresource", ""),
        )
        for entry in managed
    ]


def readable(managed: list[JSON]) -> bool:
    """Return True if the entries that a client sends are complete enough to tell the owners of fields."""
    return all(
        entry.get("operation") in (APPLY, UPDATE)
        and entry.get("apiVersion")
        and entry.get("fieldsType") == "FieldsV1"
        and isinstance(entry.get("fieldsV1"), dict)
        for entry in managed
    )


def write(entries: list[Entry]) -> list[JSON]:
    """Return a managedFields: applies first, then sorted by time and name."""
    ordered = sorted(
        entries, key=lambda entry: (entry.operation != APPLY, entry.time, entry.manager, entry.subresource)
    )
    return [entry.json() for entry in ordered if entry.fields]


def after_update(entries: list[Entry], writer: Entry, changes: Callable[[str], Changes | None]) -> list[Entry]:
    """Return the entries after a write that was not an apply: the writer is the only owner of the fields it wrote.

    `changes` gives what it changed as an API version has it. An entry of a version without any is lost.
    """
    result = []
    mine = changes(writer.api_version) or Changes()
    found = False
    for entry in entries:
        those = mine if entry.same_writer(writer) else changes(entry.api_version)
        if those is None:
            continue
        written, gone = paths.owned(those.added | those.modified), frozenset(those.removed)
        if entry.same_writer(writer):
            found = True
            now = (entry.fields | written) - gone
            result.append(replace(entry, fields=now, time=writer.time if now != entry.fields else entry.time))
        else:
            result.append(replace(entry, fields=entry.fields - written - gone))
    written = paths.owned(mine.added | mine.modified)
    if not found and written:
        result.append(replace(writer, fields=written))
    return [entry for entry in result if entry.fields]


def after_apply(
    entries: list[Entry], writer: Entry, changes: Changes, force: bool, free: Fields = frozenset(), dated: bool = False
) -> list[Entry]:
    """Return the entries after an apply.

    Raise 409 if it changes fields of other owners, unless it is forced. `free` fields may be taken. `dated`: the entry
    keeps its new time even if nothing changes.
    """
    touched = changes.added | changes.modified
    conflicts = []
    result = []
    for entry in entries:
        if entry.same_writer(writer):
            continue
        lost = entry.fields & touched & writer.fields
        if lost - free:
            conflicts.append((entry, lost - free))
        left = entry.fields - lost - (changes.removed - writer.fields)
        result.append(replace(entry, fields=left))
    if conflicts and not force:
        raise _conflict(conflicts)
    mine = next((entry for entry in entries if entry.same_writer(writer)), None)
    if not touched and not changes.removed and not dated:
        writer = replace(writer, time=mine.time if mine is not None else "")
    return [entry for entry in [*result, writer] if entry.fields]


def _conflict(conflicts: list[tuple[Entry, Fields]]) -> ApiError:
    causes = []
    lines = []
    for entry, lost in sorted(conflicts, key=lambda conflict: conflict[0].name()):
        shown = sorted(paths.shown(path) for path in lost)
        causes += [
            {"reason": "FieldManagerConflict", "message": f"conflict with {entry.name()}", "field": path}
            for path in shown
        ]
        lines.append((entry.name(), shown))
    count = len(causes)
    if count == 1:
        told = f"conflict with {lines[0][0]}: {lines[0][1][0]}"
    else:
        told = "\n".join(
            f"conflicts with {name}:\n" + "\n".join(f"- {path}" for path in shown) for name, shown in lines
        )
    message = f"Apply failed with {count} {plural(count, 'conflict', 'conflicts')}: {told}"
    return ApiError(409, "Conflict", message, {"causes": causes})
