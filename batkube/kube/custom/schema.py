"""Structural schemas: the validation of custom resources as kube-openapi does it, in its words.

`codec/custom_objects.py` drops and fills in fields, `rules` has the rules in CEL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..apimachinery.expressions import expression
from ..apimachinery.formats import fits
from ..apimachinery.status import FieldError, quote, show

JSON = dict[str, Any]

_INT_OR_STRING = "x-kubernetes-int-or-string"
_LIST_TYPE = "x-kubernetes-list-type"
_LIST_KEYS = "x-kubernetes-list-map-keys"

_MAX_FLOAT = 3.40282346638528859811704183484516925440e38


def validate(schema: JSON, value: Any, path: str, old: Any = None) -> list[FieldError]:
    """Return the errors in the value. A part that is as it was in `old` is not checked again (ratcheting)."""
    if old is not None and value == old and type(value) is type(old):
        return []
    if value is None:
        fits = schema.get("nullable", False) or not _types(schema)
        return ([] if fits else [_wrong_type(schema, value, path)]) + _of_enum(schema, value, path)
    errors = _of_type(schema, value, path)
    errors += _of_enum(schema, value, path)
    if isinstance(value, str):
        errors += _of_string(schema, value, path)
    elif isinstance(value, dict):
        errors += _of_object(schema, value, path, old)
    elif isinstance(value, list):
        errors += _of_array(schema, value, path, old)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        errors += _of_number(schema, value, path)
    return errors + _of_combination(schema, value, path, old)


def _types(schema: JSON) -> tuple[str, ...]:
    if schema.get(_INT_OR_STRING, False):
        return ("integer", "string")
    json_type = schema.get("type")
    return (json_type,) if json_type else ()


def type_name(value: Any) -> str:
    """Return the JSON type of a value."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "null"


def _of_type(schema: JSON, value: Any, path: str) -> list[FieldError]:
    types = _types(schema)
    actual = type_name(value)
    whole = isinstance(value, float) and value.is_integer()
    of_type = not types or actual in types or (actual == "integer" and "number" in types)
    if not of_type and not (whole and "integer" in types):
        errors = [_wrong_type(schema, value, path)]
        if types == ("integer",) and actual == "number":
            errors.append(_nowhere(f"Checked value must be of type integer (default format) in {path}"))
        return errors
    if types == ("integer",) and schema.get("format") in ("int32", "int64"):
        bits = int(schema["format"][3:])
        if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
            return [_nowhere(f"Checked value must be of type integer with format {schema['format']} in {path}")]
    if types == ("number",) and schema.get("format") == "float" and abs(value) > _MAX_FLOAT:
        return [_nowhere(f"Checked value must be of type number with format float in {path}")]
    return []


def _wrong_type(schema: JSON, value: Any, path: str) -> FieldError:
    actual, wanted = type_name(value), ",".join(_types(schema))
    return FieldError.type_invalid(path, actual, f"{path} in body must be of type {wanted}: {quote(actual)}")


def _nowhere(detail: str) -> FieldError:
    """Return an error whose field the real server cannot name."""
    return FieldError.invalid("<nil>", "", detail)


def _of_enum(schema: JSON, value: Any, path: str) -> list[FieldError]:
    allowed = schema.get("enum")
    if not allowed or value in allowed:
        return []
    return [FieldError.not_supported(path, value, [item if isinstance(item, str) else show(item) for item in allowed])]


def _of_string(schema: JSON, value: str, path: str) -> list[FieldError]:
    errors = [wrong] if (wrong := _wrong_text(schema, value, path)) else []
    form = schema.get("format")
    if form and not fits(form, value):
        errors.append(FieldError.type_invalid(path, value, f"{path} in body must be of type {form}: {quote(value)}"))
    return errors


def _wrong_text(schema: JSON, value: str, path: str) -> FieldError | None:
    """Return the first error in a text, other than that of its format."""
    shortest, longest, pattern = schema.get("minLength"), schema.get("maxLength"), schema.get("pattern")
    if longest is not None and len(value) > longest:
        return FieldError.too_long(path, longest)
    if shortest is not None and len(value) < shortest:
        return FieldError.invalid(path, value, f"{path} in body should be at least {shortest} chars long")
    if pattern and not expression(pattern).search(value):
        return FieldError.invalid(path, value, f"{path} in body should match '{pattern}'")
    return None


