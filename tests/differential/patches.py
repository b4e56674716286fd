"""Patches of all four kinds at random, most of them about what an object has, some with what patches may not say."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

JSON = Any

# Fields by which items of lists are known, for patches that mean one of them.
_KEYS = ("name", "containerPort", "key", "port", "mountPath", "type", "topologyKey", "ip", "uid", "conditionType")


class Patch(NamedTuple):
    """The body of a PATCH, its media type, and query parameters."""

    media_type: str
    body: JSON
    query: dict[str, str]


def patches(base: JSON, seed: str, count: int) -> Iterator[Patch]:
    """The same patches for the same seed."""
    chance = random.Random(seed)
    about = {name: value for name, value in base.items() if name not in ("apiVersion", "kind")}
    for _ in range(count):
        kind = chance.choice(["json", "merge", "strategic", "strategic", "apply", "apply"])
        if kind == "json":
            yield Patch("application/json-patch+json", _operations(chance, about), {})
            continue
        part = _part(chance, about, 0)
        if isinstance(part.get("metadata"), dict):
            part["metadata"].pop("name", None)
        if kind == "merge":
            yield Patch("application/merge-patch+json", part, {})
        elif kind == "strategic":
            _direct(chance, part, about)
            yield Patch("application/strategic-merge-patch+json", part, {})
        else:
            query = {"fieldManager": chance.choice(["one", "two"])} if chance.random() < 0.95 else {}
            if chance.random() < 0.5:
                query["force"] = "true"
            config = {**part, "apiVersion": base["apiVersion"], "kind": base["kind"]}
            yield Patch("application/apply-patch+yaml", config, query)


def _places(value: JSON, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], JSON]]:
    yield path, value
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in parts:
        yield from _places(item, (*path, step))


def _pointer(path: tuple[str | int, ...]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _operations(chance: random.Random, about: JSON) -> JSON:
    """Operations of a JSON patch (RFC 6902)."""
    places = [place for place in _places(about) if place[0]]
    operations = []
    for _ in range(chance.choice([1, 1, 2, 3])):
        path, value = chance.choice(places)
        operation = chance.choice(["add", "remove", "replace", "test", "copy", "move", "bad"])
        ending = chance.choice([""] * 12 + ["/missing"])
        if isinstance(value, list) and not ending:
            ending = chance.choice([""] * 6 + ["/-", "/5", "/-1", "/01", "/x"])
        step: JSON = {"op": operation, "path": _pointer(path) + ending}
        if operation in ("add", "replace", "test") and chance.random() < 0.95:
            step["value"] = chance.choice([None, "", "x", 1, True, [], {}, {"a": "b"}, ["x"], value, value, value])
        if operation in ("copy", "move"):
            step["from"] = _pointer(chance.choice(places)[0]) + chance.choice(["", "", "", "/nope"])
        operations.append(step)
    return operations


def _part(chance: random.Random, value: JSON, depth: int) -> JSON:
    """Some of an object, some of it changed."""
    if isinstance(value, dict):
        share = 0.35 if depth else 0.6
        part = {name: _part(chance, item, depth + 1) for name, item in value.items() if chance.random() < share}
        if depth > 1:
            part |= {key: value[key] for key in _KEYS if key in value and chance.random() < 0.9}
        if chance.random() < 0.1:
            part["newField"] = "x"
        return part
    if isinstance(value, list):
        if chance.random() < 0.2:
            return []
        items = [_part(chance, item, depth + 2) for item in value if chance.random() < 0.8]
        if value and chance.random() < 0.3:
            items.append(_part(chance, value[0], depth + 2))
        if chance.random() < 0.2:
            items.reverse()
        return items
    return chance.choice([value, value, None, "x", 1]) if chance.random() < 0.4 else value


def _direct(chance: random.Random, part: JSON, about: JSON) -> None:
    """Put directives of strategic merge patches into it."""
    if isinstance(part, list):
        for index, item in enumerate(part):
            _direct(chance, item, about[index] if isinstance(about, list) and index < len(about) else {})
    if not isinstance(part, dict):
        return
    if chance.random() < 0.06:
        part["$patch"] = chance.choice(["replace", "delete", "merge", "bogus"])
    if part and chance.random() < 0.04:
        part["$retainKeys"] = [chance.choice(sorted(part))]
    for name in list(part):
        was = about.get(name) if isinstance(about, dict) else None
        if isinstance(part[name], list) and isinstance(was, list) and was and chance.random() < 0.2:
            _direct_list(chance, part, name, was)
        _direct(chance, part[name], was)


def _direct_list(chance: random.Random, part: JSON, name: str, was: list[JSON]) -> None:
    if not isinstance(was[0], dict):
        part[f"$deleteFromPrimitiveList/{name}"] = [was[0]]
        return
    key = next((key for key in _KEYS if key in was[0]), None)
    if key is None:
        return
    if chance.random() < 0.5:
        order = chance.sample(was, len(was))
        part[f"$setElementOrder/{name}"] = [{key: item[key]} for item in order if key in item]
    else:
        part[name].append({key: was[0][key], "$patch": "delete"})
