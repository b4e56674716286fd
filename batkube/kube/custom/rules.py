"""Rules of custom resources (`x-kubernetes-validations`): expressions in CEL that must be true of a value."""

from __future__ import annotations

from typing import Any

from .. import cel
from ..apimachinery.status import FieldError, quote, show
from .rule_validation import PATH_STEP, problem_of, uses_old
from .schema_values import Views

JSON = dict[str, Any]

BUDGET = 10_000_000
"""The greatest cost of all rules of an object together (`RuntimeCELCostBudget`)."""

WORK_BUDGET = 3_000_000
"""The greatest work of all rules of an object together that costs do not show."""

_RULES, _EMBEDDED = "x-kubernetes-validations", "x-kubernetes-embedded-resource"
_MAX_MESSAGE = 5 << 10  # bytes
_OUT_OF_BUDGET = "due to running out of cost budget, no further validation rules will be run"
_VIEWS = Views()
# Errors after which the rules are not looked at: the value has not even the form they are written for.
_BLOCKING = frozenset(
    ("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong", "FieldValueTooMany", "FieldValueTypeInvalid")
)
_NOT_CHECKED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


def check(
    schema: JSON, obj: JSON, old: JSON | None, errors: list[FieldError], *, root: bool = False
) -> list[FieldError]:
    """Return which rules the object breaks; `errors` is what else is wrong with it. `root`: it is a whole object.

    The schema has rules somewhere, see `has_rules`, or there are no errors.
    """
    if any(error.reason in _BLOCKING for error in errors):
        return [FieldError.invalid("<nil>", None, _NOT_CHECKED)]
    checking = Checking()
    checking.walk(schema, obj, old, "", root=root)
    return checking.found


def check_default(schema: JSON) -> list[FieldError]:
    """Return which rules the default of a schema breaks, as a new value and as one that stays. Rules are judged here
    first: the definition that they are in is not valid yet.
    """
    value = schema["default"]
    for old in (value, None):
        checking = Checking(of_default=True)
        checking.walk(schema, value, old, "")
        if checking.found:
            return checking.found
    return []


def has_rules(schema: JSON) -> bool:
    """Return True if the schema has a rule anywhere."""
    if schema.get(_RULES):
        return True
    below = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(has_rules(part) for part in below if isinstance(part, dict))


def _by_keys(schema: JSON, old: Any) -> dict[str, Any]:
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old}


def _key(schema: JSON, item: Any) -> str:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    return show([item.get(key) for key in keys]) if isinstance(item, dict) else show(item)


def _error(rule: JSON, schema: JSON, value: Any, path: str, detail: str) -> FieldError:
    """Return what is said of a rule that is broken."""
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


def _told(rule: JSON) -> str:
    """Return what stands for a rule in an error."""
    return str(rule.get("message") or rule["rule"]).strip()


def _failure(error: cel.CelError, rule: JSON) -> str:
    """Return why a rule has no value."""
    why = str(error)
    if why.startswith("no such overload"):
        unlike = "call arguments did not match a supported operator, function or macro signature"
        return f"'{why}': {unlike} for rule: {_told(rule)}"
    if isinstance(error, cel.CostExceeded):
        none = "no further validation rules will be run due to call cost exceeds limit"
        return f"'{why}': {none} for rule: {_told(rule)}"
    return f"{why} evaluating rule: {_told(rule)}"


def _at_field(path: str, field: str, schema: JSON) -> str:
    """Return the path of the field of a rule: keys of maps are in brackets, fields follow a dot."""
    for step in PATH_STEP.finditer(field):
        name = step[1] or step[2]
        known = (schema.get("properties") or {}).get(name)
        path += f".{name}" if known is not None else f"[{name}]"
        additional = schema.get("additionalProperties")
        schema = known if known is not None else additional if isinstance(additional, dict) else {}
    return path.lstrip(".")


class _Exhausted(Exception):
    """The end of the budget: no further rules are evaluated."""


