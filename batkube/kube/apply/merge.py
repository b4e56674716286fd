"""The comparison of objects: the fields that one has, the differences, and the results of merging and pruning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import fields as paths
from .fields import Path
from .types import FIELDS, KEYED, SET, Type

JSON = dict[str, Any]


# What one object has and the other has not; null is a value like others.
_ABSENT = object()


class DuplicateKey(ValueError):
    """A key that is repeated in a list whose items are identified by keys."""


@dataclass(slots=True)
class Changes:
    """The differences between two objects."""

    added: set[Path] = field(default_factory=set)
    removed: set[Path] = field(default_factory=set)
    modified: set[Path] = field(default_factory=set)


def granular(value_type: Type, value: Any) -> bool:
    """Return True if the value has fields or items of its own. If not, it merges as a whole."""
    return (value_type.shape == FIELDS and isinstance(value, dict)) or (
        value_type.shape in (KEYED, SET) and isinstance(value, list)
    )


def elements(value_type: Type, value: Any) -> dict[str, Any]:
    """Return the parts of a granular value by their path elements. Raise DuplicateKey if two have the same element."""
    if value_type.shape == FIELDS:
        return {paths.field(name): item for name, item in value.items()}
    if value_type.shape == SET:
        return {paths.value(item): item for item in value}
    found: dict[str, Any] = {}
    for item in value:
        element = paths.key(value_type.key_of(item))
        if element in found:
            raise DuplicateKey(element)
        found[element] = item
    return found


def child(value_type: Type, element: str) -> Type:
    """Return the type of the part with that path element."""
    return value_type.child(element[2:] if value_type.shape == FIELDS else "")


def fields_of(value_type: Type, value: Any) -> set[Path]:
    """Return the fields that an applied configuration sets."""
    found: set[Path] = set()

    def walk(value_type: Type, value: Any, path: Path) -> None:
        if not granular(value_type, value) or not value:
            if path and not (granular(value_type, value) and value == []):  # who applies no items owns nothing
                found.add(path)
            return
        for element, item in elements(value_type, value).items():
            below = (*path, element)
            if value_type.shape in (KEYED, SET) or (
                value_type.names is not None and element[2:] not in value_type.names
            ):
                found.add(below)
            if value_type.shape != SET:
                walk(child(value_type, element), item, below)

    walk(value_type, value, ())
    return found


def compare(value_type: Type, old: Any, new: Any) -> Changes:
    """Return the differences of `new` from `old`."""
    changes = Changes()

    def walk(value_type: Type, old: Any, new: Any, path: Path) -> None:
        old_granular, new_granular = granular(value_type, old), granular(value_type, new)
        old_leaf, new_leaf = old is not _ABSENT and not old_granular, new is not _ABSENT and not new_granular
        if old_leaf or new_leaf or not ((old_granular and old) or (new_granular and new)):
            _leaf(old, new, path)
            return
        before = elements(value_type, old) if old_granular else {}
        after = elements(value_type, new) if new_granular else {}
        for element in [*before, *(element for element in after if element not in before)]:
            below = (*path, element)
            if value_type.shape == SET:
                _leaf(before.get(element, _ABSENT), after.get(element, _ABSENT), below)
            else:
                was, now = before.get(element, _ABSENT), after.get(element, _ABSENT)
                if was is None and isinstance(now, dict | list):
                    was = type(now)()  # a null list that is filled was there before
                elif now is None and isinstance(was, dict | list):
                    now = type(was)()
                walk(child(value_type, element), was, now, below)
        if path and old is _ABSENT:
            changes.added.add(path)
        elif path and new is _ABSENT:
            changes.removed.add(path)

    def _leaf(old: Any, new: Any, path: Path) -> None:
        if old is _ABSENT:
            changes.added.add(path)
        elif new is _ABSENT:
            changes.removed.add(path)
        elif old != new:
            changes.modified.add(path)

    walk(value_type, old, new, ())
    return changes


def merge(value_type: Type, live: Any, config: Any) -> Any:
    """Return `live` with the configuration merged into it."""
    if config is None and live and granular(value_type, live):
        return live  # null says as little of its parts as an empty one
    if live is None or not granular(value_type, config) or not granular(value_type, live):
        return config
    if value_type.shape == FIELDS:
        result = dict(live)
        for name, item in config.items():
            result[name] = merge(value_type.child(name), live.get(name), item)
        return result
    mine, theirs = elements(value_type, config), elements(value_type, live)
    merged = []
    waiting = list(theirs)
    for element, item in mine.items():
        while waiting and waiting[0] not in mine:  # what the applier does not know keeps its place
            merged.append(theirs[waiting.pop(0)])
        if element in theirs:
            waiting.remove(element)
            merged.append(
                merge(child(value_type, element), theirs[element], item) if value_type.shape == KEYED else item
            )
        else:
            merged.append(item)
    return merged + [theirs[element] for element in waiting]


def without(value_type: Type, value: Any, doomed: set[Path], kept: set[Path], path: Path = ()) -> Any:
    """Return the value without the `doomed` fields. All that leads to a `kept` field stays."""
    if not granular(value_type, value):
        return value
    left: dict[str, Any] = {}
    for element, item in elements(value_type, value).items():
        below = (*path, element)
        if below in doomed and below not in kept:
            continue
        left[element] = (
            without(child(value_type, element), item, doomed, kept, below) if value_type.shape != SET else item
        )
    if value and not left and path:
        return None  # as structured-merge-diff leaves what it has emptied
    if value_type.shape == FIELDS:
        return {element[2:]: item for element, item in left.items()}
    return list(left.values())
