"""Containers of a pod: what may be in them (`validateContainers` and what it calls in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..metadata import Errors, problems
from ..names import config_key, dns_label, environment_name, port_name, port_number, qualified_name
from ..status import FieldError
from .resource_validation import validate_requirements

JSON = dict[str, Any]

_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_NEGATIVE = "must be greater than or equal to 0"
_FIELD_PATHS = (
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
_CONTAINER_RESOURCE_FIELDS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)


def validate_containers(spec: JSON, path: str, host_network: bool) -> Errors:
    """All containers of a pod spec: containers, init containers, ephemeral containers."""
    errors: Errors = []
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    claims = [claim.get("name", "") for claim in spec.get("resourceClaims") or ()]
    containers = spec.get("containers") or ()
    names: set[str] = set()
    if not containers:
        errors.append(FieldError.required(f"{path}.containers"))
    for index, container in enumerate(containers):
        where = f"{path}.containers[{index}]"
        errors.extend(_validate_container(container, where, volumes, claims, host_network))
        name = container.get("name", "")
        if name in names:
            errors.append(FieldError.duplicate(f"{where}.name", name))
        names.add(name)
        if container.get("restartPolicy") is not None and not container.get("restartPolicyRules"):
            allowed = ("Always", "Never", "OnFailure")
            if container["restartPolicy"] not in allowed:
                errors.append(FieldError.not_supported(f"{where}.restartPolicy", container["restartPolicy"], allowed))
    errors.extend(_duplicate_host_ports(containers, f"{path}.containers"))
    for index, container in enumerate(spec.get("initContainers") or ()):
        where = f"{path}.initContainers[{index}]"
        errors.extend(_validate_container(container, where, volumes, claims, host_network))
        name = container.get("name", "")
        if name in names:
            errors.append(FieldError.duplicate(f"{where}.name", name))
        names.add(name)
        if container.get("restartPolicy") != "Always":
            for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
                if container.get(field) is not None:
                    why = "may not be set for init containers without restartPolicy=Always"
                    errors.append(FieldError.forbidden(f"{where}.{field}", why))
    return errors


def _validate_container(
    container: JSON, path: str, volumes: Mapping[str, JSON], claims: Collection[str], host_network: bool
) -> Errors:
    errors: Errors = []
    name = container.get("name", "")
    if not name:
        errors.append(FieldError.required(f"{path}.name"))
    elif wrong := dns_label(name):
        errors.extend(problems(f"{path}.name", name, wrong))
    image = container.get("image", "")
    if not image:
        errors.append(FieldError.required(f"{path}.image"))
    elif image != image.strip():
        errors.append(FieldError.invalid(f"{path}.image", image, "must not have leading or trailing whitespace"))
    policy = container.get("terminationMessagePolicy", "File")
    if policy not in _MESSAGE_POLICIES:
        errors.append(FieldError.not_supported(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    if ports := container.get("ports"):
        errors.extend(_validate_ports(ports, f"{path}.ports", host_network))
    if variables := container.get("env"):
        errors.extend(_validate_env(variables, f"{path}.env"))
    if sources := container.get("envFrom"):
        errors.extend(_validate_env_from(sources, f"{path}.envFrom"))
    if mounts := container.get("volumeMounts"):
        errors.extend(_validate_mounts(mounts, volumes, container, f"{path}.volumeMounts"))
    if devices := container.get("volumeDevices"):
        errors.extend(_validate_devices(devices, volumes, f"{path}.volumeDevices"))
    pull = container.get("imagePullPolicy", "")
    if pull not in _PULL_POLICIES:
        if pull:
            errors.append(FieldError.not_supported(f"{path}.imagePullPolicy", pull, _PULL_POLICIES))
        else:
            errors.append(FieldError.required(f"{path}.imagePullPolicy"))
    if resources := container.get("resources"):
        errors.extend(validate_requirements(resources, f"{path}.resources", claims))
    for field in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(field)) is not None:
            errors.extend(_validate_probe(probe, f"{path}.{field}", field))
    if lifecycle := container.get("lifecycle"):
        for moment in ("postStart", "preStop"):
            if (handler := lifecycle.get(moment)) is not None:
                errors.extend(_validate_handler(handler, f"{path}.lifecycle.{moment}"))
    return errors


def _validate_ports(ports: list[JSON], path: str, host_network: bool) -> Errors:
    errors: Errors = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        where = f"{path}[{index}]"
        if name := port.get("name", ""):
            if wrong := port_name(name):
                errors.extend(problems(f"{where}.name", name, wrong))
            elif name in names:
                errors.append(FieldError.duplicate(f"{where}.name", name))
            else:
                names.add(name)
        number = port.get("containerPort", 0)
        if not number:
            errors.append(FieldError.required(f"{where}.containerPort"))
        else:
            errors.extend(problems(f"{where}.containerPort", number, port_number(number)))
        if host_port := port.get("hostPort", 0):
            errors.extend(problems(f"{where}.hostPort", host_port, port_number(host_port)))
            if host_network and host_port != number:
                why = "must match `containerPort` when `hostNetwork` is true"
                errors.append(FieldError.invalid(f"{where}.hostPort", host_port, why))
        protocol = port.get("protocol", "")
        if not protocol:
            errors.append(FieldError.required(f"{where}.protocol"))
        elif protocol not in _PROTOCOLS:
            errors.append(FieldError.not_supported(f"{where}.protocol", protocol, _PROTOCOLS))
    return errors


def _duplicate_host_ports(containers: Collection[JSON], path: str) -> Errors:
    errors: Errors = []
    taken: set[str] = set()
    for number, container in enumerate(containers):
        for index, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            text = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if text in taken:
                errors.append(FieldError.duplicate(f"{path}[{number}].ports[{index}].hostPort", text))
            taken.add(text)
    return errors


def _validate_env(variables: list[JSON], path: str) -> Errors:
    errors: Errors = []
    for index, variable in enumerate(variables):
        where = f"{path}[{index}]"
        name = variable.get("name", "")
        if not name:
            errors.append(FieldError.required(f"{where}.name"))
        else:
            errors.extend(problems(f"{where}.name", name, environment_name(name)))
        source = variable.get("valueFrom")
        if source is None:
            continue
        where += ".valueFrom"
        kinds = [key for key, value in source.items() if value is not None]
        if variable.get("value"):
            errors.append(FieldError.invalid(where, "", "may not be specified when `value` is not empty"))
        if not kinds:
            known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
            errors.append(FieldError.invalid(where, "", f"must specify one of: {known}"))
        elif len(kinds) > 1:
            errors.append(FieldError.invalid(where, "", "may not have more than one field specified at a time"))
        if (reference := source.get("fieldRef")) is not None:
            errors.extend(validate_field_reference(reference, f"{where}.fieldRef", _FIELD_PATHS))
        if (reference := source.get("resourceFieldRef")) is not None:
            errors.extend(_validate_resource_reference(reference, f"{where}.resourceFieldRef"))
        for key in ("configMapKeyRef", "secretKeyRef"):
            if (reference := source.get(key)) is not None:
                errors.extend(_validate_key_reference(reference, f"{where}.{key}"))
    return errors


def validate_field_reference(reference: JSON, path: str, allowed: Collection[str]) -> Errors:
    """A reference to a field of the pod itself."""
    field = reference.get("fieldPath", "")
    if not reference.get("apiVersion"):
        return [FieldError.required(f"{path}.apiVersion")]
    if not field:
        return [FieldError.required(f"{path}.fieldPath")]
    base, bracket, rest = field.partition("['")
    if bracket:
        if base not in ("metadata.labels", "metadata.annotations"):
            return [FieldError.invalid(f"{path}.fieldPath", field, "does not support subscript")]
        return problems(f"{path}.fieldPath", field, qualified_name(rest.removesuffix("']").lower()))
    if field not in allowed:
        if field.split(".")[0] not in ("metadata", "spec", "status"):
            why = f"error converting fieldPath: field label not supported: {field}"
            return [FieldError.invalid(f"{path}.fieldPath", field, why)]
        return [FieldError.not_supported(f"{path}.fieldPath", field, sorted(allowed))]
    return []


def _validate_resource_reference(reference: JSON, path: str) -> Errors:
    resource = reference.get("resource", "")
    if not resource:
        return [FieldError.required(f"{path}.resource")]
    if resource not in _CONTAINER_RESOURCE_FIELDS and not resource.startswith(
        ("limits.hugepages-", "requests.hugepages-")
    ):
        return [FieldError.not_supported(f"{path}.resource", resource, _CONTAINER_RESOURCE_FIELDS)]
    return []


def _validate_key_reference(reference: JSON, path: str) -> Errors:
    key = reference.get("key", "")
    if not key:
        return [FieldError.required(f"{path}.key")]
    return problems(f"{path}.key", key, config_key(key))


def _validate_env_from(sources: list[JSON], path: str) -> Errors:
    errors: Errors = []
    for index, source in enumerate(sources):
        where = f"{path}[{index}]"
        if prefix := source.get("prefix"):
            errors.extend(problems(f"{where}.prefix", prefix, environment_name(prefix)))
        kinds = [key for key in ("configMapRef", "secretRef") if source.get(key) is not None]
        if not kinds:
            errors.append(FieldError.invalid(where, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(kinds) > 1:
            errors.append(FieldError.invalid(where, "", "may not have more than one field specified at a time"))
        for kind in kinds:
            if not source[kind].get("name"):
                errors.append(FieldError.required(f"{where}.{kind}.name"))
    return errors


def _validate_mounts(mounts: list[JSON], volumes: Mapping[str, JSON], container: JSON, path: str) -> Errors:
    errors: Errors = []
    places: set[str] = set()
    devices = {device.get("devicePath") for device in container.get("volumeDevices") or ()}
    for index, mount in enumerate(mounts):
        where = f"{path}[{index}]"
        name, place = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            errors.append(FieldError.required(f"{where}.name"))
        if not place:
            errors.append(FieldError.required(f"{where}.mountPath"))
        if name not in volumes:
            errors.append(FieldError.not_found(f"{where}.name", name))
        if place in places:
            errors.append(FieldError.invalid(f"{where}.mountPath", place, "must be unique"))
        places.add(place)
        if place in devices:
            why = "must not already exist as a path in volumeDevices"
            errors.append(FieldError.invalid(f"{where}.mountPath", place, why))
        for field in ("subPath", "subPathExpr"):
            if sub := mount.get(field):
                errors.extend(validate_inner_path(sub, f"{where}.{field}"))
        if mount.get("subPath") and mount.get("subPathExpr"):
            why = "subPathExpr and subPath are mutually exclusive"
            errors.append(FieldError.invalid(f"{where}.subPathExpr", mount["subPathExpr"], why))
    return errors


def validate_inner_path(value: str, path: str) -> Errors:
    """A path that stays within a volume."""
    errors: Errors = []
    if value.startswith("/"):
        errors.append(FieldError.invalid(path, value, "must be a relative path"))
    if ".." in value.split("/"):
        errors.append(FieldError.invalid(path, value, "must not contain '..'"))
    return errors


def _validate_devices(devices: list[JSON], volumes: Mapping[str, JSON], path: str) -> Errors:
    errors: Errors = []
    places: set[str] = set()
    for index, device in enumerate(devices):
        where = f"{path}[{index}]"
        name, place = device.get("name", ""), device.get("devicePath", "")
        if not name:
            errors.append(FieldError.required(f"{where}.name"))
        elif name not in volumes:
            errors.append(FieldError.not_found(f"{where}.name", name))
        if not place:
            errors.append(FieldError.required(f"{where}.devicePath"))
        elif place in places:
            errors.append(FieldError.invalid(f"{where}.devicePath", place, "must be unique"))
        places.add(place)
    return errors


def _validate_probe(probe: JSON, path: str, which: str) -> Errors:
    errors = _validate_handler(probe, path)
    for field in ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"):
        if probe.get(field, 0) < 0:
            errors.append(FieldError.invalid(f"{path}.{field}", probe[field], _NEGATIVE))
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None:
        if which == "readinessProbe":
            why = "must not be set for readinessProbes"
            errors.append(FieldError.invalid(f"{path}.terminationGracePeriodSeconds", grace, why))
        elif grace <= 0:
            errors.append(FieldError.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    if which != "readinessProbe" and probe.get("successThreshold", 1) != 1:
        errors.append(FieldError.invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1"))
    return errors


def _validate_handler(handler: JSON, path: str) -> Errors:
    errors: Errors = []
    kinds = [key for key in _HANDLERS if handler.get(key) is not None]
    if not kinds:
        errors.append(FieldError.required(path, "must specify a handler type"))
    errors.extend(
        FieldError.forbidden(f"{path}.{extra}", "may not specify more than 1 handler type") for extra in kinds[1:]
    )
    if kinds[:1] == ["exec"] and not handler["exec"].get("command"):
        errors.append(FieldError.required(f"{path}.exec.command"))
    elif kinds[:1] == ["httpGet"]:
        action = handler["httpGet"]
        if not action.get("path"):
            errors.append(FieldError.required(f"{path}.httpGet.path"))
        errors.extend(_validate_port(action.get("port", 0), f"{path}.httpGet.port"))
        if action.get("scheme") not in ("HTTP", "HTTPS"):
            scheme = action.get("scheme", "")
            errors.append(FieldError.not_supported(f"{path}.httpGet.scheme", scheme, ("HTTP", "HTTPS")))
    elif kinds[:1] == ["tcpSocket"]:
        errors.extend(_validate_port(handler["tcpSocket"].get("port", 0), f"{path}.tcpSocket.port"))
    elif kinds[:1] == ["grpc"]:
        errors.extend(_validate_port(handler["grpc"].get("port", 0), f"{path}.grpc.port"))
    return errors


def _validate_port(port: int | str, path: str) -> Errors:
    return problems(path, port, port_name(port) if isinstance(port, str) else port_number(port))
