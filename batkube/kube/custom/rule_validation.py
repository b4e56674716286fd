"""The validation of the rules of a definition (`x-kubernetes-validations`), before they are used."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from .. import cel
from ..apimachinery.status import FieldError
from ..kinds.published import validate_field
from .schema_values import declared

JSON = dict[str, Any]

_RULES, _EMBEDDED = "x-kubernetes-validations", "x-kubernetes-embedded-resource"
_NEWLINE = re.compile(r"[\n\r]")
_PATH = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_]*|\['[^']+'\])+")
PATH_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\['([^']+)'\]")


def validate_texts(rule: JSON, schema: JSON, path: str) -> list[FieldError]:
    """Check the texts of a rule of that schema other than its expressions, and that there is an expression."""
    text, message, told = (rule.get(key) or "" for key in ("rule", "message", "messageExpression"))
    field = rule.get("fieldPath") or ""
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
    errors += validate_field("apiextensions/v1.ValidationRule", rule, "reason", path)
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


def validate_rules(schema: JSON, path: str, *, root: bool = True, unrelated: str = "") -> list[FieldError]:
    """Return what is wrong with the expressions in a schema that is right otherwise.

    `root`: it is of a whole object; `unrelated`: the path of the list around it, if nobody can tell which of its items
    an item was before.
    """
    errors = []
    rules = schema.get(_RULES) or ()
    whole = declared(schema, root=root or bool(schema.get(_EMBEDDED))) if rules else None
    for index, rule in enumerate(rules):
        errors += _validate_rule(rule, whole or ("dyn",), f"{path}.{_RULES}[{index}]", unrelated)
    for name, its in (schema.get("properties") or {}).items():
        errors += validate_rules(its, f"{path}.properties[{name}]", root=False, unrelated=unrelated)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            by_key = key == "additionalProperties" or schema.get("x-kubernetes-list-type") == "map"
            around = unrelated or ("" if by_key else path)
            errors += validate_rules(schema[key], f"{path}.{key}", root=False, unrelated=around)
    return errors


def _validate_rule(rule: JSON, whole: cel.Type, where: str, unrelated: str) -> list[FieldError]:
    errors = []
    compiles = True
    for key, result in (("rule", "bool"), ("messageExpression", "string")):
        text = rule.get(key) or ""
        if text.strip() and (problem := _problem(text, rule, whole, result)):
            compiles = compiles and key != "rule"
            what = "messageExpression " if key == "messageExpression" and problem.startswith("compilation") else ""
            errors.append(FieldError.invalid(f"{where}.{key}", _shown(rule), what + problem))
    if compiles and uses_old(rule.get("rule") or ""):
        if unrelated:
            why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {unrelated}"
            errors.append(FieldError.invalid(f"{where}.rule", rule["rule"], why))
    elif rule.get("optionalOldSelf") is not None:
        why = "may not be set if oldSelf is not used in rule"
        errors.append(FieldError.invalid(f"{where}.optionalOldSelf", rule["optionalOldSelf"], why))
    return errors


def _shown(rule: JSON) -> JSON:
    """Return a rule as the real server shows it."""
    names = ("rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf")
    pointers = ("reason", "optionalOldSelf")
    return {name[0].upper() + name[1:]: rule.get(name, None if name in pointers else "") for name in names}


def _problem(text: str, rule: JSON, whole: cel.Type, result: str) -> str:
    before = ("optional_type", whole) if rule.get("optionalOldSelf") else whole
    its, problem = cel.type_problem(text, {"self": whole, "oldSelf": before})
    if problem or its[0] == result:
        return problem or cel.instantiation_problem(text)
    return f"{'cel expression' if result == 'bool' else 'messageExpression'} must evaluate to a {result}"


@lru_cache(maxsize=1024)
def uses_old(text: str) -> bool:
    """Return True if a rule is about a change."""
    try:
        return _names(cel.parse(text), "oldSelf")
    except (cel.SyntaxProblem, RecursionError):  # refused, or not evaluated
        return False


def _names(node: cel.Node, name: str) -> bool:
    """Return True if an expression uses the variable."""
    return (node.kind == "name" and node.value == name) or any(_names(part, name) for part in node.parts)
