"""Whether a pod is one the API server takes (`ValidatePodSpec` in `pkg/apis/core/validation/validation.go`)."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, problems, validate_labels
from ..names import dns_label, dns_subdomain, ip_address
from ..status import FieldError
from .container_validation import validate_containers
from .resource_validation import validate_requirements, validate_resource_list
from .scheduling_validation import (
    validate_affinity,
    validate_claims,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from .volume_validation import validate_volumes

JSON = dict[str, Any]

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("Never", "PreemptLowerPriority")
_MAX_DEADLINE = (1 << 31) - 1


def validate_pod(pod: JSON) -> Errors:
    """What is wrong with the spec of a pod."""
    return validate_pod_spec(pod["spec"], "spec")


def validate_pod_spec(spec: JSON, path: str) -> Errors:
    """The spec of a pod or of a template."""
    errors: Errors = []
    if volumes := spec.get("volumes"):
        errors.extend(validate_volumes(volumes, f"{path}.volumes", spec.get("serviceAccountName", "")))
    if claims := spec.get("resourceClaims"):
        errors.extend(validate_claims(claims, f"{path}.resourceClaims"))
    errors.extend(validate_containers(spec, path, bool(spec.get("hostNetwork"))))
    policy = spec.get("restartPolicy", "")
    if policy not in _RESTART_POLICIES:
        errors.append(_unsupported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    dns = spec.get("dnsPolicy", "")
    if dns not in _DNS_POLICIES:
        errors.append(_unsupported(f"{path}.dnsPolicy", dns, _DNS_POLICIES))
    if dns == "None" and not (spec.get("dnsConfig") or {}).get("nameservers"):
        why = 'must provide at least one DNS nameserver when `dnsPolicy` is "None"'
        errors.append(FieldError.required(f"{path}.dnsConfig.nameservers", why))
    if selector := spec.get("nodeSelector"):
        errors.extend(validate_labels(selector, f"{path}.nodeSelector"))
    if affinity := spec.get("affinity"):
        errors.extend(validate_affinity(affinity, f"{path}.affinity"))
    if aliases := spec.get("hostAliases"):
        errors.extend(_validate_aliases(aliases, f"{path}.hostAliases"))
    if spread := spec.get("topologySpreadConstraints"):
        errors.extend(validate_spread(spread, f"{path}.topologySpreadConstraints"))
    if gates := spec.get("schedulingGates"):
        errors.extend(validate_gates(gates, f"{path}.schedulingGates"))
    if account := spec.get("serviceAccountName"):
        errors.extend(problems(f"{path}.serviceAccountName", account, dns_subdomain(account)))
    if node := spec.get("nodeName"):
        errors.extend(problems(f"{path}.nodeName", node, dns_subdomain(node)))
        if spec.get("schedulingGates"):
            why = "cannot be set until all schedulingGates have been cleared"
            errors.append(FieldError.forbidden(f"{path}.nodeName", why))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_DEADLINE:
        why = f"must be between 1 and {_MAX_DEADLINE}, inclusive"
        errors.append(FieldError.invalid(f"{path}.activeDeadlineSeconds", deadline, why))
    for field in ("hostname", "subdomain"):
        if name := spec.get(field):
            errors.extend(problems(f"{path}.{field}", name, dns_label(name)))
    if tolerations := spec.get("tolerations"):
        errors.extend(validate_tolerations(tolerations, f"{path}.tolerations"))
    if class_name := spec.get("priorityClassName"):
        errors.extend(problems(f"{path}.priorityClassName", class_name, dns_subdomain(class_name)))
    if class_name := spec.get("runtimeClassName"):
        errors.extend(problems(f"{path}.runtimeClassName", class_name, dns_subdomain(class_name)))
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        why = "must be greater than or equal to 0"
        errors.append(FieldError.invalid(f"{path}.terminationGracePeriodSeconds", grace, why))
    preemption = spec.get("preemptionPolicy")
    if preemption is not None and preemption not in _PREEMPTION_POLICIES:
        errors.append(_unsupported(f"{path}.preemptionPolicy", preemption, _PREEMPTION_POLICIES))
    if overhead := spec.get("overhead"):
        errors.extend(validate_resource_list(overhead, f"{path}.overhead"))
    if resources := spec.get("resources"):
        errors.extend(validate_requirements(resources, f"{path}.resources"))
    return errors


def _unsupported(path: str, value: str, allowed: tuple[str, ...]) -> FieldError:
    return FieldError.not_supported(path, value, allowed) if value else FieldError.required(path)


def _validate_aliases(aliases: list[JSON], path: str) -> Errors:
    errors: Errors = []
    for index, alias in enumerate(aliases):
        address = alias.get("ip", "")
        errors.extend(problems(f"{path}[{index}].ip", address, ip_address(address)))
        for hostname in alias.get("hostnames") or ():
            errors.extend(problems(f"{path}[{index}].hostnames", hostname, dns_subdomain(hostname)))
    return errors
