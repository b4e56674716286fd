"""The content of a pod's containers (`validateContainers` and the functions it calls in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_label, port_name, port_number
from ...apimachinery.status import FieldError
from ..published import validate_field
from ..resource_validation import validate_requirements
from .env_validation import validate_env, validate_env_from
from .mount_validation import validate_devices, validate_mounts
from .probe_validation import validate_lifecycle, validate_probes
from .security_validation import validate_container_security

JSON = dict[str, Any]

_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS = ("Restart", "RestartAllContainers")
_MAX_RESTART_RULES, _MAX_EXIT_CODES = 20, 255
_NOT_EPHEMERAL = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)
_RESIZABLE = ("cpu", "memory")
_RESIZE_POLICIES = ("NotRequired", "RestartContainer")


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The parts of a pod that the rules for a container need."""

    volumes: Mapping[str, JSON]
    claims: Collection[str]
    restart_policy: str
    host_users: bool
    grace_seconds: int | None


def validate_containers(spec: JSON, path: str, volumes: Mapping[str, JSON]) -> Errors:
    """Check the containers and init containers of a pod spec. `volumes` are its valid volumes."""
    errors: Errors = []
    around = _Surroundings(
        volumes,
        [claim.get("name", "") for claim in spec.get("resourceClaims") or ()],
        spec.get("restartPolicy", ""),
        spec.get("hostUsers") is not False,
        spec.get("terminationGracePeriodSeconds"),
    )
    containers = spec.get("containers") or ()
    names: set[str] = set()
    if not containers:
        errors.append(FieldError.required(f"{path}.containers"))
    for index, container in enumerate(containers):
        where = f"{path}.containers[{index}]"
        errors.extend(_validate_container(container, where, around))
        errors.extend(_validate_name(container, names, where))
        errors.extend(_validate_probing(container, where, around))
        errors.extend(_validate_restarts(container, where))
    errors.extend(_duplicate_host_ports(containers, f"{path}.containers"))
    for index, container in enumerate(spec.get("initContainers") or ()):
        where = f"{path}.initContainers[{index}]"
        errors.extend(_validate_container(container, where, around))
        errors.extend(_validate_restarts(container, where))
        errors.extend(_validate_name(container, names, where))
        errors.extend(_duplicate_host_ports([container], f"{path}.initContainers"))
        if container.get("restartPolicy") == "Always":
            errors.extend(_validate_probing(container, where, around))
        else:
            errors.extend(_validate_plain_init(container, where))
    return errors


def validate_ephemeral(spec: JSON, path: str, volumes: Mapping[str, JSON]) -> Errors:
    """Check the ephemeral containers of a pod, added to look at it. They have nothing that the pod's life
    depends on.
    """
    errors: Errors = []
    around = _Surroundings(volumes, [], spec.get("restartPolicy", ""), spec.get("hostUsers") is not False, None)
    others = {each.get("name", "") for key in ("containers", "initContainers") for each in spec.get(key) or ()}
    names = set(others)
    why = "cannot be set for an Ephemeral Container"
    for index, container in enumerate(spec.get("ephemeralContainers") or ()):
        where = f"{path}.ephemeralContainers[{index}]"
        errors.extend(_validate_container(container, where, around))
        errors.extend(_validate_name(container, names, where))
        target = container.get("targetContainerName", "")
        if target and target not in others:
            errors.append(FieldError.not_found(f"{where}.targetContainerName", target))
        given = [key for key in _NOT_EPHEMERAL if container.get(key) is not None]  # be it empty
        if not container.get("resources"):
            given = [key for key in given if key != "resources"]
        errors.extend(FieldError.forbidden(f"{where}.{key}", why) for key in given)
        for at, mount in enumerate(container.get("volumeMounts") or ()):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    errors.append(FieldError.forbidden(f"{where}.volumeMounts[{at}].{key}", why))
    return errors


def _validate_plain_init(container: JSON, path: str) -> Errors:
    """Check an init container that ends before the others begin."""
    errors = [
        FieldError.forbidden(f"{path}.{field}", "may not be set for init containers without restartPolicy=Always")
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe")
        if container.get(field) is not None
    ]
    for index, policy in enumerate(container.get("resizePolicy") or ()):
        if policy.get("restartPolicy") == "RestartContainer":
            where = f"{path}.resizePolicy[{index}].restartPolicy"
            why = "must not be set to 'RestartContainer' for non-sidecar initContainers"
            errors.append(FieldError.invalid(where, "RestartContainer", why))
    return errors


