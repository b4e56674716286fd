"""The view that rules have of a schema and its values: their types, and their fields by names that CEL allows
(`k8s.io/apiserver/pkg/cel/common`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Any

from .. import cel
from ..apimachinery.status import show

JSON = dict[str, Any]
View = Callable[[Any], Any]
"""A function that returns the view that rules have of a value."""

_RESERVED = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
        *("let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_SYMBOL = re.compile(r"__|[-./]")
_SYMBOLS = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_NAME = re.compile(r"[a-zA-Z_./-][a-zA-Z0-9_./-]*", re.ASCII)
EMBEDDED = "x-kubernetes-embedded-resource"
_TEXT: JSON = {"type": "string"}
_OF_ROOT: JSON = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": {"type": "object", "properties": {"name": _TEXT, "generateName": _TEXT}},
}
_BY_FORMAT = {"date-time": ("timestamp",), "date": ("timestamp",), "duration": ("duration",), "byte": ("bytes",)}
_BY_TYPE = {"integer": ("int",), "number": ("double",), "boolean": ("bool",)}
_MAX_VIEWS = 4096


def field_name(name: str) -> str:
    """Return the name of a field in expressions; "" if it cannot have one."""
    if name in _RESERVED:
        return f"__{name}__"
    return _SYMBOL.sub(lambda found: _SYMBOLS[found[0]], name) if _NAME.fullmatch(name) else ""


def declared(schema: JSON, name: str = "selfType1", *, root: bool = False) -> cel.Type | None:
    """Return the type of values of a schema; None if rules cannot see them. `root`: of a whole object."""
    if schema.get("x-kubernetes-int-or-string"):
        return ("dyn",)
    json_type = schema.get("type")
    if json_type == "array":
        inner = _inner(schema.get("items"), f"{name}.@idx")
        return None if inner is None else ("list", inner)
    if json_type == "object":
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            inner = _inner(additional, f"{name}.@elem")
            return None if inner is None else ("map", ("string",), inner)
        properties = _properties(schema, root=root)

        def fields() -> Mapping[str, cel.Type]:
            found = {key: _inner(inner, f"{name}.{key}") for key, (_, inner) in properties.items()}
            return {key: inner for key, inner in found.items() if inner is not None}

        return ("object", cel.ObjectType(name, fields))
    return (
        _BY_FORMAT.get(schema.get("format") or "", ("string",))
        if json_type == "string"
        else _BY_TYPE.get(json_type or "")
    )


def _inner(schema: Any, name: str) -> cel.Type | None:
    return declared(schema, name, root=bool(schema.get(EMBEDDED))) if isinstance(schema, dict) else None


def _properties(schema: JSON, *, root: bool) -> dict[str, tuple[str, JSON]]:
    """Return the fields of an object by the name that rules have for them: their real name and schema."""
    properties = schema.get("properties") or {}
    if root:
        properties = with_root_fields(properties)
    plain = {name: (name, field) for name, field in properties.items() if name in _RESERVED}
    return plain | {escaped: (name, field) for name, field in properties.items() if (escaped := field_name(name))}


def with_root_fields(properties: JSON) -> JSON:
    """Return the properties of a whole object with those that all objects have. Where it declares all of them itself,
    its own count.
    """
    of_metadata = (properties.get("metadata") or {}).get("properties") or {}
    typed = all((properties.get(name) or {}).get("type") == field["type"] for name, field in _OF_ROOT.items())
    if typed and all((of_metadata.get(name) or {}).get("type") == "string" for name in ("name", "generateName")):
        return properties
    return {**properties, **_OF_ROOT}


class Views:
    """The views that rules have of the schemas in use, which are kept."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool], tuple[JSON, View]] = {}

    def of(self, schema: JSON, *, root: bool = False) -> View:
        """Return the view of values of a schema."""
        found = self._known.get((id(schema), root))
        if found is not None and found[0] is schema:
            return found[1]
        view = _view(schema, root=root)
        if len(self._known) >= _MAX_VIEWS:
            self._known.clear()
        self._known[id(schema), root] = (schema, view)
        return view


def _view(schema: JSON, *, root: bool) -> View:
    json_type = schema.get("type")
    if schema.get("x-kubernetes-int-or-string") or json_type in ("integer", "boolean"):
        return _as_it_is
    if json_type == "number":
        return lambda value: float(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if json_type == "string":
        read = _READ.get(schema.get("format") or "")
        return _as_it_is if read is None else _reading(read)
    if json_type == "array":
        return _list_view(schema)
    if json_type != "object":
        return _as_it_is
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict) and not schema.get("properties"):
        return _map_view(_view(additional, root=bool(additional.get(EMBEDDED))))
    return _object_view(schema, root=root)


def _as_it_is(value: Any) -> Any:
    return value


def _reading(read: View) -> View:
    def look(value: Any) -> Any:
        try:
            return read(value) if isinstance(value, str) else value
        except ValueError as error:
            raise cel.CelError(str(error)) from None

    return look


def _map_view(item: View) -> View:
    def look(value: Any) -> Any:
        if not isinstance(value, dict) or item is _as_it_is:
            return value
        return {key: item(member) for key, member in value.items()}

    return look


def _list_view(schema: JSON) -> View:
    items = schema.get("items") or {}
    item = _view(items, root=bool(items.get(EMBEDDED)))
    kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or ()

    def key_of(member: Any) -> Any:
        raw = member.raw if isinstance(member, cel.Object) else member
        return show([raw.get(key) for key in keys]) if kind == "map" and isinstance(raw, dict) else show(raw)

    def look(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        seen = value if item is _as_it_is else [item(member) for member in value]
        return cel.SetList(seen, key_of) if kind in ("set", "map") else seen

    return look


def _object_view(schema: JSON, *, root: bool) -> View:
    fields: dict[str, tuple[str, View]] | None = None

    def read(raw: JSON, name: str) -> Any:
        nonlocal fields
        if fields is None:
            fields = {
                escaped: (key, _view(field, root=bool(field.get(EMBEDDED))))
                for escaped, (key, field) in _properties(schema, root=root).items()
            }
        key, view = fields[name]
        value = raw[key]
        return None if value is None else view(value)

    return lambda value: cel.Object(value, read) if isinstance(value, dict) else value


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


_READ: dict[str, View] = {
    "date-time": cel.timestamp,
    "date": cel.timestamp,
    "duration": cel.duration,
    "byte": _bytes,
}
