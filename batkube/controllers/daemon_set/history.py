"""The revisions of a DaemonSet (``pkg/controller/daemon/update.go``)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from batkube.controllers.daemon_set.placing import HASH
from batkube.controllers.owners import claim, key_of
from batkube.controllers.revisions import REVISIONS, as_revision, data_of, in_order, renumber
from batkube.controllers.templates.hash import template_hash
from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.controller import Controller

JSON = dict[str, Any]


def find(controller: "Controller", daemon_set: JSON) -> tuple[JSON, list[JSON]]:
    """Return the revision of the present template, which is made if there is none, and the old ones.

    Raises ApiError.
    """
    candidates = controller.cluster.owned(REVISIONS).candidates(daemon_set)
    found = in_order(claim(controller, REVISIONS, daemon_set, candidates))
    data = data_of(daemon_set)
    same = [each for each in found if each["data"] == data]
    old = [each for each in found if each["data"] != data]
    number = max((each["revision"] for each in old), default=0) + 1
    if not same:
        return _made(controller, daemon_set, data, number), old
    current = same[-1]
    for each in same[:-1]:
        controller.client.delete(REVISIONS, *key_of(each))
    if current["revision"] < number:
        current = renumber(controller, current, number)
    return current, old


def _made(controller: "Controller", daemon_set: JSON, data: JSON, number: int) -> JSON:
    metadata = daemon_set["metadata"]
    code = template_hash(daemon_set["spec"]["template"], daemon_set.get("status", {}).get("collisionCount"))
    name, namespace = f"{metadata['name']}-{code}", metadata["namespace"]
    new = as_revision(daemon_set, data, number, name, {HASH: code})
    try:
        return controller.client.create(REVISIONS, new, namespace)
    except ApiError as error:
        there = controller.cluster.get(REVISIONS, namespace, name)
        if error.reason != "AlreadyExists" or there is None:
            raise
        if there["data"] == data:
            return there

        def collide(found: JSON) -> None:
            found["status"]["collisionCount"] = found["status"].get("collisionCount", 0) + 1

        controller.client.modify("daemonsets.apps", namespace, metadata["name"], collide, "status")
        raise


def clean_up(controller: "Controller", daemon_set: JSON, old: list[JSON], pods: Iterable[JSON]) -> None:
    """Delete the oldest revisions that no pod has, until as many are left as are to be kept. Raises ApiError."""
    left = len(old) - daemon_set["spec"].get("revisionHistoryLimit", 10)
    live = {(pod["metadata"].get("labels") or {}).get(HASH) for pod in pods}
    for each in old:
        if left <= 0:
            return
        if (each["metadata"].get("labels") or {}).get(HASH) not in live:
            controller.client.delete(REVISIONS, *key_of(each))
            left -= 1
