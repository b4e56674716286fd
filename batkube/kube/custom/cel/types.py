"""Types of expressions about a value of a schema: what cannot be said of it (`google/cel-go/checker`). What is not
known for sure counts as right.

A type is a tuple: its name, and of what; `("list", ("int",))`, `("object", schema)`, `("dyn",)` where anything may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .syntax import Node

Type = tuple[Any, ...]
JSON = dict[str, Any]

DYN: Type = ("dyn",)
_OPTIONAL = "optional_type"
_BOOL, _INT, _DOUBLE, _STRING = ("bool",), ("int",), ("double",), ("string",)
_SCALARS = ("bool", "int", "double", "string", "timestamp", "duration", "bytes")
_NUMBERS = ("int", "double")
_BY_FORMAT = {"date-time": ("timestamp",), "date": ("timestamp",), "duration": ("duration",), "byte": ("bytes",)}
_BY_TYPE = {"integer": _INT, "number": _DOUBLE, "string": _STRING, "boolean": _BOOL}
_ARITHMETIC = {
    "+": ("int", "double", "string", "bytes", "list"),
    "-": _NUMBERS,
    "*": _NUMBERS,
    "/": _NUMBERS,
    "%": ("int",),
}
_SYMBOLS = {"&&": "_&&_", "||": "_||_", "in": "@in"}

FUNCTIONS = frozenset(
    (
        *("has", "size", "int", "uint", "double", "string", "bool", "bytes", "type", "dyn", "timestamp", "duration"),
        *("matches", "quantity", "isQuantity", "url", "isURL", "ip", "isIP", "cidr", "isCIDR", "semver", "isSemver"),
    )
)
"""What can be called without a value before it."""
METHODS = frozenset(
    (
        *("all", "exists", "exists_one", "existsOne", "filter", "map", "transformList", "transformMap"),
        *("transformMapEntry", "sortBy", "size", "contains", "startsWith", "endsWith", "matches", "find", "findAll"),
        *("charAt", "indexOf", "lastIndexOf", "lowerAscii", "upperAscii", "replace", "split", "substring", "trim"),
        *("join", "format", "isSorted", "sum", "min", "max", "getFullYear", "getMonth", "getDate", "getDayOfMonth"),
        *("getDayOfWeek", "getDayOfYear", "getHours", "getMinutes", "getSeconds", "getMilliseconds", "getScheme"),
        *("getHost", "getHostname", "getPort", "getEscapedPath", "getQuery", "family", "isUnspecified", "isLoopback"),
        *("isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast", "containsIP", "containsCIDR", "ip"),
        *("masked", "prefixLength", "sign", "isInteger", "asInteger", "asApproximateFloat", "add", "sub", "compareTo"),
        *("isGreaterThan", "isLessThan", "major", "minor", "patch", "validate", "orValue", "or", "hasValue", "value"),
        *("optMap", "optFlatMap", "of", "none", "ofNonZeroValue", "unwrap", "unwrapOpt", "equivalent", "intersects"),
        *("named", "bind", "isCanonical", "dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName"),
        *("dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte"),
        *("date", "datetime", "reverse", "quote"),
    )
)
"""What can be called on one."""


class Mismatch(Exception):
    """Types that do not go together. The text says it as the checker does."""


def type_of_schema(schema: JSON) -> Type | None:
    """What a rule sees of a value of that schema; None: nothing, the schema does not say what it is."""
    if schema.get("x-kubernetes-int-or-string"):
        return DYN
    its = schema.get("type")
    if its == "array":
        inner = type_of_schema(schema.get("items") or {})
        return None if inner is None else ("list", inner)
    if its == "object":
        additional = schema.get("additionalProperties")
        if isinstance(additional, dict):
            inner = type_of_schema(additional)
            return None if inner is None else ("map", _STRING, inner)
        return DYN if additional else ("object", schema)
    if its == "string":
        return _BY_FORMAT.get(schema.get("format") or "", _STRING)
    return _BY_TYPE.get(its or "")


def optional(its: Type) -> Type:
    """Of a value of that type that may not be there."""
    return its if its[0] == _OPTIONAL else (_OPTIONAL, its)


def check(node: Node, variables: Mapping[str, Type]) -> Type:
    """The type of an expression. Raises Mismatch."""
    kind = node.kind
    if kind == "literal":
        return _literal(node.value)
    if kind == "name":
        return variables.get(node.value, DYN)
    if kind in ("select", "maybe_select"):
        holder = check(node.parts[0], variables)
        found = _selected(holder[1] if holder[0] == _OPTIONAL else holder, str(node.value))
        return optional(found) if kind == "maybe_select" or holder[0] == _OPTIONAL else found
    if kind == "call":
        return _called(node, variables)
    parts = [check(part, variables) for part in node.parts]
    if kind == "unary":
        return _unary(node.value, parts[0])
    if kind == "binary":
        return _binary(node.value, parts[0], parts[1])
    if kind == "choice":
        if parts[0][0] not in ("bool", "dyn"):
            raise _no_overload("_?_:_", parts)
        return parts[1] if parts[1] == parts[2] else DYN
    if kind == "map":
        return ("map", DYN, DYN)
    if kind == "list":
        return ("list", parts[0] if parts and all(part == parts[0] for part in parts) else DYN)
    if kind in ("index", "maybe_index"):
        holder = parts[0][1] if parts[0][0] == _OPTIONAL else parts[0]
        found = holder[-1] if holder[0] in ("list", "map") else DYN
        return optional(found) if kind == "maybe_index" or parts[0][0] == _OPTIONAL else found
    return DYN


def _literal(value: Any) -> Type:
    if isinstance(value, bool):
        return _BOOL
    if isinstance(value, int):
        return _INT
    if isinstance(value, float):
        return _DOUBLE
    if isinstance(value, bytes):
        return ("bytes",)
    return _STRING if isinstance(value, str) else DYN


def _selected(holder: Type, name: str) -> Type:
    if holder[0] in (*_SCALARS, "list"):
        raise Mismatch(f"type '{shown(holder)}' does not support field selection")
    if holder[0] == "map":
        found: Type = holder[2]
        return found
    if holder[0] == "object":
        its = (holder[1].get("properties") or {}).get(name)
        return (type_of_schema(its) if isinstance(its, dict) else None) or DYN
    return DYN


def _unary(operator: str, operand: Type) -> Type:
    allowed = ("bool", "dyn") if operator == "!" else ("int", "double", "dyn")
    if operand[0] not in allowed:
        raise _no_overload(f"{operator}_", [operand])
    return operand


def _binary(operator: str, left: Type, right: Type) -> Type:
    known = left[0] != "dyn" and right[0] != "dyn"
    if operator in ("&&", "||"):
        if any(part[0] not in ("bool", "dyn") for part in (left, right)):
            raise _no_overload(operator, [left, right])
        return _BOOL
    if operator in ("==", "!="):
        if known and left[0] != right[0]:
            raise _no_overload(operator, [left, right])
        return _BOOL
    if operator in ("<", "<=", ">", ">="):
        both = left[0] in _NUMBERS and right[0] in _NUMBERS
        if known and not both and (left[0] != right[0] or left[0] not in _SCALARS):
            raise _no_overload(operator, [left, right])
        return _BOOL
    if operator == "in":
        if right[0] == "list" and {left[0], right[1][0]} <= set(_SCALARS) and left[0] != right[1][0]:
            raise _no_overload(operator, [left, right])
        if right[0] in _SCALARS:
            raise _no_overload(operator, [left, right])
        return _BOOL
    if not known:
        return DYN
    if {left[0], right[0]} & {"timestamp", "duration"}:
        return DYN
    if left[0] != right[0] or left[0] not in _ARITHMETIC[operator]:
        raise _no_overload(operator, [left, right])
    return left


def _called(node: Node, variables: Mapping[str, Type]) -> Type:
    name = str(node.value)
    if name == "has" and not node.method and (len(node.parts) != 1 or node.parts[0].kind != "select"):
        raise Mismatch("invalid argument to has() macro")
    if name not in (METHODS if node.method else FUNCTIONS):
        raise Mismatch(f"undeclared reference to '{name}' (in container '')")
    if node.method and len(node.parts) >= 3 and node.parts[1].kind == "name" and name in _LOOPS:
        return _loop(node, variables)
    parts = [check(part, variables) for part in node.parts]
    if node.method and parts[0][0] == _OPTIONAL:
        return _of_optional(name, parts)
    if node.method and node.parts[0].kind == "name" and node.parts[0].value == "optional":
        return optional(parts[1] if len(parts) > 1 else DYN)
    if name in ("hasValue", "orValue", "optMap", "optFlatMap") and parts[0][0] != "dyn":
        raise _no_overload(name, parts)
    if name == "sum" and parts and parts[0][0] == "list" and parts[0][1][0] in ("string", "bool"):
        raise _no_overload("sum", parts)
    if name in ("startsWith", "endsWith", "matches", "lowerAscii", "upperAscii", "trim", "split", "substring"):
        if any(part[0] in _SCALARS and part[0] != "string" for part in parts[:1]):
            raise _no_overload(name, parts)
        return _RESULTS.get(name, DYN)
    if name == "size" and parts and parts[0][0] in ("int", "double", "bool"):
        raise _no_overload(name, parts)
    return _RESULTS.get(name, DYN)


def _of_optional(name: str, parts: list[Type]) -> Type:
    inner: Type = parts[0][1]
    if name == "orValue" and len(parts) == 2:
        if "dyn" not in (inner[0], parts[1][0]) and inner[0] != parts[1][0]:
            raise _no_overload(name, parts)
        return parts[1] if inner[0] == "dyn" else inner
    if name == "value":
        return inner
    if name == "hasValue":
        return _BOOL
    return parts[0] if name == "or" else optional(DYN) if name in ("optMap", "optFlatMap") else DYN


_LOOPS = ("all", "exists", "exists_one", "existsOne", "filter", "map")
_RESULTS: dict[str, Type] = {
    **dict.fromkeys(("has", "startsWith", "endsWith", "matches", "isSorted", "isQuantity", "isURL", "isIP"), _BOOL),
    **dict.fromkeys(("contains", "isCIDR", "isSemver", "isGreaterThan", "isLessThan", "bool", "hasValue"), _BOOL),
    **dict.fromkeys(("size", "int", "indexOf", "lastIndexOf", "compareTo"), _INT),
    **dict.fromkeys(("string", "lowerAscii", "upperAscii", "trim", "substring", "replace", "join", "charAt"), _STRING),
    "double": _DOUBLE,
    "split": ("list", _STRING),
    "timestamp": ("timestamp",),
    "duration": ("duration",),
}


def _loop(node: Node, variables: Mapping[str, Type]) -> Type:
    held = check(node.parts[0], variables)
    if held[0] in _SCALARS or held[0] == "object":
        its = "object" if held[0] == "object" else shown(held)
        raise Mismatch(f"expression of type '{its}' cannot be range of a comprehension (must be list, map, or dynamic)")
    names = [str(part.value) for part in node.parts[1:3] if part.kind == "name"]
    two = len(names) == 2 and len(node.parts) == 4 and node.value != "map"
    item = held[1] if held[0] in ("list", "map") else DYN
    bound = {names[0]: DYN if two else item, **({names[1]: DYN} if two else {})}
    results = [check(part, {**variables, **bound}) for part in node.parts[3 if two else 2 :]]
    if node.value == "map":
        return ("list", results[-1])
    if results[-1][0] not in ("bool", "dyn"):
        raise Mismatch(f"expected type 'bool' but found '{shown(results[-1])}'")
    return held if node.value == "filter" else _BOOL


def _no_overload(function: str, parts: list[Type]) -> Mismatch:
    symbol = _SYMBOLS.get(function, f"_{function}_" if not function.isalpha() and len(parts) == 2 else function)
    return Mismatch(f"found no matching overload for '{symbol}' applied to '({', '.join(map(shown, parts))})'")


def shown(its: Type) -> str:
    """A type as the checker prints it."""
    if its[0] in ("list", "map", _OPTIONAL):
        return f"{its[0]}({', '.join(shown(inner) for inner in its[1:])})"
    return str(its[0])
