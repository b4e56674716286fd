"""Bindings: what a scheduler sends to give a pod its node (`pkg/registry/core/pod/storage` of Kubernetes).

`POST pods/NAME/binding`, and the older `POST bindings` with the pod's name in the body. The node need not exist.
Annotations and labels of the binding are added to the pod, and so are zone and region of the node (admission
plugin PodTopologyLabels).
"""

from __future__ import annotations

from typing import Any

from .status import ApiError, FieldError, quote, success
from .strategy import ActionRequest, Answer, Reader

JSON = dict[str, Any]

TOPOLOGY_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


def bind(request: ActionRequest) -> Answer:
    """Bind a pod. 409 where it has a node, is gated or goes away, or where somebody refuses the node."""
    binding = request.body or {}
    metadata, target = binding.get("metadata") or {}, binding.get("target") or {}
    ctx = request.ctx
    if (metadata.get("name") or "") != ctx.name:
        raise ApiError.bad_request("name in URL does not match name in Binding object")
    _check_target(target)
    if not ctx.name:
        raise ApiError.bad_request("Name parameter required.")
    node = target["name"]
    labels = dict(metadata.get("labels") or {})
    if target.get("kind") == "Node" and ctx.admits("PodTopologyLabels"):
        labels |= topology_of(ctx.store, node)
    annotations = metadata.get("annotations") or {}

    def bound(pod: JSON) -> None:
        _check_preconditions(pod, metadata, ctx.dry_run)
        _check_unbound(pod)
        request.admit_binding(pod, node)
        pod["spec"]["nodeName"] = node
        if annotations:
            pod["metadata"]["annotations"] = {**pod["metadata"].get("annotations", {}), **annotations}
        if labels:
            pod["metadata"]["labels"] = {**pod["metadata"].get("labels", {}), **labels}
        status = pod.setdefault("status", {})
        status.pop("nominatedNodeName", None)
        status["conditions"] = _scheduled(status.get("conditions") or [], ctx.now)

    request.write(bound)
    return Answer(201, success(code=201))


def topology_of(store: Reader, node: str) -> JSON:
    """The labels of a node that its pods get, too."""
    found = store.get("nodes", "", node)
    labels = (found or {}).get("metadata", {}).get("labels") or {}
    return {key: labels[key] for key in TOPOLOGY_LABELS if key in labels}


def _check_target(target: JSON) -> None:
    """The real server answers such a binding with 500, as an error that it did not foresee."""
    errors = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(FieldError.not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(FieldError.required("target.name"))
    if errors:
        texts = [str(error) for error in errors]
        raise ApiError.unforeseen(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _check_preconditions(pod: JSON, binding: JSON, dry_run: bool) -> None:
    """A uid and a resourceVersion in the binding are those of the pod that the scheduler decided on."""
    metadata = pod["metadata"]
    for what, key in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
        if binding.get(key) and binding[key] != metadata[key]:
            stored = f"pods/{metadata['namespace']}/{metadata['name']}"
            raise ApiError.other_object("pods", stored, what, binding[key], metadata[key], dry_run=dry_run)


def _check_unbound(pod: JSON) -> None:
    name, spec = pod["metadata"]["name"], pod["spec"]
    if pod["metadata"].get("deletionTimestamp"):
        why = f"pod {name} is being deleted, cannot be assigned to a host"
    elif spec.get("nodeName"):
        why = f"pod {name} is already assigned to node {quote(spec['nodeName'])}"
    elif spec.get("schedulingGates"):
        why = f"pod {name} has non-empty .spec.schedulingGates"
    else:
        return
    raise ApiError.conflict("pods/binding", name, why)


def _scheduled(conditions: list[JSON], now: str) -> list[JSON]:
    """The conditions with PodScheduled true, in its place if it is there already (`UpdatePodCondition`)."""
    new = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    for index, old in enumerate(conditions):
        if old.get("type") == "PodScheduled":
            if old.get("status") == "True":
                new["lastTransitionTime"] = old.get("lastTransitionTime")
            return [*conditions[:index], new, *conditions[index + 1 :]]
    return [*conditions, new]
