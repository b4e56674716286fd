"""What admission plugins make of pods: Priority, DefaultTolerationSeconds, RuntimeClass, PodTopologyLabels and, if
asked for, ExtendedResourceToleration, LimitPodHardAntiAffinityTopology and PodTolerationRestriction
(`plugin/pkg/admission` of Kubernetes).
"""

from __future__ import annotations

from typing import Any

from ..binding import topology_of
from ..quantity import Quantity
from ..status import ApiError
from ..strategy import Context
from .resource_lists import is_extended
from .toleration_restriction import restrict_tolerations

JSON = dict[str, Any]

PRIORITY, TOLERATIONS, RUNTIME_CLASS = "Priority", "DefaultTolerationSeconds", "RuntimeClass"
EXTENDED_TOLERATION, HARD_ANTI_AFFINITY = "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology"
TOLERATION_RESTRICTION, TOPOLOGY_LABELS = "PodTolerationRestriction", "PodTopologyLabels"

_CLASSES = "priorityclasses.scheduling.k8s.io"
_RUNTIME_CLASSES = "runtimeclasses.node.k8s.io"
_PREEMPTS = "PreemptLowerPriority"
_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATED_SECONDS = 300
_HOSTNAME = "kubernetes.io/hostname"


def admit_new_pod(pod: JSON, ctx: Context) -> None:
    """Change a new pod, or raise ApiError (403) where a plugin refuses it."""
    if ctx.admits(HARD_ANTI_AFFINITY):
        _limit_anti_affinity(pod)
    if ctx.admits(PRIORITY):
        _give_priority(pod, ctx)
    if ctx.admits(TOLERATIONS):
        _tolerate_for_a_while(pod["spec"])
    if ctx.admits(EXTENDED_TOLERATION):
        _tolerate_extended_resources(pod["spec"])
    if ctx.admits(TOLERATION_RESTRICTION):
        restrict_tolerations(pod, ctx, new=True)
    _label_by_node(pod, ctx)
    if pod["spec"].get("runtimeClassName") is not None and ctx.admits(RUNTIME_CLASS):
        _apply_runtime_class(pod, ctx)


def admit_changed_pod(pod: JSON, old: JSON, ctx: Context) -> None:
    """Fill up what a client left out that read the pod before admission, or wrote it anew."""
    spec, before = pod["spec"], old["spec"]
    if ctx.admits(PRIORITY):
        for key in ("priority", "preemptionPolicy"):
            if spec.get(key) is None and before.get(key) is not None:
                spec[key] = before[key]
    if ctx.admits(TOLERATIONS):
        _tolerate_for_a_while(spec)
    if ctx.admits(TOLERATION_RESTRICTION):
        restrict_tolerations(pod, ctx, new=False)
    if ctx.subresource is None:
        _label_by_node(pod, ctx)


def _label_by_node(pod: JSON, ctx: Context) -> None:
    """A pod says in which zone and region it is."""
    node = pod["spec"].get("nodeName")
    if node and ctx.admits(TOPOLOGY_LABELS) and (labels := topology_of(ctx.store, node)):
        pod["metadata"]["labels"] = {**(pod["metadata"].get("labels") or {}), **labels}


def _give_priority(pod: JSON, ctx: Context) -> None:
    spec = pod["spec"]
    priority, policy = 0, _PREEMPTS
    found = class_of("pods", pod, ctx)
    if found is not None:
        spec["priorityClassName"] = found["metadata"]["name"]
        priority, policy = found.get("value", 0), found.get("preemptionPolicy") or _PREEMPTS
    given = spec.get("priority")
    if given is not None and given != priority:
        raise _refused(
            pod,
            f"the integer value of priority ({given}) must not be provided in pod spec; priority admission controller "
            f"computed {priority} from the given PriorityClass name",
        )
    spec["priority"] = priority
    given = spec.get("preemptionPolicy")
    if given is not None and given != policy:
        raise _refused(
            pod,
            f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec; priority admission "
            f"controller computed {policy} from the given PriorityClass name",
        )
    spec["preemptionPolicy"] = policy


