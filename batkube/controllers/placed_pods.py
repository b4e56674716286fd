"""The pods that have not ended, by their nodes: ended ones, which may be many, concern nobody who asks."""

from collections.abc import Iterable
from typing import Any

from batkube.controllers.pods import is_ended
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change

JSON = dict[str, Any]
_PODS = "pods"


class PlacedPods:
    """Follows the pods of ``server``."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._nodes: dict[str, dict[tuple[str, str], None]] = {}
        self._node_of: dict[tuple[str, str], str] = {}
        for pod in server.store.list(_PODS):
            self._note(pod)
        server.store.subscribe(self._on_change, (_PODS,))

    def stop(self) -> None:
        """Follow no more."""
        self._server.store.unsubscribe(self._on_change)

    @property
    def nodes(self) -> Iterable[str]:
        """The nodes on which there are any, or have been."""
        return self._nodes

    def on(self, node: str) -> list[JSON]:
        """Return the pods on a node, in the order in which they came there."""
        found = (self._server.store.get(_PODS, *key) for key in self._nodes.get(node, ()))
        return [pod for pod in found if pod is not None]

    def _on_change(self, change: Change) -> None:
        if change.type == DELETED:
            self._move(change.version.key, "")
        else:
            self._note(change.version.obj)

    def _note(self, pod: JSON) -> None:
        metadata = pod["metadata"]
        node = "" if is_ended(pod) else pod["spec"].get("nodeName") or ""
        self._move((metadata["namespace"], metadata["name"]), node)

    def _move(self, key: tuple[str, str], node: str) -> None:
        before = self._node_of.get(key, "")
        if before == node:
            return
        if before:
            del self._nodes[before][key]
            del self._node_of[key]
        if node:
            self._nodes.setdefault(node, {})[key] = None
            self._node_of[key] = node
