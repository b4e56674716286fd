"""The status of a pod: its defaults and its validation (`ValidatePodStatusUpdate` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.addresses import ip_warnings
from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import dns_label, dns_subdomain, ip_address, qualified_name
from ...apimachinery.status import FieldError
from ..published import validate_field
from ..strategy import keep
from .container_states import validate_restarts

JSON = dict[str, Any]

_EXTENDED = "core/v1.PodExtendedResourceClaimStatus"
_MAPPED = ("containerName", "resourceName", "requestName")
_HEALTH = ("Healthy", "Unhealthy", "Unknown")
_MAX_ID = (1 << 31) - 1
_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")


def default_status(status: JSON, old: JSON) -> None:
    """Set podIP and the first of podIPs from each other. Keep the class of service if it is left out."""
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")
    if not status.get("qosClass"):
        keep(status, old, "qosClass")


def keep_start_fraction(status: JSON, old: JSON) -> None:
    """Keep the stored start time if a client writes it back without its fraction of a second.

    A real API server has whole seconds only. Here a kubelet writes fractions (bridge/kubelet.py), and kube-scheduler
    writes the status of a victim before it deletes it.
    """
    before = old.get("startTime")
    if before and len(before) > len(f"{before[:19]}Z") and status.get("startTime") == f"{before[:19]}Z":
        status["startTime"] = before


def keep_observed_generations(status: JSON, old: JSON) -> None:
    """Keep observedGeneration if the client does not know of it."""
    if not status.get("observedGeneration"):
        keep(status, old, "observedGeneration")
    before: dict[str, list[int]] = {}
    for condition in old.get("conditions") or ():
        before.setdefault(condition.get("type", ""), []).append(condition.get("observedGeneration", 0))
    if not any(any(found) for found in before.values()):
        return
    for condition in status.get("conditions") or ():
        found = before.get(condition.get("type", ""))
        generation = found.pop(0) if found else 0
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation


def validate_status(status: JSON, old: JSON) -> Errors:
    """Return the errors in a status; `old` is the stored pod."""
    before, spec = old.get("status", {}), old["spec"]
    errors: Errors = []
    for index, condition in enumerate(status.get("conditions") or ()):
        kind = condition.get("type", "")
        path = f"status.conditions[{index}]"
        errors += _not_negative(condition.get("observedGeneration", 0), f"{path}.observedGeneration")
        if kind not in _SYSTEM_CONDITIONS:
            errors += problems(f"{path}.Type", kind, qualified_name(kind))
    nominated = status.get("nominatedNodeName", "")
    if nominated and nominated != before.get("nominatedNodeName", ""):
        errors += problems("status.nominatedNodeName", nominated, dns_subdomain(nominated))
        if spec.get("nodeName"):
            why = "may not be set on pods that are already bound to a node"
            errors.append(FieldError.forbidden("status.nominatedNodeName", why))
    errors += _not_negative(status.get("observedGeneration", 0), "status.observedGeneration")
    errors += immutable("status.qosClass", status.get("qosClass", ""), before.get("qosClass", ""))
    errors += validate_restarts(status, before, spec)
    if status.get("resourceClaimStatuses"):
        errors += _validate_claim_statuses(status["resourceClaimStatuses"], spec)
    if (extended := status.get("extendedResourceClaimStatus")) is not None:
        errors += _validate_extended_claim(extended, spec)
    hosts = status.get("hostIPs")
    if hosts and hosts[0].get("ip", "") != status.get("hostIP", ""):
        why = "must be equal to `hostIP`"
        errors.append(FieldError.invalid("status.hostIPs[0].ip", hosts[0].get("ip", ""), why))
    for key in ("podIPs", "hostIPs"):
        errors += _validate_addresses(status.get(key) or [], before.get(key) or [], f"status.{key}")
    for key in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        for index, container in enumerate(status.get(key) or ()):
            errors += _validate_user(container.get("user"), spec, f"status.{key}[{index}].user.linux")
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        for index, container in enumerate(status.get(key) or ()):
            errors += _validate_allocated(container, spec.get(containers) or (), f"status.{key}[{index}]")
    for index, container in enumerate(status.get("ephemeralContainerStatuses") or ()):
        if container.get("allocatedResourcesStatus"):
            path = f"status.ephemeralContainerStatuses[{index}].allocatedResourcesStatus"
            errors.append(FieldError.forbidden(path, "must not be specified in container status"))
    return errors


def _not_negative(generation: int, path: str) -> Errors:
    return [FieldError.invalid(path, generation, "must be a non-negative integer")] if generation < 0 else []


def _validate_claim_statuses(statuses: list[JSON], spec: JSON) -> Errors:
    errors: Errors = []
    known = [claim.get("name", "") for claim in spec.get("resourceClaims") or ()]
    seen: set[str] = set()
    for index, status in enumerate(statuses):
        path, name = f"status.resourceClaimStatuses[{index}]", status.get("name", "")
        if name not in known:
            errors.append(
                FieldError.invalid(f"{path}.name", name, "must match the name of an entry in `spec.resourceClaims`")
            )
        if name in seen:
            errors.append(FieldError.duplicate(f"{path}.name", name))
        seen.add(name)
        claim = status.get("resourceClaimName")
        if claim is not None:
            errors += problems(f"{path}.resourceClaimName", claim, dns_subdomain(claim))
    return errors


def _validate_extended_claim(status: JSON, spec: JSON) -> Errors:
    """Check the claim that was made for a pod's extended resources (`validatePodExtendedResourceClaimStatus`)."""
    path = "status.extendedResourceClaimStatus"
    requests = {
        each.get("name", ""): (each.get("resources") or {}).get("requests") or {}
        for key in ("initContainers", "containers")
        for each in spec.get(key) or ()
    }
    mappings = status.get("requestMappings") or []
    missing = "at least one request mapping is required"
    errors = validate_field(_EXTENDED, status, "requestMappings", path, missing=missing)
    seen: list[tuple[str, ...]] = []
    for index, mapping in enumerate(mappings):
        where = f"{path}.requestMappings[{index}]"
        container, resource, request = key = tuple(mapping.get(field, "") for field in _MAPPED)
        if container not in requests:
            why = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
            errors.append(FieldError.invalid(f"{where}.containerName", container, why))
        elif resource not in requests[container]:
            why = (
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
                "spec.containers.resources.requests"
            )
            errors.append(FieldError.invalid(f"{where}.resourceName", resource, why))
        errors += problems(f"{path}.requestName", request, dns_label(request))
        if key in seen:
            errors += [
                FieldError.duplicate(f"{where}.{field}", value) for field, value in zip(_MAPPED, key, strict=True)
            ]
        seen.append(key)
    return [*errors, *validate_field(_EXTENDED, status, "resourceClaimName", path, dns_subdomain)]


