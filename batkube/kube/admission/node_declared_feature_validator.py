"""NodeDeclaredFeatureValidator: a running pod is changed only in ways that its node declares to support."""

from __future__ import annotations

from typing import Any

from ..kinds.pods.updates import same
from .plugin import Attributes, Plugin
from .resize import RESIZE, node_of, node_to_ask, refused

JSON = dict[str, Any]

_OF_PODS = "InPlacePodLevelResourcesVerticalScaling"
_OF_INIT_CONTAINERS = "InPlacePodVerticalScalingInitContainers"


class NodeDeclaredFeatureValidator(Plugin):
    name = "NodeDeclaredFeatureValidator"
    handles = (RESIZE,)

    def validate(self, write: Attributes) -> None:
        name = node_to_ask(write)
        if name is None or write.old is None:
            return
        features = _features(write.obj["spec"], write.old["spec"])
        if not features:
            return
        declared = (node_of(name, write.context).get("status") or {}).get("declaredFeatures") or ()
        if missing := [feature for feature in features if feature not in declared]:
            why = f'pod update requires features {", ".join(missing)} which are not available on node "{name}"'
            raise refused(write.context, why)


def _features(new: JSON, old: JSON) -> list[str]:
    """Return the features that a node needs for the change, beyond those that all nodes have."""
    features = []
    if not same(new.get("resources"), old.get("resources")):
        features.append(_OF_PODS)
    for container, then in zip(new.get("initContainers") or (), old.get("initContainers") or (), strict=True):
        if container.get("restartPolicy") != "Always" and container.get("resources") != then.get("resources"):
            return [*features, _OF_INIT_CONTAINERS]
    return features
