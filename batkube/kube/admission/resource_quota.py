"""ResourceQuota: the requests that resource quotas refuse (`pkg/quota/v1/evaluator/core`).

Quotas are enforced as their status says. A quota controller writes the status; here only a new object is added to
`used`.
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.quantity import Quantity
from ..apimachinery.status import ApiError
from ..kinds.pods.defaults import pod_limits, pod_requests
from ..kinds.pods.quality import quality_of_service
from ..kinds.resource_lists import is_extended
from ..kinds.strategy import Context
from .plugin import Attributes, Plugin

JSON = dict[str, Any]
Amounts = dict[str, Quantity]

QUOTAS = "resourcequotas"
_NONE, _ONE = Quantity(0), Quantity(1)
# Objects counted by a plain name beside `count/NAME`.
_COUNTED = frozenset(
    (
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
    )
)
_PLAIN = ("cpu", "memory", "ephemeral-storage")
# Of these every container must say how much, once there is a quota of them.
_MUST_SAY = frozenset(("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"))


# What is counted anew when it is changed, and by which way (`Handles` of the evaluators).
_COUNTED_ANEW = (("pods", "resize"), ("services", None), ("persistentvolumeclaims", None))


class ResourceQuota(Plugin):
    name = "ResourceQuota"
    handles = ("*", "pods/resize")

    def validate(self, write: Attributes) -> None:
        """Charge the quotas. They are stored along with the object: not before it, and not by a dry run."""
        ctx, old = write.context, write.old
        if ctx.namespace and (old is None or (ctx.resource.storage, ctx.subresource) in _COUNTED_ANEW):
            write.along += [(QUOTAS, quota) for quota in _charged(write.obj, ctx, old)]


def _charged(obj: JSON, ctx: Context, old: JSON | None) -> list[JSON]:
    """Return the quotas of the namespace with the object counted: all of a new object, or what it has more than `old`.

    Raise 403 if one of the quotas is exceeded.
    """
    quotas = list(ctx.store.list(QUOTAS, ctx.namespace))
    if not quotas:
        return []
    usage = _usage(obj, ctx)
    before = {} if old is None else _usage(old, ctx)
    charged: list[JSON] = []
    for quota in quotas:
        if not _in_scope(quota, obj, ctx):
            continue
        name, status = quota["metadata"]["name"], quota.get("status") or {}
        hard, used = _amounts(status.get("hard")), _amounts(status.get("used"))
        counted = [resource for resource in hard if _concerns(resource, usage, ctx)]
        if not counted:
            continue
        if ctx.resource.storage == "pods":
            _check_said(obj, name, counted, ctx)
        unknown = [resource for resource in counted if resource not in used]
        if unknown:
            listed = ", ".join(sorted(counted))
            _refuse(obj, ctx, f"status unknown for quota: {name}, resources: {listed}")
        then = before if old is not None and _in_scope(quota, old, ctx) else {}
        asked = {resource: usage[resource] - then.get(resource, _NONE) for resource in counted if resource in usage}
        asked = {resource: amount for resource, amount in asked.items() if amount.value > 0}
        if not asked:
            continue
        after = {resource: used[resource] + asked[resource] for resource in asked}
        exceeded = sorted(resource for resource in asked if after[resource] > hard[resource])
        if exceeded:
            shown = [
                ",".join(f"{resource}={amounts[resource]}" for resource in exceeded) for amounts in (asked, used, hard)
            ]
            why = f"exceeded quota: {name}, requested: {shown[0]}, used: {shown[1]}, limited: {shown[2]}"
            _refuse(obj, ctx, why)
        texts = {**status["used"], **{resource: str(amount) for resource, amount in after.items()}}
        charged.append({**quota, "metadata": dict(quota["metadata"]), "status": {**status, "used": texts}})
    return charged


def _refuse(obj: JSON, ctx: Context, why: str) -> None:
    raise ApiError.forbidden(ctx.resource.qualified, obj["metadata"]["name"], why)


def _amounts(resources: JSON | None) -> Amounts:
    return {name: Quantity.parse(text) for name, text in (resources or {}).items()}


def _usage(obj: JSON, ctx: Context) -> Amounts:
    """Return the amounts of all resources that the object uses."""
    resource = ctx.resource
    usage: Amounts = {f"count/{resource.qualified}": _ONE}
    if not resource.group and resource.plural in _COUNTED:
        usage[resource.plural] = _ONE
    if resource.storage == "pods":
        usage.update(_pod_usage(pod_requests(obj["spec"]), pod_limits(obj["spec"])))
    elif resource.storage == "services":
        kind = obj["spec"].get("type")
        if kind == "LoadBalancer":
            usage["services.loadbalancers"] = _ONE
        if kind in ("LoadBalancer", "NodePort"):
            usage["services.nodeports"] = Quantity(len(obj["spec"].get("ports") or ()))
    elif resource.storage == "persistentvolumeclaims":
        asked = ((obj["spec"].get("resources") or {}).get("requests") or {}).get("storage")
        class_name = obj["spec"].get("storageClassName")
        if asked is not None:
            usage["requests.storage"] = Quantity.parse(asked)
        if class_name:
            prefix = f"{class_name}.storageclass.storage.k8s.io"
            usage[f"{prefix}/persistentvolumeclaims"] = _ONE
            if asked is not None:
                usage[f"{prefix}/requests.storage"] = Quantity.parse(asked)
    return usage


def _pod_usage(requests: Amounts, limits: Amounts) -> Amounts:
    usage: Amounts = {}
    for name, amount in requests.items():
        if name in _PLAIN or name.startswith("hugepages-"):
            usage[name] = amount
        if name in _PLAIN or name.startswith("hugepages-") or is_extended(name):
            usage[f"requests.{name}"] = amount
    usage.update({f"limits.{name}": amount for name, amount in limits.items() if name in _PLAIN})
    return usage


def _concerns(resource: str, usage: Amounts, ctx: Context) -> bool:
    """Return True if a quota of that resource counts objects of this kind."""
    if resource in usage:
        return True
    if ctx.resource.storage != "pods":
        return False
    name = resource.removeprefix("requests.").removeprefix("limits.")
    return name in _PLAIN or name.startswith("hugepages-") or (name != resource and is_extended(name))


def _check_said(pod: JSON, quota: str, counted: list[str], ctx: Context) -> None:
    """Check that each container says how much it needs of the resources that are limited."""
    whole = pod["spec"].get("resources") or {}
    if whole.get("requests") or whole.get("limits"):
        return
    missing: dict[str, set[str]] = {}
    for container in (*(pod["spec"].get("containers") or ()), *(pod["spec"].get("initContainers") or ())):
        resources = container.get("resources") or {}
        said = _pod_usage(_amounts(resources.get("requests")), _amounts(resources.get("limits")))
        for name in counted:
            if name in _MUST_SAY and name not in said:
                missing.setdefault(name, set()).add(container.get("name", ""))
    if missing:
        listed = "; ".join(f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))
        _refuse(pod, ctx, f"failed quota: {quota}: must specify {listed}")


def _in_scope(quota: JSON, obj: JSON, ctx: Context) -> bool:
    spec = quota.get("spec") or {}
    requirements = [
        *({"scopeName": scope, "operator": "Exists"} for scope in spec.get("scopes") or ()),
        *((spec.get("scopeSelector") or {}).get("matchExpressions") or ()),
    ]
    if not requirements:
        return True
    if ctx.resource.storage != "pods":
        return False
    return all(_matches(requirement, obj["spec"]) for requirement in requirements)


def _matches(requirement: JSON, spec: JSON) -> bool:
    scope: str = requirement["scopeName"]
    operator: str = requirement["operator"]
    values: list[str] = requirement.get("values") or []
    if scope in ("Terminating", "NotTerminating"):
        return (spec.get("activeDeadlineSeconds") is not None) == (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        return (quality_of_service(spec) == "BestEffort") == (scope == "BestEffort")
    if scope == "PriorityClass":
        name = spec.get("priorityClassName", "")
        if operator in ("Exists", "DoesNotExist"):
            return bool(name) == (operator == "Exists")
        return (name in values) == (operator == "In")
    if scope == "CrossNamespacePodAffinity":
        affinity = spec.get("affinity") or {}
        terms = [
            term.get("podAffinityTerm", term)
            for kind in ("podAffinity", "podAntiAffinity")
            for terms in (affinity.get(kind) or {}).values()
            for term in terms
        ]
        return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in terms)
    return False
