"""Bindings: what a scheduler sends to give a pod its node (`pkg/registry/core/pod/storage` of Kubernetes).

`POST pods/NAME/binding`, and the older `POST bindings` with the pod's name in the body. The node need not exist.
Annotations and labels of the binding are added to the pod; admission adds to the labels those of the node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...apimachinery.status import ApiError, FieldError, quote, success
from ...storage.identity import Clock
from ..action import Action, ActionAnswer, ActionRequest, ObjectOperations

JSON = dict[str, Any]


class Bindings(Action):
    """The action `pods/NAME/binding`."""

    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Bind a pod."""
        binding, ctx = request.body or {}, request.ctx
        metadata, target = binding.get("metadata") or {}, binding.get("target") or {}
        if (metadata.get("name") or "") != ctx.name:
            raise ApiError.bad_request("name in URL does not match name in Binding object")
        _check_target(target)
        if not ctx.name:
            raise ApiError.bad_request("Name parameter required.")
        server.admit(binding)
        server.write(lambda pod: bind(pod, target["name"], metadata, server.admit_binding, ctx.clock, ctx.dry_run))
        return ActionAnswer(201, success(code=201))


def bind(
    pod: JSON, node: str, binding: JSON, admit: Callable[[JSON, str], None], clock: Clock, dry_run: bool = False
) -> None:
    """Change the pod to one that has the node. Its metadata, spec and status change, but not the values of their
    members.

    Raise 409 if it is not the pod in the binding's metadata, has a node, is gated or is being deleted. Raise the error
    of `admit` if it refuses to put the pod on this node.
    """
    _check_preconditions(pod, binding, dry_run)
    _check_unbound(pod)
    admit(pod, node)
    pod["spec"]["nodeName"] = node
    for key in ("annotations", "labels"):
        if given := binding.get(key):
            pod["metadata"][key] = {**pod["metadata"].get(key, {}), **given}
    status = pod.setdefault("status", {})
    status.pop("nominatedNodeName", None)
    now = clock.seconds()  # not before: whoever admits a binding may say that deciding on it has taken its time
    status["conditions"] = _scheduled(status.get("conditions") or [], now)


def _check_target(target: JSON) -> None:
    """Check the target of a binding. As in the real server a wrong one is an unforeseen error (500)."""
    errors = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(FieldError.not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(FieldError.required("target.name"))
    if errors:
        texts = [str(error) for error in errors]
        raise ApiError.unforeseen(texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


def _check_preconditions(pod: JSON, binding: JSON, dry_run: bool) -> None:
    """Check that a uid and a resourceVersion in the binding are those of the pod."""
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
    """Return the conditions with PodScheduled true, at its old place if it is there already (`UpdatePodCondition`)."""
    new = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    for index, old in enumerate(conditions):
        if old.get("type") == "PodScheduled":
            if old.get("status") == "True":
                new["lastTransitionTime"] = old.get("lastTransitionTime")
            return [*conditions[:index], new, *conditions[index + 1 :]]
    return [*conditions, new]
