"""How values merge: field by field, by keys, as sets, or as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from .. import api_types
from ..schema import read_json

JSON = dict[str, Any]

LEAF, FIELDS, KEYED, SET = "leaf", "fields", "keyed", "set"

# Defaults of keys of lists, which an applier may leave out.
_KEY_DEFAULTS = {"protocol": "TCP"}


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """Of a value. LEAF: one field as a whole. FIELDS: a struct or a map. KEYED: a list of items known by `keys`.
    SET: a list of values.
    """

    shape: str
    child: Callable[[str], Type]  # the type of a field; of KEYED the type of all items
    keys: tuple[str, ...] = ()

    def key_of(self, item: Any) -> JSON:
        """The values by which an item of a KEYED list is known."""
        if not isinstance(item, dict):
            return {}
        found = {name: item.get(name, _KEY_DEFAULTS.get(name)) for name in self.keys}
        return {name: its for name, its in found.items() if its is not None}


def _no_child(name: str) -> Type:
    return WHOLE


def _free(name: str) -> Type:
    return UNTYPED


WHOLE = Type(LEAF, _no_child)
# What no schema describes: objects merge field by field, lists are wholes.
UNTYPED = Type(FIELDS, _free)


def built_in(type_name: str) -> Type:
    """Of a built-in type, such as `core/v1.Pod`."""
    return _struct(type_name)


@cache
def _rules() -> Any:
    return read_json("list_types.json")


@cache
def _struct(type_name: str) -> Type:
    if not api_types.has_type(type_name) or type_name in _rules()["atomic"]:
        return WHOLE
    fields: dict[str, Type] = {}

    def child(name: str) -> Type:
        if not fields:
            fields.update(_fields(type_name))
        return fields.get(name, UNTYPED)

    return Type(FIELDS, child)


def _fields(type_name: str) -> dict[str, Type]:
    rules = _rules()["fields"].get(type_name, {})
    fields: dict[str, Type] = {}
    for its in api_types.fields_of(type_name):
        if its.inline:
            fields.update(_fields(its.type))
            continue
        rule = rules.get(its.name)
        if rule == "atomic":
            fields[its.name] = WHOLE
        elif its.shape == "list":
            fields[its.name] = _list(rule, _struct(its.type))
        elif its.shape == "map":
            fields[its.name] = Type(FIELDS, _always(_struct(its.type)))
        else:
            fields[its.name] = UNTYPED if its.type == "RawExtension" else _struct(its.type)
    return fields


def _list(rule: Any, item: Type) -> Type:
    if rule == "set":
        return Type(SET, _no_child)
    if isinstance(rule, list):
        return Type(KEYED, _always(item), tuple(rule))
    return WHOLE


def _always(item: Type) -> Callable[[str], Type]:
    return lambda name: item


def custom(schema: JSON) -> Type:
    """Of a custom resource with that schema."""
    root = _of_schema(schema)
    metadata = built_in("meta/v1.ObjectMeta")
    return Type(FIELDS, lambda name: metadata if name == "metadata" else root.child(name))


def _of_schema(schema: JSON) -> Type:
    its = schema.get("type")
    if its == "array":
        kind = schema.get("x-kubernetes-list-type")
        rule = list(schema.get("x-kubernetes-list-map-keys") or ()) if kind == "map" else kind
        return _list(rule, _of_schema(schema.get("items") or {}))
    if its == "object" or schema.get("x-kubernetes-preserve-unknown-fields"):
        if schema.get("x-kubernetes-map-type") == "atomic":
            return WHOLE
        properties = schema.get("properties") or {}
        additional = schema.get("additionalProperties")
        others = _of_schema(additional) if isinstance(additional, dict) else UNTYPED
        known = {name: _of_schema(its) for name, its in properties.items()}
        return Type(FIELDS, lambda name: known.get(name, others))
    return WHOLE