class Checking:
    """One check of an object. The cost of all its rules together is limited, too.

    `of_default`: the object is a default, and a value that stays as it was is looked at as well.
    """

    def __init__(self, *, of_default: bool = False) -> None:
        self.found: list[FieldError] = []
        self._of_default = of_default
        self._budget, self._work = BUDGET, WORK_BUDGET

    @property
    def cost(self) -> int:
        """The cost of the rules so far."""
        return BUDGET - self._budget

    def walk(self, schema: JSON, value: Any, old: Any, path: str, *, root: bool = False) -> None:
        """Check a value and all that is in it; what is wrong is added to `found`."""
        try:
            self._walk(schema, value, old, path, root=root)
        except _Exhausted:
            return

    def _walk(self, schema: JSON, value: Any, old: Any, path: str, *, root: bool = False) -> None:
        if value is None:
            return
        if old is not None and value == old and not self._of_default:  # what did not change is not looked at again
            return
        if schema.get(_RULES):
            self._check(schema, value, old, path, root=root or bool(schema.get(_EMBEDDED)))
        if isinstance(value, dict):
            before = old if isinstance(old, dict) else {}
            properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
            for key, item in value.items():
                field = properties.get(key, additional)
                if isinstance(field, dict):
                    here = f"{path}[{key}]" if key not in properties else f"{path}.{key}" if path else key
                    self._walk(field, item, before.get(key), here)
        elif isinstance(value, list) and isinstance(schema.get("items"), dict):
            earlier = _by_keys(schema, old)
            for index, item in enumerate(value):
                self._walk(schema["items"], item, earlier.get(_key(schema, item)), f"{path}[{index}]")

    def _check(self, schema: JSON, value: Any, old: Any, path: str, *, root: bool) -> None:
        look = _VIEWS.of(schema, root=root)
        seen, before = look(value), None if old is None else look(old)
        for rule in schema[_RULES]:
            if self._of_default and (problem := problem_of(rule, schema, root=root)):
                why = f"rule compile error: {problem}"
                self.found.append(FieldError.invalid(path or "<nil>", schema.get("type") or "", why))
                continue
            if self._budget <= 0:
                self._exhaust(path, schema, f"validation failed {_OUT_OF_BUDGET}")
            given = cel.Optional(old is not None, before) if rule.get("optionalOldSelf") else before
            if old is None and not rule.get("optionalOldSelf") and uses_old(rule["rule"]):
                continue  # a rule about change, and there is none
            if not self._holds(rule, (seen, given), schema, path):
                detail = self._message(rule, (seen, given), schema, path)
                self.found.append(_error(rule, schema, value, path, detail))

    def _holds(self, rule: JSON, given: tuple[Any, Any], schema: JSON, path: str) -> bool:
        try:
            held = self._value(rule["rule"], given)
        except cel.SyntaxProblem:
            return True  # refused when the definition was made
        except cel.CelError as error:
            if self._budget < 0:
                self._exhaust(path, schema, f"validation failed {_OUT_OF_BUDGET}")
            detail = _failure(error, rule)
            if isinstance(error, cel.CostExceeded):
                self._exhaust(path, schema, detail)
            self.found.append(FieldError.invalid(path or "<nil>", schema.get("type") or "", detail))
            return True
        if self._budget < 0:
            self._exhaust(path, schema, f"validation failed {_OUT_OF_BUDGET}")
        return held is True

    def _value(self, text: str, given: tuple[Any, Any]) -> Any:
        try:
            value, spent = cel.program(text, ("self", "oldSelf")).run(given)
        except cel.CelError as error:
            self._spend(error.spent)
            raise
        self._spend(spent)
        return value

    def _spend(self, spent: cel.Spent) -> None:
        self._budget -= spent.cost
        self._work -= spent.work
        if self._work < 0:
            self._budget = -1

    def _exhaust(self, path: str, schema: JSON, detail: str) -> None:
        self.found.append(FieldError.invalid(path or "<nil>", schema.get("type") or "", detail))
        raise _Exhausted

    def _message(self, rule: JSON, given: tuple[Any, Any], schema: JSON, path: str) -> str:
        if text := rule.get("messageExpression"):
            told: Any = ""
            try:
                told = self._value(text, given)
            except cel.CostExceeded:
                none = "no further validation rules will be run due to call cost exceeds limit"
                self._exhaust(path, schema, f"{none} for messageExpression: {quote(text)}")
            except (cel.CelError, cel.SyntaxProblem):
                pass
            if self._budget < 0:
                self._exhaust(path, schema, f"messageExpression evaluation failed {_OUT_OF_BUDGET}")
            told = told.strip() if isinstance(told, str) else ""
            if told and "\n" not in told and len(told.encode()) <= _MAX_MESSAGE:
                return str(told)
        return str(rule["message"]).strip() if rule.get("message") else f"failed rule: {_told(rule)}"
