"""Environment variables of containers, and references to fields of the pod itself (`ValidateEnv`, `ValidateEnvFrom` and
the functions they call in `pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import config_key, dns_label, dns_subdomain, environment_name, qualified_name
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ..published import validate_field
from .mount_validation import validate_no_backsteps

JSON = dict[str, Any]

_ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_CONVERTIBLE = frozenset(
    (
        *_ENV_FIELDS,
        "metadata.annotations",
        "metadata.labels",
        "spec.restartPolicy",
        "spec.schedulerName",
        "status.phase",
        "spec.host",
    )
)
_WITH_SUBSCRIPT = ("metadata.annotations", "metadata.labels")
_RESOURCE_FIELDS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_SELECTORS = {"configMapKeyRef": "core/v1.ConfigMapKeySelector", "secretKeyRef": "core/v1.SecretKeySelector"}
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_CPU_DIVISORS: tuple[str, ...] = ("1m", "1")
_BYTE_DIVISORS = ("1", *(f"1{suffix}" for suffix in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")))


def validate_env(variables: list[JSON], path: str) -> Errors:
    """Check the environment variables of a container."""
    errors: Errors = []
    for index, variable in enumerate(variables):
        where = f"{path}[{index}]"
        errors.extend(validate_field("core/v1.EnvVar", variable, "name", where, environment_name))
        if variable.get("valueFrom") is not None:
            errors.extend(_validate_source(variable, f"{where}.valueFrom"))
    return errors


def _validate_source(variable: JSON, path: str) -> Errors:
    errors: Errors = []
    source = variable["valueFrom"]
    if (reference := source.get("fieldRef")) is not None:
        errors.extend(validate_field_reference(reference, f"{path}.fieldRef", _ENV_FIELDS))
    if (reference := source.get("resourceFieldRef")) is not None:
        errors.extend(validate_resource_reference(reference, f"{path}.resourceFieldRef"))
    for key in _SELECTORS:
        if (reference := source.get(key)) is not None:
            errors.extend(_validate_key_reference(_SELECTORS[key], reference, f"{path}.{key}"))
    if (reference := source.get("fileKeyRef")) is not None:
        errors.extend(_validate_file_reference(reference, f"{path}.fileKeyRef"))
    kinds = [key for key, value in source.items() if value is not None]
    if not kinds:
        known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(FieldError.invalid(path, "", f"must specify one of: {known}"))
    elif variable.get("value"):
        errors.append(FieldError.invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(kinds) > 1:
        errors.append(FieldError.invalid(path, "", "may not have more than one field specified at a time"))
    return errors


def validate_field_reference(reference: JSON, path: str, allowed: Collection[str]) -> Errors:
    """Check a reference to a field of the pod itself."""
    version, field = reference.get("apiVersion"), reference.get("fieldPath", "")
    if not version:
        return [FieldError.required(f"{path}.apiVersion")]
    if errors := validate_field("core/v1.ObjectFieldSelector", reference, "fieldPath", path):
        return errors
    base, bracket, rest = field.partition("['")
    subscripted = bool(bracket) and rest.endswith("']")
    wrong = ""
    if version != "v1":
        wrong = f"unsupported pod version: {version}"
    elif subscripted and base not in _WITH_SUBSCRIPT:
        wrong = f"field label does not support subscript: {field}"
    elif not subscripted and field not in _CONVERTIBLE:
        wrong = f"field label not supported: {field}"
    if wrong:
        return [FieldError.invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {wrong}")]
    if subscripted:
        key = rest.removesuffix("']")
        key = key.lower() if base == "metadata.annotations" else key
        return problems(path, key, qualified_name(key))
    field = "spec.nodeName" if field == "spec.host" else field
    if field not in allowed:
        return [FieldError.not_supported(f"{path}.fieldPath", field, sorted(allowed))]
    return []


def validate_resource_reference(reference: JSON, path: str, *, of_volume: bool = False) -> Errors:
    """Check a reference to a resource of a container. A reference in a volume must name the container."""
    errors: Errors = []
    resource = reference.get("resource", "")
    if of_volume and not reference.get("containerName"):
        errors.append(FieldError.required(f"{path}.containerName"))
    elif not resource:
        errors.extend(validate_field("core/v1.ResourceFieldSelector", reference, "resource", path))
    elif resource not in _RESOURCE_FIELDS and not resource.startswith(_HUGE_PAGES):
        errors.append(FieldError.not_supported(f"{path}.resource", resource, _RESOURCE_FIELDS))
    return [*errors, *_validate_divisor(resource, reference.get("divisor", "0"), path)]


def _validate_divisor(resource: str, divisor: str, path: str) -> Errors:
    if Quantity.parse(divisor).value == 0:
        return []
    what, allowed = resource.partition(".")[2], _BYTE_DIVISORS
    if what == "cpu":
        allowed, known = _CPU_DIVISORS, "1m and 1 are supported with the cpu resource"
    elif what == "memory":
        known = f"{', '.join(_BYTE_DIVISORS)} are supported with the memory resource"
    elif what == "ephemeral-storage":
        known = f"{', '.join(_BYTE_DIVISORS)} are supported with the local ephemeral storage resource"
    elif resource.startswith(_HUGE_PAGES):
        known = f"{', '.join(_BYTE_DIVISORS)} are supported with the hugepages resource"
    else:
        return []
    if divisor in allowed:
        return []
    return [FieldError.invalid(f"{path}.divisor", resource, f"only divisor's values {known}")]


def _validate_key_reference(type_name: str, reference: JSON, path: str) -> Errors:
    name = reference.get("name", "")
    errors = problems(f"{path}.name", name, dns_subdomain(name))
    return [*errors, *validate_field(type_name, reference, "key", path, config_key)]


def _validate_file_reference(reference: JSON, path: str) -> Errors:
    errors: Errors = []
    for field, rule in (("key", environment_name), ("volumeName", dns_label), ("path", None)):
        errors.extend(validate_field("core/v1.FileKeySelector", reference, field, path, rule))
    return [*errors, *validate_no_backsteps(reference.get("path", ""), f"{path}.path")]


def validate_env_from(sources: list[JSON], path: str) -> Errors:
    """Check the config maps and secrets whose keys all become environment variables."""
    errors: Errors = []
    for index, source in enumerate(sources):
        where = f"{path}[{index}]"
        if prefix := source.get("prefix"):
            errors.extend(problems(f"{where}.prefix", prefix, environment_name(prefix)))
        kinds = [key for key in ("configMapRef", "secretRef") if source.get(key) is not None]
        for kind in kinds:
            name = source[kind].get("name", "")
            if not name:
                errors.append(FieldError.required(f"{where}.{kind}.name"))
            else:
                errors.extend(problems(f"{where}.{kind}.name", name, dns_subdomain(name)))
        if not kinds:
            errors.append(FieldError.invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(kinds) > 1:
            errors.append(FieldError.invalid(path, "", "may not have more than one field specified at a time"))
    return errors