def _of_number(schema: JSON, value: float, path: str) -> list[FieldError]:
    errors = _of_factor(schema["multipleOf"], value, path) if schema.get("multipleOf") else []
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    if isinstance(value, int):  # of bounds, too, only the whole part counts
        lowest, highest = (bound if bound is None else int(bound) for bound in (lowest, highest))
    if lowest is not None:
        if schema.get("exclusiveMinimum", False) and value <= lowest:
            errors.append(FieldError.invalid(path, value, f"{path} in body should be greater than {lowest}"))
        elif value < lowest:
            detail = f"{path} in body should be greater than or equal to {lowest}"
            errors.append(FieldError.invalid(path, value, detail))
    if highest is not None:
        if schema.get("exclusiveMaximum", False) and value >= highest:
            errors.append(FieldError.invalid(path, value, f"{path} in body should be less than {highest}"))
        elif value > highest:
            detail = f"{path} in body should be less than or equal to {highest}"
            errors.append(FieldError.invalid(path, value, detail))
    return errors


def _of_factor(factor: float, value: float, path: str) -> list[FieldError]:
    """Check that a number is a multiple of the factor. For a whole number only the whole part of the factor counts."""
    if isinstance(value, int):
        whole = int(factor)
        if whole <= 0:
            why = f"factor MultipleOf declared for {path} must be positive: {whole}"
            return [FieldError.invalid(path, whole, why)]
        fits = value % whole == 0
    else:
        times = 1 / factor * value if factor < 1 else value / factor
        fits = abs(times - round(times)) <= 1e-9
    return [] if fits else [FieldError.invalid(path, value, f"{path} in body should be a multiple of {factor}")]


def _of_object(schema: JSON, value: JSON, path: str, old: Any) -> list[FieldError]:
    errors = []
    properties = schema.get("properties") or {}
    for key in schema.get("required") or ():
        if key not in value:
            errors.append(FieldError.required(f"{path}.{key}" if path else key))
    errors += _count(schema, value, path, ("minProperties", "maxProperties", "properties"))
    additional = schema.get("additionalProperties")
    before = old if isinstance(old, dict) else {}
    for key, item in value.items():
        field = properties.get(key, additional)
        if isinstance(field, dict):
            below = f"{path}.{key}" if path or key not in properties else key
            errors += validate(field, item, below, before.get(key))
    return errors


def _of_array(schema: JSON, value: list[Any], path: str, old: Any) -> list[FieldError]:
    errors = _count(schema, value, path, ("minItems", "maxItems", "items"))
    items = schema.get("items")
    if isinstance(items, dict):
        before = _matching(schema, value, old)
        for index, item in enumerate(value):
            errors += validate(items, item, f"{path}[{index}]", before[index])
    return errors


def _matching(schema: JSON, value: list[Any], old: Any) -> list[Any]:
    """Return for each item the old item to compare it with, found by its keys; None except in lists of type map."""
    keys = schema.get(_LIST_KEYS)
    if schema.get(_LIST_TYPE) != "map" or not keys or not isinstance(old, list):
        return [None] * len(value)
    known = {_key(item, keys): item for item in old if isinstance(item, dict)}
    return [known.get(_key(item, keys)) if isinstance(item, dict) else None for item in value]


def _key(item: JSON, keys: Sequence[str]) -> str:
    return show({key: item[key] for key in keys if key in item})


def _count(schema: JSON, value: JSON | list[Any], path: str, names: tuple[str, str, str]) -> list[FieldError]:
    fewest, most = schema.get(names[0]), schema.get(names[1])
    count = len(value)
    errors = []
    if most is not None and count > most:
        errors.append(FieldError.too_many(path, count, most))
    if fewest is not None and count < fewest:
        errors.append(FieldError.invalid(path, count, f"{path} in body should have at least {fewest} {names[2]}"))
    return errors


def _of_combination(schema: JSON, value: Any, path: str, old: Any) -> list[FieldError]:
    errors: list[FieldError] = []
    any_of, one_of, all_of = schema.get("anyOf"), schema.get("oneOf"), schema.get("allOf")
    if any_of:
        tried = [validate(branch, value, path, old) for branch in any_of]
        if all(tried):
            errors.append(_nowhere(f'"{path}" must validate at least one schema (anyOf)'))
            errors += tried[0]
    if one_of:
        tried = [validate(branch, value, path, old) for branch in one_of]
        fitting = sum(not failed for failed in tried)
        if fitting != 1:
            found = "Found none valid" if not fitting else f"Found {fitting} valid alternatives"
            errors.append(_nowhere(f'"{path}" must validate one and only one schema (oneOf). {found}'))
            if not fitting:
                errors += tried[0]
    if all_of:
        tried = [validate(branch, value, path, old) for branch in all_of]
        if any(tried):
            none = ". None validated" if all(tried) else ""
            errors.append(_nowhere(f'"{path}" must validate all the schemas (allOf){none}'))
            errors += [error for failed in tried for error in failed]
    if schema.get("not") is not None and not validate(schema["not"], value, path, old):
        errors.append(_nowhere(f'"{path}" must not validate the schema (not)'))
    return errors
