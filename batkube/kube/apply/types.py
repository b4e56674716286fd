"""The ways in which values merge: field by field, by keys, as sets, or as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..schema import api_types, read_json

JSON = dict[str, Any]

LEAF, FIELDS, KEYED, SET = "leaf", "fields", "keyed", "set"

_KEY_DEFAULTS: JSON = {"protocol": "TCP"}
"""The default values of keys in lists of built-in kinds."""


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """The way in which a value merges.

    LEAF: as a whole, one field. FIELDS: a struct or a map. KEYED: a list of items identified by `keys`. SET: a list of
    values.
    """

    shape: str
    child: Callable[[str], Type]  # the type of a field; of KEYED the type of all items
    keys: tuple[str, ...] = ()
    key_defaults: Mapping[str, Any] | None = None  # of keys, which an applier may leave out

    names: frozenset[str] | None = frozenset()  # of FIELDS: those that are declared, None for all; others are keys

    def key_of(self, item: Any) -> JSON:
        """Return the values that identify an item of a KEYED list."""
        if not isinstance(item, dict):
            return {}
        defaults = self.key_defaults or {}
        found = {name: item.get(name, defaults.get(name)) for name in self.keys}
        return {name: field_type for name, field_type in found.items() if field_type is not None}


def _no_child(name: str) -> Type:
    return WHOLE


def _free(name: str) -> Type:
    return UNTYPED


WHOLE = Type(LEAF, _no_child)
# What no schema describes: objects merge field by field, lists are wholes.
UNTYPED = Type(FIELDS, _free)


def built_in(type_name: str) -> Type:
    """Return the merge type of a built-in type, such as `core/v1.Pod`."""
    return _struct(type_name)


@cache
def _rules() -> Any:
    return read_json("list_types.json")


@cache
def _struct(type_name: str) -> Type:
    if not api_types.has_type(type_name) or type_name in _rules()["atomic"]:
        return WHOLE
    return _granular(type_name)


def _granular(type_name: str) -> Type:
    fields: dict[str, Type] = {}

    def child(name: str) -> Type:
        if not fields:
            fields.update(_fields(type_name))
        return fields.get(name, UNTYPED)

    return Type(FIELDS, child, names=None)


def _fields(type_name: str) -> dict[str, Type]:
    return _fields_by(type_name, {})


def _fields_by(type_name: str, outer: JSON) -> dict[str, Type]:
    """Return the fields of a struct. `outer` are the rules of the struct it is inlined in, which may be about its
    fields.
    """
    rules = {**_rules()["fields"].get(type_name, {}), **outer}
    fields: dict[str, Type] = {}
    for field in api_types.fields_of(type_name):
        if field.inline:
            fields.update(_fields_by(field.type, rules))
            continue
        rule = rules.get(field.name)
        if rule == "atomic":
            fields[field.name] = WHOLE
        elif rule == "granular":
            fields[field.name] = _granular(field.type)
        elif field.shape == "list":
            fields[field.name] = _list(rule, _struct(field.type), _KEY_DEFAULTS)
        elif field.shape == "map":
            fields[field.name] = Type(FIELDS, _always(_struct(field.type)))
        else:
            fields[field.name] = UNTYPED if field.type == "RawExtension" else _struct(field.type)
    return fields


def _list(rule: Any, item: Type, key_defaults: Mapping[str, Any]) -> Type:
    if rule == "set":
        return Type(SET, _no_child)
    if isinstance(rule, list):
        return Type(KEYED, _always(item), tuple(rule), key_defaults)
    return Type(LEAF, _always(item))


def _always(item: Type) -> Callable[[str], Type]:
    return lambda name: item


def custom(schema: JSON) -> Type:
    """Return the merge type of a custom resource with that schema."""
    return _of_schema({**schema, _EMBEDDED: True})


_EMBEDDED = "x-kubernetes-embedded-resource"


def _of_schema(schema: JSON) -> Type:
    json_type = schema.get("type")
    if json_type == "array":
        kind, items = schema.get("x-kubernetes-list-type"), schema.get("items") or {}
        keys = list(schema.get("x-kubernetes-list-map-keys") or ())
        fields = items.get("properties") or {}
        defaults = {key: value for key in keys if (value := (fields.get(key) or {}).get("default")) is not None}
        return _list(keys if kind == "map" else kind, _of_schema(items), defaults)
    if json_type in ("string", "integer", "number", "boolean"):
        return WHOLE
    additional = schema.get("additionalProperties")
    others = _of_schema(additional) if isinstance(additional, dict) else UNTYPED
    known = {name: _of_schema(field) for name, field in (schema.get("properties") or {}).items()}
    if schema.get(_EMBEDDED):
        known["metadata"] = built_in("meta/v1.ObjectMeta")
    names = frozenset((*known, "kind", "apiVersion") if schema.get(_EMBEDDED) else known)
    shape = LEAF if schema.get("x-kubernetes-map-type") == "atomic" else FIELDS
    return Type(shape, lambda name: known.get(name, others), names=names)
