"""The revisions of what has a pod template: ControllerRevisions (``pkg/controller/history``)."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from batkube.controllers.owners import controller_of, key_of, reference_to
from batkube.controllers.templates.hash import data_hash
from batkube.kube.apimachinery.deep_copy import deep_copy
from batkube.kube.apimachinery.label_selectors import matches
from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.controller import Controller

JSON = dict[str, Any]

REVISIONS = "controllerrevisions.apps"
HASH = "controller.kubernetes.io/hash"
_LONGEST_PREFIX = 223
_ESCAPED = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})


def data_of(owner: JSON) -> JSON:
    """Return what a revision keeps of its owner: a patch that puts its pod template back."""
    return {"spec": {"template": {**deep_copy(owner["spec"]["template"]), "$patch": "replace"}}}


def with_template_of(owner: JSON, revision: JSON) -> JSON:
    """Return the owner with the pod template of a revision."""
    template = {key: value for key, value in revision["data"]["spec"]["template"].items() if key != "$patch"}
    return {**owner, "spec": {**owner["spec"], "template": template}}


def encoded(data: JSON) -> bytes:
    """Return the data as Go writes JSON."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).translate(_ESCAPED).encode()


def named(owner: JSON, code: str) -> str:
    """Return the name of a revision with this hash."""
    return f"{owner['metadata']['name'][:_LONGEST_PREFIX]}-{code}"


def listed(controller: "Controller", owner: JSON) -> list[JSON]:
    """Return the owner's revisions, and those of nobody that its selector fits, the oldest first."""
    found, selector = controller.cluster.owned(REVISIONS).candidates(owner), owner["spec"].get("selector")
    return in_order([each for each in found if matches(selector, each["metadata"].get("labels") or {})])


def in_order(revisions: Sequence[JSON]) -> list[JSON]:
    """Return revisions by their numbers."""
    return sorted(
        revisions,
        key=lambda each: (each["revision"], each["metadata"]["creationTimestamp"], each["metadata"]["name"]),
    )


def adopt_orphans(controller: "Controller", owner: JSON, revisions: Sequence[JSON]) -> None:
    """Make revisions of nobody the owner's. Raises ApiError."""

    def change(found: JSON) -> None:
        metadata = found["metadata"]
        metadata["ownerReferences"] = [*(metadata.get("ownerReferences") or ()), reference_to(owner)]

    for each in revisions:
        if controller_of(each) is None:
            controller.client.modify(REVISIONS, *key_of(each), change)


def new_revision(owner: JSON, number: int, probe: int | None) -> JSON:
    """Return a revision of the owner as it is. ``probe``: added to the hash."""
    data = data_of(owner)
    code = data_hash(encoded(data), probe)
    return as_revision(owner, data, number, named(owner, code), {HASH: code})


def as_revision(owner: JSON, data: JSON, number: int, name: str, labels: JSON) -> JSON:
    """Return a revision with this data. ``labels``: those that it has besides those of the pod template."""
    metadata: JSON = {
        "name": name,
        "labels": {**(owner["spec"]["template"]["metadata"].get("labels") or {}), **labels},
        "ownerReferences": [reference_to(owner)],
    }
    if annotations := owner["metadata"].get("annotations"):
        metadata["annotations"] = dict(annotations)
    return {"metadata": metadata, "data": data, "revision": number}


def create(controller: "Controller", owner: JSON, revision: JSON, collisions: int) -> tuple[JSON, int]:
    """Create a revision; return it, and how many other ones have had its names by now. Raises ApiError."""
    while True:
        name = named(owner, data_hash(encoded(revision["data"]), collisions))
        new = {**revision, "metadata": {**revision["metadata"], "name": name}}
        try:
            return controller.client.create(REVISIONS, new, owner["metadata"]["namespace"]), collisions
        except ApiError as error:
            if error.reason != "AlreadyExists":
                raise
        there = controller.cluster.get(REVISIONS, owner["metadata"]["namespace"], name)
        if there is not None and there["data"] == revision["data"]:
            return there, collisions
        collisions += 1


def renumber(controller: "Controller", revision: JSON, number: int) -> JSON:
    """Give a revision another number. Raises ApiError."""
    if revision["revision"] == number:
        return revision
    return controller.client.modify(REVISIONS, *key_of(revision), lambda found: {**found, "revision": number})


def truncate(controller: "Controller", revisions: Sequence[JSON], live: set[str], limit: int) -> None:
    """Delete the oldest revisions that are not ``live``, by name, until ``limit`` of them are left. Raises ApiError."""
    history = [each for each in revisions if each["metadata"]["name"] not in live]
    for each in history[: max(len(history) - limit, 0)]:
        controller.client.delete(REVISIONS, *key_of(each))
