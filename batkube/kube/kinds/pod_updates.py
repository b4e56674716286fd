"""What may change in a pod, and what a status may be (`ValidatePodUpdate`, `ValidatePodStatusUpdate`,
`ValidatePodResize` in `pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable, problems
from ..names import dns_label, dns_subdomain, ip_address, qualified_name
from ..quantity import Quantity
from ..status import FieldError
from ..strategy import keep
from .pod_quality import quality_of_service
from .scheduling_validation import validate_tolerations

JSON = dict[str, Any]

_MAX_DEADLINE = (1 << 31) - 1
_CHANGEABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)
_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
_RESIZABLE = ("cpu", "memory")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def validate_spec_change(new: JSON, old: JSON) -> Errors:
    """Of a pod's spec next to nothing may change; of a gated one where it may go, as long as that is narrowed."""
    errors: Errors = []
    for key in ("containers", "initContainers"):
        containers = new.get(key) or []
        if len(containers) != len(old.get(key) or ()):
            why = "pod updates may not add or remove containers"
            return [*errors, FieldError.forbidden(f"spec.{key}", why)]
        for index, container in enumerate(containers):
            image = container.get("image", "")
            if not image:
                errors.append(FieldError.required(f"spec.{key}[{index}].image"))
            elif image != image.strip():
                why = "must not have leading or trailing whitespace"
                errors.append(FieldError.invalid(f"spec.{key}[{index}].image", image, why))
    wrong, final = _validate_deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds"))
    errors += wrong
    if final:
        return errors
    errors += _validate_tolerations(new.get("tolerations") or [], old.get("tolerations") or [])
    errors += _validate_gates(new.get("schedulingGates") or [], old.get("schedulingGates") or [])
    rest = _with_changeable_of(new, old)
    if old.get("schedulingGates"):
        errors += _validate_narrowing(rest, old)
    if not same(rest, old):
        changed = sorted(key for key in {*rest, *old} if not same(rest.get(key), old.get(key)))
        why = f"pod updates may not change fields other than {_CHANGEABLE}\nchanged: {', '.join(changed)}"
        errors.append(FieldError.forbidden("spec", why))
    return errors


def _validate_deadline(new: int | None, old: int | None) -> tuple[Errors, bool]:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is None:
            return [], False
        return [FieldError.invalid(path, None, "must not update from a positive integer to nil value")], False
    if not 0 <= new <= _MAX_DEADLINE:
        return [FieldError.invalid(path, new, f"must be between 0 and {_MAX_DEADLINE}, inclusive")], True
    if old is not None and old < new:
        return [FieldError.invalid(path, new, "must be less than or equal to previous value")], True
    return [], False


def _validate_tolerations(new: list[JSON], old: list[JSON]) -> Errors:
    timeless = [_without(toleration, "tolerationSeconds") for toleration in new]
    if any(_without(toleration, "tolerationSeconds") not in timeless for toleration in old):
        why = "existing toleration can not be modified except its tolerationSeconds"
        return [FieldError.forbidden("spec.tolerations", why)]
    return validate_tolerations(new, "spec.tolerations")


def _without(obj: JSON, key: str) -> JSON:
    return {name: value for name, value in obj.items() if name != key}


def _validate_gates(new: list[JSON], old: list[JSON]) -> Errors:
    present = {gate.get("name", "") for gate in old}
    return [
        FieldError.forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'",
        )
        for index, gate in enumerate(new)
        if gate.get("name", "") not in present
    ]


def _with_changeable_of(new: JSON, old: JSON) -> JSON:
    """The new spec, in all that may change as the old one."""
    rest = dict(new)
    for key in ("containers", "initContainers"):
        if rest.get(key):
            rest[key] = [{**now, "image": before.get("image")} for now, before in zip(rest[key], old[key], strict=True)]
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        keep(rest, old, key)
    if old.get("terminationGracePeriodSeconds", 0) < 0 and rest.get("terminationGracePeriodSeconds") == 1:
        keep(rest, old, "terminationGracePeriodSeconds")
    return rest


