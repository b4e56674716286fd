"""Rules of custom resources (`x-kubernetes-validations`): expressions in CEL that must be true of a value."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from ..status import FieldError, show
from . import cel
from .rule_validation import PATH_STEP

JSON = dict[str, Any]

_RULES = "x-kubernetes-validations"
# Errors after which the rules are not looked at: the value has not even the form they are written for.
_BLOCKING = frozenset(
    ("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
)
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


def check(schema: JSON, obj: JSON, old: JSON | None, errors: list[FieldError]) -> list[FieldError]:
    """Which rules the object breaks; `errors` is what else is wrong with it."""
    if not has_rules(schema):
        return []
    if any(error.reason in _BLOCKING for error in errors):
        return [FieldError.invalid("<nil>", None, _NOT_CHECKED)]
    found: list[FieldError] = []
    _walk(schema, obj, old, "", found)
    return found


def has_rules(schema: JSON) -> bool:
    """The schema has a rule anywhere."""
    if schema.get(_RULES):
        return True
    below = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(has_rules(its) for its in below if isinstance(its, dict))


def _walk(schema: JSON, value: Any, old: Any, path: str, found: list[FieldError]) -> None:
    if value is None or (old is not None and value == old):  # what did not change is not looked at again
        return
    for rule in schema.get(_RULES) or ():
        error = _broken(rule, schema, value, old, path)
        if error is not None:
            found.append(error)
    if isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            its = properties.get(key, additional)
            if isinstance(its, dict):
                here = f"{path}[{key}]" if key not in properties else f"{path}.{key}" if path else key
                _walk(its, item, before.get(key), here, found)
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        earlier = _by_keys(schema, old)
        for index, item in enumerate(value):
            _walk(schema["items"], item, earlier.get(_key(schema, item)), f"{path}[{index}]", found)


def _by_keys(schema: JSON, old: Any) -> dict[str, Any]:
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old}


def _key(schema: JSON, item: Any) -> str:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    return show([item.get(key) for key in keys]) if isinstance(item, dict) else show(item)


def _broken(rule: JSON, schema: JSON, value: Any, old: Any, path: str) -> FieldError | None:
    text = rule["rule"].strip()
    try:
        node = cel.parse(text)
    except cel.SyntaxProblem:
        return None  # refused when the definition was made
    scope: JSON = {"self": _seen(schema, value)}
    if rule.get("optionalOldSelf"):
        scope["oldSelf"] = cel.Optional(old is not None, _seen(schema, old))
    elif _names(node, "oldSelf"):
        if old is None:  # a rule about change, and there is none
            return None
        scope["oldSelf"] = _seen(schema, old)
    try:
        if cel.evaluate(node, scope) is True:
            return None
        detail = _message(rule, scope, text)
    except cel.CelError as error:
        return FieldError.invalid(path or "<nil>", schema.get("type") or "", _failure(error, rule, text))
    where = _at_field(path, rule["fieldPath"], schema) if rule.get("fieldPath") else path or "<nil>"
    reason = rule.get("reason") or "FieldValueInvalid"
    if reason in _TITLES:
        return FieldError(reason, where, f"{_TITLES[reason]}: {detail}")
    if reason == "FieldValueDuplicate":
        shown = "" if isinstance(value, dict | list) else f": {show(value)}"
        return FieldError(reason, where, f"Duplicate value{shown}")
    shown = "" if isinstance(value, dict | list) else f"{show(value)}: "
    return FieldError(reason, where, f"Invalid value: {shown}{detail}")


_TITLES = {"FieldValueForbidden": "Forbidden", "FieldValueRequired": "Required value"}


def _failure(error: cel.CelError, rule: JSON, text: str) -> str:
    """Why a rule has no value."""
    why, what = str(error), rule.get("message") or text
    if why.startswith("no such overload"):
        why = why.partition(":")[0]
        unlike = "call arguments did not match a supported operator, function or macro signature"
        return f"'{why}': {unlike} for rule: {what}"
    if why.startswith("operation cancelled"):
        return f"call cost exceeds limit for rule: {what}"
    return f"{why} evaluating rule: {what}"


def _at_field(path: str, field: str, schema: JSON) -> str:
    """Where the field of a rule is: keys of maps stand in brackets, fields after a dot."""
    for step in PATH_STEP.finditer(field):
        name = step[1] or step[2]
        known = (schema.get("properties") or {}).get(name)
        path += f".{name}" if known is not None else f"[{name}]"
        additional = schema.get("additionalProperties")
        schema = known if known is not None else additional if isinstance(additional, dict) else {}
    return path.lstrip(".")


def _seen(schema: JSON, value: Any) -> Any:
    """A value as rules see it: times, durations and bytes are no texts."""
    if isinstance(value, dict):
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        others = additional if isinstance(additional, dict) else {}
        return {name: _seen(properties.get(name, others), item) for name, item in value.items()}
    if isinstance(value, list):
        return [_seen(schema.get("items") or {}, item) for item in value]
    read = _READ.get(schema.get("format") or "") if isinstance(value, str) else None
    try:
        return read(value) if read is not None else value
    except ValueError:
        return value


_READ: dict[str, Callable[[str], Any]] = {
    "date-time": cel.timestamp,
    "date": cel.timestamp,
    "duration": cel.duration,
    "byte": base64.b64decode,
}


def _message(rule: JSON, scope: JSON, text: str) -> str:
    if rule.get("messageExpression"):
        try:
            told = cel.evaluate(cel.parse(rule["messageExpression"]), scope)
        except (cel.CelError, cel.SyntaxProblem):
            told = ""
        if isinstance(told, str) and told.strip() and "\n" not in told:
            return told.strip()
    return rule.get("message") or f"failed rule: {text}"


def _names(node: cel.Node, name: str) -> bool:
    """The expression uses the variable."""
    return (node.kind == "name" and node.value == name) or any(_names(part, name) for part in node.parts)
