"""The status of a pod: what is filled in, and what it may be (`ValidatePodStatusUpdate` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable, problems
from ..names import dns_subdomain, ip_address, qualified_name
from ..status import FieldError
from ..strategy import keep

JSON = dict[str, Any]

_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")


def default_status(status: JSON, old: JSON) -> None:
    """podIP and the first of podIPs are one; the class of service may be left out."""
    address, addresses = status.get("podIP"), status.get("podIPs")
    if address and (not addresses or addresses[0].get("ip") != address):
        status["podIPs"] = [{"ip": address}]
    elif addresses and not address:
        status["podIP"] = addresses[0].get("ip", "")
    if not status.get("qosClass"):
        keep(status, old, "qosClass")


def keep_observed_generations(status: JSON, old: JSON) -> None:
    """Who does not know of observedGeneration does not take it away."""
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
    """What is wrong with a status; `old` is the stored pod."""
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
    for key, containers in (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers")):
        if before.get(key):
            errors += _validate_restarts(status.get(key) or (), before[key], spec, containers, f"status.{key}")
    if status.get("resourceClaimStatuses"):
        errors += _validate_claim_statuses(status["resourceClaimStatuses"], spec)
    hosts = status.get("hostIPs")
    if hosts and hosts[0].get("ip", "") != status.get("hostIP", ""):
        why = "must be equal to `hostIP`"
        errors.append(FieldError.invalid("status.hostIPs[0].ip", hosts[0].get("ip", ""), why))
    for key in ("podIPs", "hostIPs"):
        if status.get(key) and status[key] != before.get(key):
            errors += _validate_addresses(status[key], f"status.{key}")
    return errors


def _not_negative(generation: int, path: str) -> Errors:
    return [FieldError.invalid(path, generation, "must be a non-negative integer")] if generation < 0 else []


def _validate_restarts(new: Any, old: list[JSON], spec: JSON, kind: str, path: str) -> Errors:
    """A container that ended runs again only where its restart policy says so."""
    errors: Errors = []
    policies = {each.get("name", ""): each.get("restartPolicy") for each in spec.get(kind) or ()}
    for index, before in enumerate(old):
        ended = (before.get("state") or {}).get("terminated")
        if ended is None:
            continue
        name = before.get("name", "")
        policy = policies.get(name) or spec.get("restartPolicy")
        if policy == "Always" or (policy == "OnFailure" and ended.get("exitCode", 0) != 0):
            continue
        for status in new:
            if status.get("name", "") == name:
                if (status.get("state") or {}).get("terminated") is None:
                    why = "may not be transitioned to non-terminated state"
                    errors.append(FieldError.forbidden(f"{path}[{index}].state", why))
                break
    return errors


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
            errors += problems(f"{path}.name", claim, dns_subdomain(claim))
    return errors


def _validate_addresses(addresses: list[JSON], path: str) -> Errors:
    errors: Errors = []
    for index, each in enumerate(addresses):
        address = each.get("ip", "")
        errors += problems(f"{path}[{index}]", address, ip_address(address))
    if (
        not errors
        and len(addresses) > 1
        and (len(addresses) > 2 or (":" in addresses[0]["ip"]) == (":" in addresses[1]["ip"]))
    ):
        why = "may specify no more than one IP for each IP family"
        errors.append(FieldError.invalid(path, [each["ip"] for each in addresses], why))
    return errors
