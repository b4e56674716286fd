"""The identity of a pod of a StatefulSet: its number, names, labels and volumes."""

import re
from typing import Any

from batkube.controllers.pods import from_template
from batkube.kube.apimachinery.deep_copy import deep_copy

JSON = dict[str, Any]

POD_NAME, POD_INDEX = "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index"
REVISION = "controller-revision-hash"
_NAME = re.compile(r"(.*)-([0-9]+)")


def parent_and_ordinal(pod: JSON) -> tuple[str, int]:
    """Return the name of the StatefulSet and the number that the pod's name has; -1 for none."""
    found = _NAME.fullmatch(pod["metadata"]["name"])
    return (found[1], int(found[2])) if found else ("", -1)


def ordinal(pod: JSON) -> int:
    """Return the pod's number; -1 for none."""
    return parent_and_ordinal(pod)[1]


def first_ordinal(stateful_set: JSON) -> int:
    """Return the number of the first pod."""
    return int((stateful_set["spec"].get("ordinals") or {}).get("start", 0))


def in_range(stateful_set: JSON, pod: JSON) -> bool:
    """Tell whether the pod is one of those that are wanted."""
    start = first_ordinal(stateful_set)
    return bool(start <= ordinal(pod) < start + stateful_set["spec"]["replicas"])


def revision_of(pod: JSON) -> str:
    """Return the name of the revision by which the pod was made."""
    return str((pod["metadata"].get("labels") or {}).get(REVISION, ""))


def claim_name(stateful_set: JSON, template: JSON, number: int) -> str:
    """Return the name of a claim of volumes of the pod with this number."""
    return f"{template['metadata']['name']}-{stateful_set['metadata']['name']}-{number}"


def claims_of(stateful_set: JSON, pod: JSON) -> dict[str, JSON]:
    """Return the claims of volumes that the pod is to have, by the names of their templates."""
    claims = {}
    for template in stateful_set["spec"].get("volumeClaimTemplates") or ():
        claim = deep_copy(template)
        metadata = claim["metadata"]
        selected = stateful_set["spec"]["selector"].get("matchLabels") or {}
        if labels := {**(metadata.get("labels") or {}), **selected}:
            metadata["labels"] = labels
        name = metadata["name"]
        metadata["name"] = claim_name(stateful_set, template, ordinal(pod))
        metadata["namespace"] = stateful_set["metadata"]["namespace"]
        claim.pop("status", None)
        claims[name] = claim
    return claims


def identify(stateful_set: JSON, pod: JSON) -> None:
    """Give the pod the labels that tell who it is."""
    metadata = pod["metadata"]
    labels = metadata.get("labels") or {}
    metadata["labels"] = {**labels, POD_NAME: metadata["name"], POD_INDEX: str(ordinal(pod))}


def mount_claims(stateful_set: JSON, pod: JSON) -> None:
    """Give the pod its claims as volumes, in the place of others of their names."""
    claims = claims_of(stateful_set, pod)
    volumes: list[JSON] = [
        {"name": name, "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]}}
        for name, claim in claims.items()
    ]
    volumes += [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in claims]
    if volumes:
        pod["spec"]["volumes"] = volumes


def is_itself(stateful_set: JSON, pod: JSON) -> bool:
    """Tell whether the pod has the name, the labels and the volumes that it is to have."""
    name = pod["metadata"]["name"]
    if (pod["metadata"].get("labels") or {}).get(POD_NAME) != name:
        return False
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes") or ()}
    return all(
        (volumes.get(template, {}).get("persistentVolumeClaim") or {}).get("claimName") == claim["metadata"]["name"]
        for template, claim in claims_of(stateful_set, pod).items()
    )


def new_pod(stateful_set: JSON, number: int, revision: str) -> JSON:
    """Return the pod with this number by the set's template, which is that of ``revision``."""
    pod = from_template(stateful_set["spec"]["template"], stateful_set)
    metadata = pod["metadata"]
    metadata["name"] = f"{stateful_set['metadata']['name']}-{number}"
    metadata["namespace"] = stateful_set["metadata"]["namespace"]
    identify(stateful_set, pod)
    pod["spec"]["hostname"] = metadata["name"]
    if service := stateful_set["spec"].get("serviceName"):
        pod["spec"]["subdomain"] = service
    mount_claims(stateful_set, pod)
    metadata["labels"][REVISION] = revision
    return pod