def _validate_user(user: JSON | None, spec: JSON, path: str) -> Errors:
    """Check the user as whom a container runs, as its node reports."""
    linux = (user or {}).get("linux")
    if linux is None:
        return []
    if (spec.get("os") or {}).get("name") == "windows":
        return [FieldError.forbidden(path, "cannot be set for a windows pod")]
    ids = [(key, linux.get(key, 0)) for key in ("uid", "gid")]
    ids += [
        (f"supplementalGroups[{index}]", group) for index, group in enumerate(linux.get("supplementalGroups") or ())
    ]
    return [
        FieldError.invalid(f"{path}.{key}", value, f"must be between 0 and {_MAX_ID}, inclusive")
        for key, value in ids
        if not 0 <= value <= _MAX_ID
    ]


def _validate_allocated(status: JSON, containers: Any, path: str) -> Errors:
    """Check the health of the devices of a container (`validateContainerStatusAllocatedResourcesStatus`)."""
    errors: Errors = []
    found = next((each for each in containers if each.get("name") == status.get("name")), None)
    for index, allocated in enumerate(status.get("allocatedResourcesStatus") or ()):
        where, name = f"{path}.allocatedResourcesStatus[{index}]", allocated.get("name", "")
        if found is not None:
            errors += _validate_allocated_name(name, found.get("resources") or {}, f"{where}.name")
        seen: set[str] = set()
        for at, resource in enumerate(allocated.get("resources") or ()):
            item, identity = f"{where}.resources[{at}]", resource.get("resourceID", "")
            if resource.get("health", "") not in _HEALTH:
                errors.append(FieldError.not_supported(f"{item}.health", resource.get("health", ""), _HEALTH))
            if identity in seen:
                errors.append(FieldError.duplicate(f"{item}.resourceID", identity))
            seen.add(identity)
    return errors


def _validate_allocated_name(name: str, resources: JSON, path: str) -> Errors:
    if not name.startswith("claim:"):
        if name in (resources.get("requests") or {}):
            return []
        return [FieldError.invalid(path, name, "must match one of the container's resource requests")]
    claims = [
        f"claim:{claim.get('name', '')}" + (f"/{claim['request']}" if claim.get("request") else "")
        for claim in resources.get("claims") or ()
    ]
    if name in claims:
        return []
    why = (
        "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or "
        "'claim:<claimName>' if request is empty"
    )
    return [FieldError.invalid(path, name, why)]


def warnings_of_addresses(status: JSON) -> list[str]:
    """Return the warnings for the author of a valid status."""
    return [
        warning
        for key in ("podIPs", "hostIPs")
        for index, each in enumerate(status.get(key) or ())
        for warning in ip_warnings(f"status.{key}[{index}].ip", each.get("ip", ""))
    ]


def _validate_addresses(addresses: list[JSON], before: list[JSON], path: str) -> Errors:
    """Check that new addresses are valid, and that no family has more than one."""
    given, known = ([each.get("ip", "") for each in some] for some in (addresses, before))
    errors: Errors = []
    for index, address in enumerate(given):
        if address not in known:
            errors += problems(f"{path}[{index}]", address, ip_address(address))
    if len(given) < 2:
        return errors
    odd = next((index for index, address in enumerate(given) if ip_address(address)), None)
    if odd is not None:
        why = f"failed to check for dual stack with error:invalid IP[{odd}]: {given[odd]}"
        errors.append(FieldError.internal(path, why))
    if odd is not None or len(given) > 2 or (":" in given[0]) == (":" in given[1]):
        why = "may specify no more than one IP for each IP family"
        errors.append(FieldError.invalid(path, [{"IP": address} for address in given], why))
    return errors
