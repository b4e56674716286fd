"""Objects with one thing changed: a field left out, of another type, with a value that may not be, or one too many.

What fields there are, and of which type, is read from the OpenAPI document (v2) of a server.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

JSON = Any
Path = tuple[str | int, ...]

DELETED = "<deleted>"
_STRINGS = ["", "Bad_Value!", "a" * 300, "UPPER", "a.b", "-x", "x", 7, None]
_NUMBERS = [-1, 0, 1, 2**31 - 1, 2**31, 70000, "5", 1.5, None]
_QUANTITIES = ["", "-1", "abc", "1.5", "1e3", "100m", "0", 5, "1Ki", "0.0001"]
_INT_OR_STRINGS = [-1, 0, 1, 70000, "", "50%", "101%", "x", "Bad_Value!", "-5%"]
_TIMES = ["", "x", "2026-01-01T00:00:00Z", "2026-01-01", None]
_LEFT_OUT = (("apiVersion",), ("kind",), ("metadata", "managedFields"))


class Mutation(NamedTuple):
    """An object in which one value is another."""

    base: JSON
    path: Path
    value: JSON

    @property
    def object(self) -> JSON:
        """The whole of it, made when asked for: of all mutations few are."""
        return _with(self.base, self.path, self.value)


class Schemas:
    """The definitions of an OpenAPI document."""

    def __init__(self, document: JSON) -> None:
        self._definitions = document["definitions"]
        self._kinds = {
            (kind["group"], kind["version"], kind["kind"]): name
            for name, definition in self._definitions.items()
            for kind in definition.get("x-kubernetes-group-version-kind", ())
        }

    def mutations(self, base: JSON) -> Iterator[Mutation]:
        """All mutations of an object."""
        group, _, version = base["apiVersion"].rpartition("/")
        schema = {"$ref": "/" + self._kinds[group, version, base["kind"]]}
        for path, field, current in self._walk(base, schema, ()):
            for value in (
                [DELETED, *self._values(field, current)] if current is not None else self._values(field, current)
            ):
                if value != current or value == DELETED:
                    yield Mutation(base, path, value)

    def _walk(self, value: JSON, schema: JSON, path: Path) -> Iterator[tuple[Path, JSON, JSON]]:
        """All places of an object, with their schemas and values; also those where it says nothing."""
        resolved = self._resolved(schema)
        if isinstance(value, dict) and "properties" in resolved:
            for name, field in resolved["properties"].items():
                below = (*path, name)
                if below not in _LEFT_OUT:
                    yield below, field, value.get(name)
                    if name in value:
                        yield from self._walk(value[name], field, below)
            yield (*path, "unknownField"), {"type": "string"}, None
        elif isinstance(value, dict) and "additionalProperties" in resolved:
            for name, item in value.items():
                yield (*path, name), resolved["additionalProperties"], item
                yield from self._walk(item, resolved["additionalProperties"], (*path, name))
        elif isinstance(value, list) and "items" in resolved:
            for index, item in enumerate(value):
                yield from self._walk(item, resolved["items"], (*path, index))

    def _values(self, schema: JSON, current: JSON) -> list[JSON]:
        """Return what may stand there, right or wrong."""
        name, resolved = _name(schema), self._resolved(schema)
        kind = resolved.get("type")
        for ending, values in (("Quantity", _QUANTITIES), ("IntOrString", _INT_OR_STRINGS), ("Time", _TIMES)):
            if name.endswith(ending):
                return values
        if kind == "string":
            return ["!!", "YQ=="] if resolved.get("format") == "byte" else _STRINGS
        if kind in ("integer", "number"):
            return _NUMBERS
        if kind == "boolean":
            return [True, False, "true", None]
        if kind == "array":
            item = self._least(resolved["items"])
            twice = [[*current, copy.deepcopy(current[0])]] if isinstance(current, list) and current else []
            return [[], None, {}, *twice, [None], [item], [item, item]]
        if "additionalProperties" in resolved:
            item = self._least(resolved["additionalProperties"])
            return [{}, None, {"Bad Key!": item}, {"": item}, {"a/b": item}, {"x": 7}, {"x": "Bad Value!"}, {"x": ""}]
        properties = resolved.get("properties") or {}
        full = {name: self._least(field, 2) for name, field in properties.items()}
        return [{}, None, self._least(schema), [], full] if properties or kind == "object" else [{}, "x", 5]

    def _least(self, schema: JSON, depth: int = 0) -> JSON:
        """A value with no more than must be there."""
        name, resolved = _name(schema), self._resolved(schema)
        kind = resolved.get("type")
        if name.endswith("Quantity"):
            return "1"
        if name.endswith("Time"):
            return "2026-01-01T00:00:00.000000Z" if name.endswith("MicroTime") else "2026-01-01T00:00:00Z"
        if name.endswith("IntOrString") or kind in ("integer", "number"):
            return 1
        if kind == "string":
            return "YQ==" if resolved.get("format") == "byte" else "x"
        if kind == "boolean":
            return True
        if kind == "array":
            return [self._least(resolved["items"], depth + 1)] if depth < 4 else []
        if "additionalProperties" in resolved:
            return {"k": self._least(resolved["additionalProperties"], depth + 1)}
        return {name: self._least(resolved["properties"][name], depth + 1) for name in resolved.get("required", ())}

    def _resolved(self, schema: JSON) -> JSON:
        while "$ref" in schema:
            schema = self._definitions[_name(schema)]
        return schema


def _name(schema: JSON) -> str:
    return str(schema.get("$ref", "")).rpartition("/")[2]


def _with(base: JSON, path: Path, value: JSON) -> JSON:
    changed = copy.deepcopy(base)
    place = changed
    for step in path[:-1]:
        place = place[step]
    if value == DELETED:
        place.pop(path[-1], None)
    else:
        place[path[-1]] = value
    return changed