def _validate_narrowing(rest: JSON, old: JSON) -> Errors:
    """A gated pod's node selector and required node affinity may be added to. `rest` is brought back to what was."""
    errors: Errors = []
    selector, before = rest.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if any(selector.get(key) != value for key, value in before.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(FieldError.invalid("spec.nodeSelector", selector, why))
    keep(rest, old, "nodeSelector")
    affinity, then = rest.get("affinity"), old.get("affinity")
    node, node_then = (affinity or {}).get("nodeAffinity"), (then or {}).get("nodeAffinity")
    if node == node_then:
        return errors
    errors += _validate_terms(node or {}, node_then or {})
    if (
        then is None
        and affinity is not None
        and not affinity.get("podAffinity")
        and not affinity.get("podAntiAffinity")
    ):
        rest.pop("affinity")
    else:
        changed = dict(affinity or {})
        keep(changed, then or {}, "nodeAffinity")
        rest["affinity"] = changed
    return errors


def _validate_terms(node: JSON, before: JSON) -> Errors:
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    old = (before.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    new = (node.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    if not old:
        return []
    if len(old) != len(new):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [FieldError.invalid(path, new, why)]
    return [
        FieldError.invalid(f"{path}[{index}]", now, "only additions are allowed (no mutations or deletions)")
        for index, (now, then) in enumerate(zip(new, old, strict=True))
        if not _only_adds(now, then)
    ]


def _only_adds(new: JSON, old: JSON) -> bool:
    if not old.get("matchExpressions") and not old.get("matchFields"):
        return not new.get("matchExpressions") and not new.get("matchFields")
    for key in ("matchExpressions", "matchFields"):
        before = old.get(key) or []
        if (new.get(key) or [])[: len(before)] != before:
            return False
    return True


def same(one: Any, other: Any) -> bool:
    """Equal as Kubernetes compares: quantities by their amount, an empty list or map as none."""
    if one == other or (one in _NOTHING and other in _NOTHING):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return all(
            _same_amounts(one.get(key), other.get(key))
            if key in ("limits", "requests", "overhead")
            else same(one.get(key), other.get(key))
            for key in {**one, **other}
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return False


_NOTHING: tuple[Any, ...] = (None, "", [], 0, False)


def _same_amounts(one: JSON | None, other: JSON | None) -> bool:
    one, other = one or {}, other or {}
    return one.keys() == other.keys() and all(
        Quantity.parse(amount) == Quantity.parse(other[name]) for name, amount in one.items()
    )


# -- status


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
    seen: set[str] = set()
    for index, each in enumerate(addresses):
        address = each.get("ip", "")
        errors += problems(f"{path}[{index}]", address, ip_address(address))
        if address in seen:
            errors.append(FieldError.duplicate(f"{path}[{index}]", each))
        seen.add(address)
    if (
        not errors
        and len(addresses) > 1
        and (len(addresses) > 2 or (":" in addresses[0]["ip"]) == (":" in addresses[1]["ip"]))
    ):
        why = "may specify no more than one IP for each IP family"
        errors.append(FieldError.invalid(path, [each["ip"] for each in addresses], why))
    return errors


# -- subresources


def keep_for_debugging(new: JSON, old: JSON) -> None:
    """`ephemeralcontainers` changes nothing but these."""
    added = new["spec"].get("ephemeralContainers")
    new["spec"] = dict(old["spec"])
    if added:
        new["spec"]["ephemeralContainers"] = added
    else:
        new["spec"].pop("ephemeralContainers", None)


def validate_debugging(new: JSON, old: JSON) -> Errors:
    """Ephemeral containers come and never go or change."""
    path = "spec.ephemeralContainers"
    errors: Errors = []
    now = {container.get("name", ""): container for container in new.get("ephemeralContainers") or ()}
    regular = [each.get("name", "") for key in ("containers", "initContainers") for each in new.get(key) or ()]
    for index, container in enumerate(new.get("ephemeralContainers") or ()):
        name, target = container.get("name", ""), container.get("targetContainerName", "")
        errors += problems(f"{path}[{index}].name", name, dns_label(name))
        if name in regular:
            errors.append(FieldError.duplicate(f"{path}[{index}].name", name))
        if target and target not in regular:
            errors.append(FieldError.not_found(f"{path}[{index}].targetContainerName", target))
        for key in ("ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"):
            if container.get(key):
                why = "cannot be set for an Ephemeral Container"
                errors.append(FieldError.forbidden(f"{path}[{index}].{key}", why))
        if not container.get("image"):
            errors.append(FieldError.required(f"{path}[{index}].image"))
    for container in old.get("ephemeralContainers") or ():
        name = container.get("name", "")
        if name not in now:
            why = f'existing ephemeral containers "{name}" may not be removed\n'
            errors.append(FieldError.forbidden(path, why))
        elif not same(now[name], container):
            why = f'existing ephemeral containers "{name}" may not be changed\n'
            errors.append(FieldError.forbidden(path, why))
    return errors


def keep_for_resize(new: JSON, old: JSON) -> None:
    """`resize` changes the resources of containers and nothing else."""
    spec: JSON = dict(old["spec"])
    for key in ("containers", "initContainers"):
        now, before = new["spec"].get(key) or [], spec.get(key) or []
        if [each.get("name") for each in now] != [each.get("name") for each in before]:
            return
        if now:
            spec[key] = [_resized(container, wanted) for container, wanted in zip(before, now, strict=True)]
    if new["spec"].get("resources") is not None:
        spec["resources"] = new["spec"]["resources"]
    new["spec"] = spec


def _resized(container: JSON, wanted: JSON) -> JSON:
    resized = dict(container)
    for key in ("resources", "resizePolicy"):
        keep(resized, wanted, key)
    return resized


def validate_resize(new: JSON, old: JSON) -> Errors:
    """Amounts of cpu and memory change, others do not, and none is taken away."""
    errors: Errors = []
    quality = old.get("status", {}).get("qosClass", "")
    if quality != quality_of_service(new["spec"]):
        why = "Pod QOS Class may not change as a result of resizing"
        errors.append(FieldError.invalid("spec", quality, why))
    for key in ("containers", "initContainers"):
        now, before = new["spec"].get(key) or [], old["spec"].get(key) or []
        if [each.get("name") for each in now] != [each.get("name") for each in before]:
            why = "containers may not be added, removed, renamed or re-ordered on resize"
            return [*errors, FieldError.forbidden("spec", why)]
        for index, (container, then) in enumerate(zip(now, before, strict=True)):
            path = f"spec.{key}[{index}].resources"
            for which in ("limits", "requests"):
                errors += _validate_amounts(container, then, which, path)
    return errors


def _validate_amounts(container: JSON, before: JSON, which: str, path: str) -> Errors:
    new = (container.get("resources") or {}).get(which) or {}
    old = (before.get("resources") or {}).get(which) or {}
    if any(name not in new for name in old if name in _RESIZABLE):
        return [FieldError.forbidden(f"{path}.{which}", f"resource {which} cannot be removed")]
    others = {name for name in {*new, *old} if name not in _RESIZABLE}
    if any(new.get(name) != old.get(name) for name in others):
        return [FieldError.forbidden("spec", "only cpu and memory resources are mutable")]
    return []
