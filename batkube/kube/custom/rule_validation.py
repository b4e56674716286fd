"""The validation of the rules of a definition (`x-kubernetes-validations`), before they are used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from .. import cel
from ..apimachinery.status import FieldError
from ..kinds.published import validate_field
from .extents import extent, fitting
from .schema_values import EMBEDDED, declared

JSON = dict[str, Any]
Errors = list[FieldError]

_RULES = "x-kubernetes-validations"
_MOST_OF_RULE = 10_000_000
"""The highest cost that one expression may have (`StaticEstimatedCostLimit`)."""
_MOST_OF_ALL = 100_000_000
"""The highest cost that all expressions of a schema may have together (`StaticEstimatedCRDCostLimit`)."""
_TOLD = 4  # of the most expensive ones
_NO_TYPE = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert "
    "structural schema to CEL declarations"
)
_NEWLINE = re.compile(r"[\n\r]")
_PATH = re.compile(r"(\.[A-Za-z_][A-Za-z0-9_]*|\['[^']+'\])+")
PATH_STEP = re.compile(r"\.([A-Za-z_][A-Za-z0-9_]*)|\['([^']+)'\]")


def validate_texts(rule: JSON, schema: JSON, path: str) -> Errors:
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
        below = (at.get("properties") or {}).get(step[1] or step[2], at.get("additionalProperties"))
        if not isinstance(below, dict):
            return False
        at = below
    return True


@dataclass(slots=True)
class Findings:
    """The findings in the rules of one schema: their errors, and the most that all of them cost together."""

    errors: Errors = field(default_factory=list)
    unchanged: bool = False  # the schema was there before: each rule may cost what it did
    cost: int = 0
    expensive: list[tuple[int, str]] = field(default_factory=list)  # costs and paths

    def count(self, cost: int, path: str, what: str) -> None:
        """Add the cost of an expression, and an error if that alone is too much."""
        if cost > _MOST_OF_RULE and not self.unchanged:
            self.errors.append(FieldError.forbidden(path, _too_expensive(what, cost, _MOST_OF_RULE)))
        self.cost += cost
        if cost >= _MOST_OF_ALL // 100:
            self.expensive = sorted([*self.expensive, (cost, path)], key=lambda row: -row[0])[:_TOLD]

    def of_all(self, path: str) -> Errors:
        """Return the errors if all expressions of the schema at `path` cost too much together."""
        if self.cost <= _MOST_OF_ALL:
            return []
        what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
        why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
        told = [FieldError.forbidden(where, why) for _, where in self.expensive]
        return [*told, FieldError.forbidden(path, _too_expensive(what, self.cost, _MOST_OF_ALL))]


def _too_expensive(what: str, cost: int, most: int) -> str:
    times = min(cost, cel.LARGEST) / most
    shown = "more than 100x" if times > 100 else f"{times:.6f}x" if times < 1.5 else f"{times:.1f}x"
    return (
        f"{what} exceeds budget by factor of {shown} (try simplifying the rule, or adding maxItems, maxProperties, and "
        "maxLength where arrays, maps, and strings are declared)"
    )


@dataclass(frozen=True, slots=True)
class RulePlace:
    """The place of a schema inside another, as it matters to rules.

    `root`: it is of a whole object. `unrelated`: the path of the list or map around it, if nobody can tell which of its
    values a value was before. `count`: the number of such values that there can be, None if there is no limit.
    """

    found: Findings
    root: bool = True
    unrelated: str = ""
    count: int | None = 1

    def of_fields(self, schema: JSON) -> RulePlace:
        """Return the place of a property, or of the values of a map."""
        return self._below(schema, "")

    def of_items(self, schema: JSON, path: str) -> RulePlace:
        return self._below(schema, "" if schema.get("x-kubernetes-list-type") == "map" else path)

    def _below(self, schema: JSON, unrelated: str) -> RulePlace:
        json_type = schema.get("type")
        limit: int | None = 1
        if json_type == "array":
            limit = schema.get("maxItems")
        elif json_type == "object" and schema.get("additionalProperties") is not None:
            limit = schema.get("maxProperties")
        count = None if self.count is None or limit is None else min(self.count * max(0, limit), cel.LARGEST)
        return RulePlace(self.found, False, self.unrelated or unrelated, count)

    def validate(self, schema: JSON, path: str) -> None:
        """Find what is wrong with the expressions of a schema that is right otherwise."""
        rules = schema.get(_RULES) or ()
        if not rules:
            return
        root = self.root or bool(schema.get(EMBEDDED))
        whole, size = declared(schema, root=root), extent(schema, root=root)
        if whole is None or size is None:
            self.found.errors.append(FieldError.internal(f"{path}.{_RULES}", _NO_TYPE))
            return
        for index, rule in enumerate(rules):
            self._validate_rule(rule, whole, size, f"{path}.{_RULES}[{index}]")

    def _validate_rule(self, rule: JSON, whole: cel.Type, size: cel.Extent, where: str) -> None:
        errors = self.found.errors
        judged = _judged(rule, "rule", whole, size)
        count = fitting(size) if self.count is None else self.count
        self.found.count(min(judged.cost * count, cel.LARGEST), f"{where}.rule", "estimated rule cost")
        if judged.problem:
            errors.append(FieldError.invalid(f"{where}.rule", _shown(rule), judged.problem))
        elif rule.get("messageExpression"):
            message, at = _judged(rule, "messageExpression", whole, size), f"{where}.messageExpression"
            if message.problem:
                errors.append(FieldError.invalid(at, _shown(rule), message.problem))
            else:
                self.found.count(message.cost, at, "estimated messageExpression cost")
        if judged.compiles and uses_old(rule["rule"]):
            if self.unrelated:
                why = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {self.unrelated}"
                errors.append(FieldError.invalid(f"{where}.rule", rule["rule"], why))
        elif rule.get("optionalOldSelf") is not None:
            why = "may not be set if oldSelf is not used in rule"
            errors.append(FieldError.invalid(f"{where}.optionalOldSelf", rule["optionalOldSelf"], why))


def problem_of(rule: JSON, schema: JSON, *, root: bool) -> str:
    """Return why a rule of a schema cannot be evaluated; "" if it can."""
    whole, size = declared(schema, root=root), extent(schema, root=root)
    return "" if whole is None or size is None else _judged(rule, "rule", whole, size).problem


class _Judged(NamedTuple):
    """An expression: if it compiles, why it cannot be used all the same, and what it costs at most."""

    compiles: bool
    problem: str
    cost: int = 0


def _judged(rule: JSON, key: str, whole: cel.Type, size: cel.Extent) -> _Judged:
    text, is_rule = rule[key], key == "rule"
    before = ("optional_type", whole) if rule.get("optionalOldSelf") else whole
    checked, problem = cel.compiled(text, {"self": whole, "oldSelf": before})
    if checked is None or problem:
        return _Judged(False, problem if is_rule else f"messageExpression {problem}")
    result = "bool" if is_rule else "string"
    if checked.type != (result,):
        what = "cel expression" if is_rule else "messageExpression"
        return _Judged(False, f"{what} must evaluate to a {result}")
    if problem := cel.instantiation_problem(text):
        return _Judged(True, problem if is_rule else problem.replace("program", "messageExpression", 1))
    return _Judged(True, "", cel.estimated(checked, lambda steps: size.at(steps[1:])))


def _shown(rule: JSON) -> JSON:
    """Return a rule as the real server shows it."""
    names = ("rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf")
    pointers = ("reason", "optionalOldSelf")
    return {name[0].upper() + name[1:]: rule.get(name, None if name in pointers else "") for name in names}


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
