"""Probes and life cycle handlers of containers (`validateProbe`, `validateHandler` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

import re
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import port_name, port_number
from ...apimachinery.status import FieldError
from ..published import validate_field

JSON = dict[str, Any]

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_NEGATIVE = "must be greater than or equal to 0"
_HEADER = re.compile(r"[-A-Za-z0-9]+")
_HEADER_WRONG = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
    "validation is '[-A-Za-z0-9]+')"
)


def validate_probes(container: JSON, path: str) -> Errors:
    """Check all probes of a container."""
    errors: Errors = []
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(name)) is not None:
            errors.extend(_validate_probe(probe, f"{path}.{name}", name))
    return errors


def validate_lifecycle(lifecycle: JSON, grace_seconds: int | None, path: str) -> Errors:
    """Check the handlers that run as a container starts and stops; `grace_seconds` is the pod's grace period."""
    errors: Errors = []
    for moment in ("postStart", "preStop"):
        if (handler := lifecycle.get(moment)) is not None:
            errors.extend(_validate_handler(handler, f"{path}.{moment}", grace_seconds))
    return errors


def _validate_probe(probe: JSON, path: str, name: str) -> Errors:
    errors = _validate_handler(probe, path, None)
    for field in _COUNTS:
        if probe.get(field, 0) < 0:
            errors.append(FieldError.invalid(f"{path}.{field}", probe[field], _NEGATIVE))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        errors.append(FieldError.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    if name == "readinessProbe":
        if grace is not None:
            why = "must not be set for readinessProbes"
            errors.append(FieldError.invalid(f"{path}.terminationGracePeriodSeconds", grace, why))
    elif probe.get("successThreshold", 1) != 1:
        errors.append(FieldError.invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1"))
    return errors


def _validate_handler(handler: JSON, path: str, grace_seconds: int | None) -> Errors:
    kinds = [key for key in _HANDLERS if handler.get(key) is not None]
    if not kinds:
        return [FieldError.required(path, "must specify a handler type")]
    kind, action = kinds[0], handler[kinds[0]]
    errors: Errors = []
    if kind == "exec":
        if not action.get("command"):
            errors.append(FieldError.required(f"{path}.exec.command"))
    elif kind == "httpGet":
        errors.extend(_validate_http_get(action, f"{path}.httpGet"))
    elif kind in ("tcpSocket", "grpc"):
        errors.extend(_validate_port(action.get("port", 0), f"{path}.{kind}.port"))
    elif grace_seconds is not None and not 0 <= action.get("seconds", 0) <= grace_seconds:
        why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
        errors.append(FieldError.invalid(f"{path}.sleep", action.get("seconds", 0), why))
    errors.extend(
        FieldError.forbidden(f"{path}.{extra}", "may not specify more than 1 handler type") for extra in kinds[1:]
    )
    return errors


def _validate_http_get(action: JSON, path: str) -> Errors:
    errors: Errors = []
    if not action.get("path"):
        errors.append(FieldError.required(f"{path}.path"))
    errors.extend(_validate_port(action.get("port", 0), f"{path}.port"))
    errors.extend(validate_field("core/v1.HTTPGetAction", action, "scheme", path))
    for header in action.get("httpHeaders") or ():
        name = header.get("name", "")
        if not _HEADER.fullmatch(name):
            errors.append(FieldError.invalid(f"{path}.httpHeaders", name, _HEADER_WRONG))
    return errors


def _validate_port(port: int | str, path: str) -> Errors:
    return problems(path, port, port_name(port) if isinstance(port, str) else port_number(port))