def class_of(resource: str, obj: JSON, ctx: Context) -> JSON | None:
    """The priority class that an object names, else the default one: of several the lowest. 403 where there is none of
    that name.
    """
    name = obj["spec"].get("priorityClassName")
    if name:
        found = ctx.store.get(_CLASSES, "", name)
        if found is None:
            why = f"no PriorityClass with name {name} was found"
            raise ApiError.forbidden(resource, obj["metadata"].get("name", ""), why)
        return found
    classes = [each for each in ctx.store.list(_CLASSES) if each.get("globalDefault")]
    return min(classes, key=lambda each: each.get("value", 0), default=None)


def _tolerate_for_a_while(spec: JSON) -> None:
    """Pods stay for five minutes on a node that is lost, unless they say otherwise."""
    tolerations = spec.get("tolerations") or []
    for key in _TOLERATED:
        if not any(_tolerates(toleration, key) for toleration in tolerations):
            added = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATED_SECONDS}
            tolerations = [*tolerations, added]
    spec["tolerations"] = tolerations


def _tolerates(toleration: JSON, key: str) -> bool:
    return toleration.get("key", "") in (key, "") and toleration.get("effect", "") in ("NoExecute", "")


def _limit_anti_affinity(pod: JSON) -> None:
    """Pods keep others off their host, not off a whole zone."""
    affinity = (pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
    for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        if term.get("topologyKey") != _HOSTNAME:
            why = (
                f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {term.get('topologyKey', '')} "
                f"but only key {_HOSTNAME} is allowed"
            )
            raise _refused(pod, why)


def _tolerate_extended_resources(spec: JSON) -> None:
    """Nodes with devices are tainted by the names of these, and pods that ask for them may go there."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    asked = {name for each in containers for name in (each.get("resources") or {}).get("requests") or ()}
    tolerations = spec.get("tolerations") or []
    for name in sorted(filter(is_extended, asked)):
        added = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
        if added not in tolerations:
            tolerations = [*tolerations, added]
    if tolerations:
        spec["tolerations"] = tolerations


def _apply_runtime_class(pod: JSON, ctx: Context) -> None:
    spec = pod["spec"]
    name = spec["runtimeClassName"]
    if not name:
        raise ApiError.unforeseen("resource name may not be empty")
    found = ctx.store.get(_RUNTIME_CLASSES, "", name)
    if found is None:
        raise _rejected(pod, f'RuntimeClass "{name}" not found')
    overhead = (found.get("overhead") or {}).get("podFixed")
    if overhead:
        if spec.get("overhead") and not _same_amounts(spec["overhead"], overhead):
            raise _rejected(pod, "Pod's Overhead doesn't match RuntimeClass's defined Overhead")
        spec["overhead"] = dict(overhead)
    scheduling = found.get("scheduling") or {}
    selector = spec.get("nodeSelector") or {}
    for key, value in (scheduling.get("nodeSelector") or {}).items():
        if selector.get(key, value) != value:
            raise _refused(
                pod,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {selector[key]}",
            )
        selector[key] = value
    if selector:
        spec["nodeSelector"] = selector
    present = spec.get("tolerations") or []
    added = [each for each in scheduling.get("tolerations") or () if each not in present]
    if added:
        spec["tolerations"] = [*present, *added]


def check_overhead(pod: JSON, ctx: Context) -> None:
    """Overhead comes from the runtime class alone."""
    overhead = pod["spec"].get("overhead")
    if overhead is None or not ctx.admits(RUNTIME_CLASS):
        return
    name = pod["spec"].get("runtimeClassName")
    found = ctx.store.get(_RUNTIME_CLASSES, "", name) if name else None
    if found is None or not (found.get("overhead") or {}).get("podFixed"):
        raise _rejected(pod, "Pod Overhead set without corresponding RuntimeClass defined Overhead")


def _same_amounts(one: JSON, other: JSON) -> bool:
    return one.keys() == other.keys() and all(
        Quantity.parse(amount) == Quantity.parse(other[name]) for name, amount in one.items()
    )


def _rejected(pod: JSON, why: str) -> ApiError:
    return _refused(pod, f"pod rejected: {why}")


def _refused(pod: JSON, why: str) -> ApiError:
    return ApiError.forbidden("pods", pod["metadata"].get("name", ""), why)
