"""What is wrong with the rules that a definition has (`x-kubernetes-validations`), before they are used."""

from __future__ import annotations

import re
from typing import Any

from ..status import FieldError
from . import cel
from .reading import TYPE_META

JSON = dict[str, Any]

_RULES = "x-kubernetes-validations"
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_NEWLINE = re.compile(r"[\n\r]")
_PATH = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_]*|\['[^']+'\])+")
PATH_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\['([^']+)'\]")


def validate_texts(rule: JSON, schema: JSON, path: str) -> list[FieldError]:
    """What a rule of that schema says beside its expressions, and that it says something."""
    text, message, told = (rule.get(key) or "" for key in ("rule", "message", "messageExpression"))
    reason, field = rule.get("reason"), rule.get("fieldPath") or ""
    errors = []
    if not text.strip():
        errors.append(FieldError.required(f"{path}.rule", "rule is not specified"))
    elif message and not message.strip():
        errors.append(FieldError.invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif _NEWLINE.search(message.strip()):
        errors.append(FieldError.invalid(f"{path}.message", message, "must not contain line breaks"))
    elif _NEWLINE.search(text.strip()) and not message.strip():
        why = "message must be specified if rule contains line breaks"
        errors.append(FieldError.required(f"{path}.message", why))
    if told and not told.strip():
        why = "messageExpression must be non-empty if specified"
        errors.append(FieldError.required(f"{path}.messageExpression", why))
    if reason is not None and reason not in _REASONS:
        errors.append(FieldError.not_supported(f"{path}.reason", reason, _REASONS))
    if field and not field.strip():
        errors.append(FieldError.invalid(f"{path}.fieldPath", field, "must be non-empty if specified"))
    if _NEWLINE.search(field):
        errors.append(FieldError.invalid(f"{path}.fieldPath", field, "must not contain line breaks"))
    if field and not _leads_somewhere(field, schema):
        errors.append(FieldError.invalid(f"{path}.fieldPath", field, "must be a valid path"))
    return errors


def _leads_somewhere(path: str, schema: JSON) -> bool:
    if not _PATH.fullmatch(path):
        return False
    at: Any = schema
    for step in PATH_STEP.finditer(path):
        its = (at.get("properties") or {}).get(step[1] or step[2], at.get("additionalProperties"))
        if not isinstance(its, dict):
            return False
        at = its
    return True


def validate_rules(schema: JSON, path: str, root: JSON | None = None, unrelated: str = "") -> list[FieldError]:
    """What is wrong with the expressions in a schema that is right otherwise: they are about fields that there are.
    `root` is the schema of the whole object, if this is a part of it; `unrelated` the path of the list around it, if
    nobody can tell which of its items an item was before.
    """
    errors = []
    for index, rule in enumerate(schema.get(_RULES) or ()):
        errors += _validate_rule(rule, schema, f"{path}.{_RULES}[{index}]", root or schema, unrelated)
    for name, its in (schema.get("properties") or {}).items():
        errors += validate_rules(its, f"{path}.properties[{name}]", root or schema, unrelated)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            by_key = key == "additionalProperties" or schema.get("x-kubernetes-list-type") == "map"
            errors += validate_rules(
                schema[key], f"{path}.{key}", root or schema, unrelated or ("" if by_key else path)
            )
    return errors


def _validate_rule(rule: JSON, schema: JSON, where: str, root: JSON, unrelated: str) -> list[FieldError]:
    errors = []
    compiles = True
    for key, result in (("rule", "bool"), ("messageExpression", "string")):
        text = (rule.get(key) or "").strip()
        if text and (problem := _problem(text, rule, schema, result, root)):
            compiles = compiles and key != "rule"
            what = "messageExpression " if key == "messageExpression" and problem.startswith("compilation") else ""
            errors.append(FieldError.invalid(f"{where}.{key}", _shown(rule), what + problem))
    if compiles and uses_old(rule):
        if unrelated:
            why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {unrelated}"
            errors.append(FieldError.invalid(f"{where}.rule", rule["rule"], why))
    elif rule.get("optionalOldSelf") is not None:
        why = "may not be set if oldSelf is not used in rule"
        errors.append(FieldError.invalid(f"{where}.optionalOldSelf", rule["optionalOldSelf"], why))
    return errors


def _shown(rule: JSON) -> JSON:
    """A rule as the real server shows it."""
    names = ("rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf")
    pointers = ("reason", "optionalOldSelf")
    return {name[0].upper() + name[1:]: rule.get(name, None if name in pointers else "") for name in names}


def _problem(text: str, rule: JSON, schema: JSON, result: str, root: JSON) -> str:
    what = "cel expression" if result == "bool" else "messageExpression"
    if found := cel.compilation_problem(text, ("self", "oldSelf"), ""):
        return found
    node = cel.parse(text)
    if found := _unknown_field(node, schema, root):
        return f"compilation failed: ERROR: {found}"
    whole = cel.type_of_schema(schema) or ("dyn",)
    before = cel.optional(whole) if rule.get("optionalOldSelf") else whole
    try:
        its = cel.check(node, {"self": whole, "oldSelf": before})
    except cel.Mismatch as mismatch:
        return f"compilation failed: ERROR: <input>:1:1: {mismatch}"
    fits = its[0] in ("dyn", result) or (result == "bool" and its[0] == "type_param")
    return "" if fits else f"{what} must evaluate to a {result}"


def uses_old(rule: JSON) -> bool:
    """The rule is about a change."""
    return bool(re.search(r"\boldSelf\b", rule.get("rule") or ""))


def _unknown_field(node: cel.Node, schema: JSON, root: JSON) -> str:
    """What is wrong with the selections that begin at `self`, "" if nothing is known to be."""
    if node.kind in ("select", "maybe_select"):
        holder = _schema_of(node.parts[0], schema)
        if holder is not None:
            types = {"integer": "int", "number": "double", "string": "string", "boolean": "bool", "array": "list"}
            if holder.get("type") in types:
                return f"type '{types[holder['type']]}' does not support field selection"
            its = _schema_of(node, schema)
            untold = its is not None and cel.type_of_schema(its) is None
            if untold or (its is None and _closed(holder) and not _may_be(str(node.value), holder is root)):
                return f"undefined field '{node.value}'"
    return next(filter(None, (_unknown_field(part, schema, root) for part in node.parts)), "")


def _schema_of(node: cel.Node, schema: JSON) -> JSON | None:
    if node.kind == "name" and node.value in ("self", "oldSelf"):
        return schema
    if node.kind in ("select", "maybe_select"):
        holder = _schema_of(node.parts[0], schema)
        found = (holder or {}).get("properties", {}).get(node.value) if holder else None
        return found if isinstance(found, dict) else None
    return None


def _closed(schema: JSON) -> bool:
    """The schema names all fields that a value may have."""
    free = schema.get("additionalProperties") or schema.get("x-kubernetes-preserve-unknown-fields")
    return not free and not schema.get("x-kubernetes-embedded-resource")


def _may_be(name: str, of_root: bool) -> bool:
    """The name of a field that a schema need not tell, or one that is written in another way there (`a__dash__b`)."""
    return "__" in name or (of_root and name in TYPE_META)
