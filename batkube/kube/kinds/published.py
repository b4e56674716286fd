"""The check of a field by what the published schema states of it (`schema/field_rules.py`).

A rule of that kind is written nowhere else. The place of a call is: the real server tells the causes of a refusal in
the order in which its code looks at the fields, and no schema has that order, nor the conditions under which a field
is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..apimachinery.metadata import Errors, problems
from ..apimachinery.status import FieldError
from ..schema.field_rules import required_texts, rule_of

JSON = dict[str, Any]
Form = Callable[[Any], Iterable[str]]  # gives what is wrong with a value


def validate_field(
    type_name: str, obj: JSON, field: str, path: str, form: Form | None = None, missing: str = ""
) -> Errors:
    """Return the errors of a field of an object of that type, which is at `path`.

    A required field must not be empty: `missing` is the detail of that error. An enumeration has one of its values, and
    each item of a list too. A value that is right so far must have the form, if one is given.
    """
    rule = rule_of(type_name, field)
    value = obj.get(field)
    if value is None or (not value and not rule.pointer):
        return [FieldError.required(f"{path}.{field}" if path else field, missing)] if rule.required else []
    if rule.values and isinstance(value, list):
        return [
            FieldError.not_supported(f"{path}.{field}[{index}]", item, rule.values)
            for index, item in enumerate(value)
            if item not in rule.values
        ]
    if rule.values and value not in rule.values:
        return [FieldError.not_supported(f"{path}.{field}" if path else field, value, rule.values)]
    return problems(f"{path}.{field}" if path else field, value, form(value)) if form is not None else []


def validate_required(type_name: str, obj: JSON, path: str) -> Errors:
    """Return an error for each required text and each required list of an object that is empty."""
    return [FieldError.required(f"{path}.{field}") for field in required_texts(type_name) if not obj.get(field)]