def _validate_name(container: JSON, names: set[str], path: str) -> Errors:
    name = container.get("name", "")
    if name in names:
        return [FieldError.duplicate(f"{path}.name", name)]
    names.add(name)
    return []


def _validate_probing(container: JSON, path: str, around: _Surroundings) -> Errors:
    errors: Errors = []
    if (lifecycle := container.get("lifecycle")) is not None:
        errors.extend(validate_lifecycle(lifecycle, around.grace_seconds, f"{path}.lifecycle"))
    return [*errors, *validate_probes(container, path)]


def _validate_restarts(container: JSON, path: str) -> Errors:
    """Check a restart policy of the container's own, and its rules for exit codes."""
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    errors: Errors = []
    if policy is None:
        if rules:
            why = "must specify restartPolicy when restart rules are used"
            errors.append(FieldError.required(f"{path}.restartPolicy", why))
    elif policy not in _RESTART_POLICIES:
        errors.append(FieldError.not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    if len(rules) > _MAX_RESTART_RULES:
        errors.append(FieldError.too_many(f"{path}.restartPolicyRules", len(rules), _MAX_RESTART_RULES))
    for index, rule in enumerate(rules):
        where = f"{path}.restartPolicyRules[{index}]"
        if rule.get("action", "") not in _RESTART_ACTIONS:
            errors.append(FieldError.not_supported(f"{where}.action", rule.get("action", ""), _RESTART_ACTIONS))
        codes = rule.get("exitCodes")
        if codes is None:
            errors.append(FieldError.required(f"{where}.exitCodes", "must be specified"))
            continue
        if codes.get("operator", "") not in ("In", "NotIn"):
            operator = codes.get("operator", "")
            errors.append(FieldError.not_supported(f"{where}.exitCodes.operator", operator, ("In", "NotIn")))
        if len(codes.get("values") or ()) > _MAX_EXIT_CODES:
            count = len(codes["values"])
            errors.append(FieldError.too_many(f"{where}.exitCodes.values", count, _MAX_EXIT_CODES))
    return errors


def _validate_container(container: JSON, path: str, around: _Surroundings) -> Errors:
    """Check the rules for containers of all kinds."""
    errors = validate_field("core/v1.Container", container, "name", path, dns_label)
    if not container.get("image"):
        errors.append(FieldError.required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy", "File")
    if policy not in _MESSAGE_POLICIES:
        errors.append(FieldError.not_supported(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES))
    if ports := container.get("ports"):
        errors.extend(_validate_ports(ports, f"{path}.ports"))
    if variables := container.get("env"):
        errors.extend(validate_env(variables, f"{path}.env"))
    if sources := container.get("envFrom"):
        errors.extend(validate_env_from(sources, f"{path}.envFrom"))
    if container.get("volumeMounts"):
        errors.extend(validate_mounts(container, around.volumes, f"{path}.volumeMounts"))
    if container.get("volumeDevices"):
        errors.extend(validate_devices(container, around.volumes, f"{path}.volumeDevices"))
    errors.extend(validate_field("core/v1.Container", container, "imagePullPolicy", path))
    if resources := container.get("resources"):
        errors.extend(validate_requirements(resources, f"{path}.resources", around.claims))
    if policies := container.get("resizePolicy"):
        errors.extend(_validate_resize_policies(policies, f"{path}.resizePolicy", around.restart_policy))
    if (context := container.get("securityContext")) is not None:
        where = f"{path}.securityContext"
        errors.extend(validate_container_security(context, where, host_users=around.host_users))
    return errors


def _validate_resize_policies(policies: list[JSON], path: str, restart_policy: str) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for index, each in enumerate(policies):
        resource, policy = each.get("resourceName", ""), each.get("restartPolicy", "")
        if resource in seen:
            errors.append(FieldError.duplicate(f"{path}[{index}]", resource))
        seen.add(resource)
        for value, allowed in ((resource, _RESIZABLE), (policy, _RESIZE_POLICIES)):
            if not value:
                errors.append(FieldError.required(path))
            elif value not in allowed:
                errors.append(FieldError.not_supported(path, value, allowed))
        if restart_policy == "Never" and policy != "NotRequired":
            why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.append(FieldError.invalid(path, policy, why))
    return errors


def _validate_ports(ports: list[JSON], path: str) -> Errors:
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
        errors.extend(validate_field("core/v1.ContainerPort", port, "containerPort", where, port_number))
        if host_port := port.get("hostPort", 0):
            errors.extend(problems(f"{where}.hostPort", host_port, port_number(host_port)))
        errors.extend(validate_field("core/v1.ContainerPort", port, "protocol", where))
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
