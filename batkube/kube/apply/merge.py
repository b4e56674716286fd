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


def granular(its: Type, value: Any) -> bool:
    """Return True if the value has fields or items of its own. If not, it merges as a whole."""
    return (its.shape == FIELDS and isinstance(value, dict)) or (its.shape in (KEYED, SET) and isinstance(value, list))


def elements(its: Type, value: Any) -> dict[str, Any]:
    """Return the parts of a granular value by their path elements. Raise DuplicateKey if two have the same element."""
    if its.shape == FIELDS:
        return {paths.field(name): item for name, item in value.items()}
    if its.shape == SET:
        return {paths.value(item): item for item in value}
    found: dict[str, Any] = {}
    for item in value:
        element = paths.key(its.key_of(item))
        if element in found:
            raise DuplicateKey(element)
        found[element] = item
    return found


def child(its: Type, element: str) -> Type:
    """Return the type of the part with that path element."""
    return its.child(element[2:] if its.shape == FIELDS else "")


def fields_of(its: Type, value: Any) -> set[Path]:
    """Return the fields that an applied configuration sets."""
    found: set[Path] = set()

    def walk(its: Type, value: Any, path: Path) -> None:
        if not granular(its, value) or not value:
            if path and not (granular(its, value) and value == []):  # who applies no items owns nothing
                found.add(path)
            return
        for element, item in elements(its, value).items():
            below = (*path, element)
            if its.shape in (KEYED, SET) or (its.names is not None and element[2:] not in its.names):
                found.add(below)
            if its.shape != SET:
                walk(child(its, element), item, below)

    walk(its, value, ())
    return found


def compare(its: Type, old: Any, new: Any) -> Changes:
    """Return the differences of `new` from `old`."""
    changes = Changes()

    def walk(its: Type, old: Any, new: Any, path: Path) -> None:
        old_granular, new_granular = granular(its, old), granular(its, new)
        old_leaf, new_leaf = old is not _ABSENT and not old_granular, new is not _ABSENT and not new_granular
        if old_leaf or new_leaf or not ((old_granular and old) or (new_granular and new)):
            _leaf(old, new, path)
            return
        before = elements(its, old) if old_granular else {}
        after = elements(its, new) if new_granular else {}
        for element in [*before, *(element for element in after if element not in before)]:
            below = (*path, element)
            if its.shape == SET:
                _leaf(before.get(element, _ABSENT), after.get(element, _ABSENT), below)
            else:
                was, now = before.get(element, _ABSENT), after.get(element, _ABSENT)
                if was is None and isinstance(now, dict | list):
                    was = type(now)()  # a null list that is filled was there before
                elif now is None and isinstance(was, dict | list):
                    now = type(was)()
                walk(child(its, element), was, now, below)
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

    walk(its, old, new, ())
    return changes


def merge(its: Type, live: Any, config: Any) -> Any:
    """Return `live` with the configuration merged into it."""
    if config is None and live and granular(its, live):
        return live  # null says as little of its parts as an empty one
    if live is None or not granular(its, config) or not granular(its, live):
        return config
    if its.shape == FIELDS:
        result = dict(live)
        for name, item in config.items():
            result[name] = merge(its.child(name), live.get(name), item)
        return result
    mine, theirs = elements(its, config), elements(its, live)
    merged = []
    waiting = list(theirs)
    for element, item in mine.items():
        while waiting and waiting[0] not in mine:  # what the applier does not know keeps its place
            merged.append(theirs[waiting.pop(0)])
        if element in theirs:
            waiting.remove(element)
            merged.append(merge(child(its, element), theirs[element], item) if its.shape == KEYED else item)
        else:
            merged.append(item)
    return merged + [theirs[element] for element in waiting]


def without(its: Type, value: Any, doomed: set[Path], kept: set[Path], path: Path = ()) -> Any:
    """Return the value without the `doomed` fields. All that leads to a `kept` field stays."""
    if not granular(its, value):
        return value
    left: dict[str, Any] = {}
    for element, item in elements(its, value).items():
        below = (*path, element)
        if below in doomed and below not in kept:
            continue
        left[element] = without(child(its, element), item, doomed, kept, below) if its.shape != SET else item
    if value and not left and path:
        return None  # as structured-merge-diff leaves what it has emptied
    if its.shape == FIELDS:
        return {element[2:]: item for element, item in left.items()}
    return list(left.values())
