"""Pods as controllers make, count and choose them (``pkg/controller/controller_utils.go``)."""

from typing import TYPE_CHECKING, Any

from batkube.controllers.conditions import condition, is_true
from batkube.controllers.owners import key_of, reference_to
from batkube.controllers.recorder import NORMAL, WARNING
from batkube.kube.apimachinery.deep_copy import deep_copy
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.kinds.pods.conditions import DISRUPTION_TARGET, set_condition

if TYPE_CHECKING:
    from batkube.controllers.controller import Controller

JSON = dict[str, Any]

TERMINATING_CAUSE = "NamespaceTerminating"
"""The cause in a refusal to create something in a namespace that is being deleted."""
PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}
"""The order in which pods are deleted, by phase."""


def namespace_goes(error: ApiError) -> bool:
    """Tell whether something was refused because its namespace is being deleted."""
    return any(cause.get("reason") == TERMINATING_CAUSE for cause in (error.details or {}).get("causes") or ())


def from_template(template: JSON, owner: JSON, *, generate_name: str = "") -> JSON:
    """Return a pod of the owner, which is its controller, by the template."""
    given = template.get("metadata") or {}
    metadata: JSON = {"generateName": generate_name or f"{owner['metadata']['name']}-"}
    for name in ("labels", "annotations", "finalizers"):
        if given.get(name):
            metadata[name] = deep_copy(given[name])
    metadata["ownerReferences"] = [reference_to(owner)]
    return {"metadata": metadata, "spec": deep_copy(template["spec"])}


def create_pod(controller: "Controller", pod: JSON, owner: JSON) -> JSON:
    """Create a pod in its owner's namespace, and tell so. Raises ApiError, which is told unless the namespace goes."""
    try:
        made = controller.client.create("pods", pod, owner["metadata"]["namespace"])
    except ApiError as error:
        if not namespace_goes(error):
            controller.recorder.event(owner, WARNING, "FailedCreate", f"Error creating: {error.message}")
        raise
    controller.recorder.event(owner, NORMAL, "SuccessfulCreate", f"Created pod: {made['metadata']['name']}")
    return made


def delete_pod(controller: "Controller", pod: JSON, owner: JSON) -> None:
    """Delete a pod, and tell so. Raises ApiError: 404 if it is gone already, which is not told."""
    try:
        controller.client.delete("pods", *key_of(pod))
    except ApiError as error:
        if error.code != 404:
            controller.recorder.event(owner, WARNING, "FailedDelete", f"Error deleting: {error.message}")
        raise
    controller.recorder.event(owner, NORMAL, "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}")


def phase(pod: JSON) -> str:
    """Return the pod's phase."""
    return str(pod.get("status", {}).get("phase") or "")


def is_ended(pod: JSON) -> bool:
    """Tell whether the pod's containers have ended for good."""
    return phase(pod) in ("Succeeded", "Failed")


def is_deleted(pod: JSON) -> bool:
    """Tell whether the pod is being deleted."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def comes_to_an_end(pod: JSON) -> bool:
    """Tell whether the pod is no server: its containers are not started again whatever happens."""
    return bool(pod["spec"].get("restartPolicy", "Always") != "Always")


def is_active(pod: JSON) -> bool:
    """Tell whether the pod runs or will, and nobody has deleted it."""
    return not is_ended(pod) and not is_deleted(pod)


def is_terminating(pod: JSON) -> bool:
    """Tell whether the pod is being deleted, and its containers have not ended."""
    return not is_ended(pod) and is_deleted(pod)


def is_ready(pod: JSON) -> bool:
    """Tell whether the pod is ready."""
    return is_true(pod, "Ready")


def target_for_disruption(pod: JSON, now: str, reason: str, message: str) -> None:
    """Say in the pod's status that it is about to be deleted from its node."""
    seen = {"observedGeneration": generation} if (generation := pod["metadata"].get("generation")) else {}
    told = {"lastTransitionTime": now, "reason": reason, "message": message}
    set_condition(pod["status"], {"type": DISRUPTION_TARGET, **seen, "status": "True", **told})


def restarts(pod: JSON) -> int:
    """Return the most restarts of one of the pod's containers; sidecars count, too."""
    status = pod.get("status", {})
    statuses = (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ()))
    return max((each.get("restartCount") or 0 for each in statuses), default=0)


def first_to_delete(pod: JSON) -> tuple[object, ...]:
    """Return a key to sort by: the pods that are the least loss come first (`ActivePods`).

    Without a node before others, then pending, not ready, ready for a shorter time, with more restarts, newer.
    """
    ready = condition(pod.get("status", {}), "Ready")
    is_on = ready is not None and ready["status"] == "True"
    since = (ready or {}).get("lastTransitionTime") or ""
    return (
        bool(pod["spec"].get("nodeName")),
        PHASES.get(phase(pod), 0),
        is_on,
        _later_first(since) if is_on else (),
        -restarts(pod),
        _later_first(pod["metadata"].get("creationTimestamp") or ""),
    )


def _later_first(text: str) -> tuple[int, ...]:
    """Return a key by which later dates, as objects have them, come before earlier ones; none comes first."""
    return tuple(-ord(letter) for letter in text)
