"""What is wrong with a CustomResourceDefinition (`apiextensions-apiserver/pkg/apis/apiextensions/validation`)."""

from __future__ import annotations

import re
from typing import Any

from ..status import FieldError
from .rules import validate_rules

JSON = dict[str, Any]

_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_APPROVED = "api-approved.kubernetes.io"
_LABEL_RULE = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def validate_definition(obj: JSON) -> list[FieldError]:
    """All of it; [] if the definition can be served."""
    spec, metadata = obj["spec"], obj["metadata"]
    errors = []
    names = spec["names"]
    plural, group = names.get("plural", ""), spec.get("group", "")
    if not group:
        errors.append(FieldError.required("spec.group"))
    elif "." not in group:
        errors.append(FieldError.invalid("spec.group", group, "should be a domain with at least one dot"))
    for field in ("generateName", "name"):
        if metadata.get(field, f"{plural}.{group}") != f"{plural}.{group}":
            why = 'must be spec.names.plural+"."+spec.group'
            errors.append(FieldError.invalid(f"metadata.{field}", metadata[field], why))
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        errors.append(FieldError.not_supported("spec.scope", spec.get("scope", ""), ("Cluster", "Namespaced")))
    errors += _validate_names(names)
    if spec.get("preserveUnknownFields"):
        errors.append(FieldError.invalid("spec.preserveUnknownFields", True, "must be false"))
    protected = group.endswith((".k8s.io", ".kubernetes.io")) or group in ("k8s.io", "kubernetes.io")
    if protected and _APPROVED not in (metadata.get("annotations") or {}):
        detail = (
            f'protected groups must have approval annotation "{_APPROVED}", see '
            "https://github.com/kubernetes/enhancements/pull/1111"
        )
        errors.append(FieldError.required(f"metadata.annotations[{_APPROVED}]", detail))
    versions = spec.get("versions") or []
    for index, version in enumerate(versions):
        errors += _validate_version(version, f"spec.versions[{index}]", index, single=len(versions) == 1)
    known: set[str] = set()
    for index, version in enumerate(versions):
        if version.get("name") in known:
            errors.append(FieldError.duplicate(f"spec.versions[{index}].name", version["name"]))
        known.add(version.get("name", ""))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        errors.append(FieldError.invalid("spec.versions", [v.get("name") for v in versions], detail))
    if not any(version.get("storage") for version in versions):
        errors.append(FieldError.invalid("status.storedVersions", None, "must have at least one stored version"))
    return errors


def _validate_names(names: JSON) -> list[FieldError]:
    errors = []
    for key in ("plural", "singular", "kind", "listKind"):
        name = names.get(key) or ""
        if not name and key in ("plural", "kind"):
            errors.append(FieldError.required(f"spec.names.{key}"))
        elif name and not _LABEL.fullmatch(name.lower() if key in ("kind", "listKind") else name):
            mixed = "may have mixed case, but should otherwise match: " if key in ("kind", "listKind") else ""
            errors.append(FieldError.invalid(f"spec.names.{key}", name, mixed + _LABEL_RULE))
    for index, name in enumerate(names.get("shortNames") or ()):
        if not _LABEL.fullmatch(name):
            errors.append(FieldError.invalid(f"spec.names.shortNames[{index}]", name, _LABEL_RULE))
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        errors.append(FieldError.invalid("spec.names.listKind", names["kind"], "kind and listKind may not be the same"))
    return errors


def _validate_scale(scale: JSON | None, path: str) -> list[FieldError]:
    errors = []
    for key, parent, needed in (
        ("specReplicasPath", ".spec.", True),
        ("statusReplicasPath", ".status.", True),
        ("labelSelectorPath", "", False),
    ):
        value = (scale or {}).get(key, "")
        if scale is not None and needed and not value:
            errors.append(FieldError.required(f"{path}.{key}"))
        elif value and not value.startswith(parent or (".spec.", ".status.")):
            where = f"should be a json path under {parent.rstrip('.') or 'either .status or .spec'}"
            errors.append(FieldError.invalid(f"{path}.{key}", value, where))
    return errors


def _validate_version(version: JSON, path: str, index: int, single: bool) -> list[FieldError]:
    errors = []
    name = version.get("name", "")
    if not _LABEL.fullmatch(name):
        errors.append(FieldError.invalid(f"{path}.name", name, _LABEL_RULE))
        if index == 0:
            errors.append(FieldError.invalid("spec.version", name, _LABEL_RULE))
    errors += _validate_scale((version.get("subresources") or {}).get("scale"), f"{path}.subresources.scale")
    schema = (version.get("schema") or {}).get("openAPIV3Schema")
    if schema is None:
        errors.append(FieldError.required(f"{path}.schema.openAPIV3Schema"))
        return errors
    where = "spec.validation.openAPIV3Schema" if single else f"{path}.schema.openAPIV3Schema"
    if not schema.get("type"):
        errors.append(FieldError.required(f"{where}.type", "must not be empty at the root"))
    elif schema["type"] != "object":
        errors.append(FieldError.invalid(f"{where}.type", schema["type"], "must be object at the root"))
    else:
        errors += _structural(schema, where) or validate_rules(schema, where)
    return errors


def _structural(schema: JSON, path: str) -> list[FieldError]:
    """Every specified field has a type, or says that it is free."""
    errors = []
    for name, its in (schema.get("properties") or {}).items():
        errors += _typed(its, f"{path}.properties[{name}]", "must not be empty for specified object fields")
    items = schema.get("items")
    list_type = schema.get("x-kubernetes-list-type")
    if list_type == "map" and not schema.get("x-kubernetes-list-map-keys"):
        detail = "must not be empty if x-kubernetes-list-type is map"
        errors.append(FieldError.required(f"{path}.x-kubernetes-list-map-keys", detail))
    if list_type is not None and list_type not in ("atomic", "set", "map"):
        field = f"{path}.x-kubernetes-list-type"
        errors.append(FieldError.not_supported(field, list_type, ("atomic", "map", "set")))
    if schema.get("type") == "array" and items is None:
        errors.append(FieldError.required(f"{path}.items", "must be specified"))
    if isinstance(items, dict):
        errors += _typed(items, f"{path}.items", "must not be empty for specified array items")
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict):
        errors += _typed(additional, f"{path}.additionalProperties", "must not be empty for specified object fields")
    return errors


def _typed(schema: JSON, path: str, missing: str) -> list[FieldError]:
    free = schema.get("x-kubernetes-int-or-string") or schema.get("x-kubernetes-preserve-unknown-fields")
    if not schema.get("type") and not free:
        return [FieldError.required(f"{path}.type", missing)]
    return _structural(schema, path)
