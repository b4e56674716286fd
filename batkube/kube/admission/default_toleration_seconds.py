"""DefaultTolerationSeconds: pods stay for five minutes on a node that is lost, unless they say otherwise."""

from __future__ import annotations

from typing import Any

from .plugin import Attributes, Plugin

JSON = dict[str, Any]

_TOLERATED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_SECONDS = 300


class DefaultTolerationSeconds(Plugin):
    name = "DefaultTolerationSeconds"
    handles = ("pods", "pods/resize", "pods/ephemeralcontainers")

    def admit(self, write: Attributes) -> None:
        spec = write.obj["spec"]
        tolerations = spec.get("tolerations") or []
        for key in _TOLERATED:
            if not any(_tolerates(toleration, key) for toleration in tolerations):
                added = {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
                tolerations = [*tolerations, added]
        spec["tolerations"] = tolerations


def _tolerates(toleration: JSON, key: str) -> bool:
    return toleration.get("key", "") in (key, "") and toleration.get("effect", "") in ("NoExecute", "")
