"""The end of namespaces: what is in them is deleted, pods first, then the namespace (``pkg/controller/namespace``)."""

from collections import Counter
from typing import Any

from batkube.controllers.controller import JSON, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.pods import is_ended
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import Version

NAMESPACES = "namespaces"
GRACE = 5.0
"""The simulated seconds before it is looked at, so that all servers know by then that it ends."""
FINALIZERS_TAKE = 15
"""The seconds that finalizers are expected to take."""
_FINALIZER = "kubernetes"
_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions", "All legacy kube types successfully parsed"
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted", "All content successfully deleted, may be waiting on finalization"
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}  # fmt: skip
"""Reason and message of each condition where there is nothing to tell."""


class NamespaceController(Controller):
    """Empties namespaces that are being deleted."""

    name = "namespace-controller"
    wakes = (NAMESPACES,)
    follows = (NAMESPACES,)
    retries = (0.005, 60.0)

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
        return "deletionTimestamp" in obj["metadata"]

    def changed(self, change: Change) -> None:
        if "deletionTimestamp" in change.version.obj["metadata"]:
            self.queue.add_after(change.version.key[1], GRACE)

    def sync(self, key: str) -> None:
        namespace = self.cluster.get(NAMESPACES, "", key)
        if namespace is None or not namespace["spec"].get("finalizers"):
            self.queue.discard(key)
            return
        since = self.cluster.since(namespace["metadata"]["deletionTimestamp"])
        found = self._kinds(key)
        left, takes, errors = self._empty(key, found["pods"], since) if "pods" in found else ({}, 0, [])
        if not left:
            for resource in sorted(found):
                if resource != "pods":
                    more, longer, wrong = self._empty(key, found[resource], since)
                    left, takes, errors = {**left, **more}, max(takes, longer), errors + wrong
            self._tell(namespace, errors, left)
        else:
            self._tell(namespace, errors, {})
        if errors:
            raise ApiError(500, None, "; ".join(errors))
        if takes:
            self.queue.add_after(key, takes // 2 + 1)
        elif not left:
            self._finalize(key)

    def _kinds(self, namespace: str) -> dict[str, list[Version]]:
        """Return what is in the namespace, by kind."""
        found = {each.storage: each.select(namespace) for each in self.cluster.server.store.collections()}
        return {resource: versions for resource, versions in found.items() if versions}

    def _empty(
        self, namespace: str, versions: list[Version], since: float
    ) -> tuple[dict[str, list[JSON]], int, list[str]]:
        """Delete all objects of a kind; return what is left by kind, the seconds that it will take, and errors."""
        kind = versions[0].resource
        takes = 0
        if kind.storage == "pods":
            running = (each.obj["spec"] for each in versions if not is_ended(each.obj))
            takes = max((spec.get("terminationGracePeriodSeconds") or 0 for spec in running), default=0)
            if since >= takes:
                takes = 0
        errors = []
        for version in versions:
            try:
                self.client.delete(kind.storage, *version.key, propagation="Background")
            except ApiError as error:
                if error.code != 404:
                    errors.append(error.message)
        left = [each.obj for each in self.cluster.server.store.collection(kind.storage).select(namespace)]
        if not left:
            return {}, 0, errors
        if not takes and any(obj["metadata"].get("finalizers") for obj in left):
            takes = FINALIZERS_TAKE
        if not takes:
            gvr = f"{kind.group}/{kind.version}, Resource={kind.plural}"
            errors.append(f"unexpected items still remain in namespace: {namespace} for gvr: {gvr}")
        return {f"{kind.plural}.{kind.group}": left}, takes, errors

    def _tell(self, namespace: JSON, errors: list[str], left: dict[str, list[JSON]]) -> None:
        """Say in the namespace's conditions what is left, and what went wrong."""
        told: dict[str, tuple[str, str]] = {}
        if errors:
            message = f"Failed to delete all resource types, {len(errors)} remaining: {', '.join(sorted(errors))}"
            told["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", message)
        if left:
            remaining = sorted(f"{kind} has {len(found)} resource instances" for kind, found in left.items())
            message = f"Some resources are remaining: {', '.join(remaining)}"
            told["NamespaceContentRemaining"] = ("SomeResourcesRemain", message)
        finalizers = Counter(
            name for found in left.values() for obj in found for name in obj["metadata"].get("finalizers") or ()
        )
        if finalizers:
            waiting = sorted(f"{name} in {count} resource instances" for name, count in finalizers.items())
            message = f"Some content in the namespace has finalizers remaining: {', '.join(waiting)}"
            told["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", message)
        before = {each["type"]: each for each in namespace["status"].get("conditions") or ()}
        now = {kind: self._condition(kind, told.get(kind), before.get(kind)) for kind in _FINE}
        if now != {kind: before.get(kind) for kind in _FINE}:

            def change(new: JSON) -> None:
                others = [each for each in before.values() if each["type"] not in _FINE]
                new["status"]["conditions"] = [*others, *now.values()]

            self.client.modify(NAMESPACES, "", namespace["metadata"]["name"], change, "status")

    def _condition(self, kind: str, told: tuple[str, str] | None, before: JSON | None) -> JSON:
        reason, message = told or _FINE[kind]
        status = "True" if told else "False"
        unchanged = before is not None and before["status"] == status
        since: Any = before["lastTransitionTime"] if unchanged and before is not None else self.cluster.text()
        return {
            "type": kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message
        }  # fmt: skip

    def _finalize(self, name: str) -> None:
        """Let the namespace go."""

        def change(new: JSON) -> None:
            new["spec"]["finalizers"] = [each for each in new["spec"]["finalizers"] if each != _FINALIZER]

        self.client.modify(NAMESPACES, "", name, change, "finalize")
        self.queue.discard(name)
