"""Rules of custom resources (`x-kubernetes-validations`): expressions in CEL that must be true of a value."""

from __future__ import annotations

from typing import Any

from ..status import FieldError, show
from . import cel

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
        error = _broken(rule, value, old, path)
        if error is not None:
            found.append(error)
    if isinstance(value, dict):
        before = old if isinstance(old, dict) else {}
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            its = properties.get(key, additional)
            if isinstance(its, dict):
                _walk(its, item, before.get(key), f"{path}.{key}" if path else key, found)
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


def _broken(rule: JSON, value: Any, old: Any, path: str) -> FieldError | None:
    text = rule["rule"].strip()
    try:
        node = cel.parse(text)
    except cel.SyntaxProblem:
        return None  # refused when the definition was made
    scope = {"self": value}
    if _names(node, "oldSelf"):
        if old is None:  # a rule about change, and there is none
            return None
        scope["oldSelf"] = old
    try:
        if cel.evaluate(node, scope) is True:
            return None
        detail = _message(rule, scope, text)
    except cel.CelError as error:
        detail = f"rule evaluation error: {error}"
    where = (path + rule["fieldPath"]).lstrip(".") if rule.get("fieldPath") else path or "<nil>"
    reason = rule.get("reason") or "FieldValueInvalid"
    titles = {"FieldValueForbidden": "Forbidden", "FieldValueRequired": "Required value"}
    if reason in titles:
        return FieldError(reason, where, f"{titles[reason]}: {detail}")
    shown = "" if isinstance(value, dict | list) else f"{show(value)}: "
    title = "Duplicate value" if reason == "FieldValueDuplicate" else "Invalid value"
    return FieldError(reason, where, f"{title}: {shown}{detail}")


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
