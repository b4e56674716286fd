"""Objects inside objects (`x-kubernetes-embedded-resource`): they have a kind, an API version, and metadata like others
(`apiextensions-apiserver/pkg/apiserver/schema/objectmeta`).
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.go_values import go_json
from ..apimachinery.metadata import validate_new
from ..apimachinery.names import dns_1035_label, path_segment
from ..apimachinery.status import FieldError
from .custom_objects import embedded

JSON = dict[str, Any]


def validate_embedded(schema: JSON, obj: JSON) -> list[FieldError]:
    """Return the errors in the objects inside an object."""
    errors: list[FieldError] = []
    for inner, path in embedded(schema, obj):
        at = f"{path}." if path else ""
        errors += [FieldError.required(f"{at}{name}") for name in ("apiVersion", "kind") if name not in inner]
        errors += _validate_version(inner.get("apiVersion", "v1"), f"{at}apiVersion")
        errors += _validate_kind(inner.get("kind", "K"), f"{at}kind")
        metadata = inner.get("metadata")
        if isinstance(metadata, dict):
            named = {**metadata, "name": metadata.get("name") or "fakename"}
            errors += validate_new(named, path_segment, f"{at}metadata", generic=True)
    return errors


def _validate_version(version: Any, path: str) -> list[FieldError]:
    if not isinstance(version, str):
        return [FieldError.invalid(path, version, "must be a string")]
    if not version:
        return [FieldError.invalid(path, version, "must not be empty")]
    if version.count("/") > 1:
        return [FieldError.invalid(path, version, f"unexpected GroupVersion string: {version}")]
    return []


def _validate_kind(kind: Any, path: str) -> list[FieldError]:
    if not isinstance(kind, str):
        return [FieldError.invalid(path, kind, "must be a string")]
    if not kind:
        return [FieldError.invalid(path, kind, "must not be empty")]
    wrong = dns_1035_label(kind.lower())
    why = "may have mixed case, but should otherwise match: "
    return [FieldError.invalid(path, kind, why + ",".join(wrong))] if wrong else []


def not_strings(inner: JSON, path: str) -> str:
    """Return why an embedded object cannot be read; "" if it can."""
    for name in ("apiVersion", "kind"):
        if name in inner and not isinstance(inner[name], str):
            where = f"{path}.{name}" if path else name
            return f"{where}: Invalid value: {go_json(inner[name])}: must be a string"
    return ""
