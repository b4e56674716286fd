"""Names that do not depend on chance: of what a controller has made under a name that the server completed.

A pod is called `web-5d4f8-#1`, the first of its owner that was made; a pod that is meant for one node (of a DaemonSet)
`agent-@h0-#1`. Among those that were made in one second what became of them decides, as none of them is special: of two
that could be taken it is chance which one a controller deletes. Uids are gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fnmatch import fnmatchcase as fnmatch
from typing import Any

JSON = dict[str, Any]

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
COMPLETED = re.compile("[bcdfghjklmnpqrstvwxz2456789]{5}")
"""The ending that the server puts behind a name that it completes."""
_CHANCE = ("uid", "resourceVersion", "managedFields")


class Names:
    """The names that were given by the server."""

    def __init__(self) -> None:
        self._pods: dict[str, JSON] = {}
        """By name, in the order in which they came."""
        self._fates: dict[str, list[Any]] = {}
        self._pattern: re.Pattern[str] | None = None

    def met(self, pod: JSON) -> None:
        """Take note of a pod that is new."""
        metadata = pod["metadata"]
        prefix = metadata.get("generateName")
        if prefix and COMPLETED.fullmatch(metadata["name"].removeprefix(prefix)):
            self._pods.setdefault(pod["metadata"]["name"], pod)
            self._pattern = None

    def real(self, name: str) -> str:
        """Return the name in the cluster of the pod that is called `name` here, by the order in which they came.

        A `*` stands for what the name has of a hash.
        """
        return next((real for given, real in self._numbered(list(self._pods)).items() if fnmatch(given, name)), name)

    def saw(self, at: float, name: str, obj: JSON) -> None:
        """Take note of what was seen: of a pod of this name, or of something that may speak of pods."""
        if name:
            self._fate(name, at, obj)
            return
        involved = obj.get("involvedObject") or {}
        for each in set(self._found(f"{involved.get('name', '')} {obj.get('message', '')}")):
            self._fate(each, at, {key: obj.get(key) for key in ("reason", "message", "firstTimestamp", "count")})

    def by_fate(self) -> Callable[[Any], Any]:
        """Return a function that says an object with the names of the end."""
        order = sorted(self._pods, key=lambda name: (self._made(name), json.dumps(self._fates.get(name))))
        names = {real: given for given, real in self._numbered(order).items()}

        def told(value: Any) -> Any:
            if isinstance(value, dict):
                return {told(key): told(each) for key, each in value.items()}
            if isinstance(value, list):
                return [told(each) for each in value]
            return self._replaced(value, lambda name: names[name]) if isinstance(value, str) else value

        return told

    def _made(self, name: str) -> str:
        return str(self._pods[name]["metadata"]["creationTimestamp"])

    def _numbered(self, order: list[str]) -> dict[str, str]:
        """Return the real names by those that are given in this order."""
        counts: dict[str, int] = {}
        numbered = {}
        for name in order:
            prefix = self._prefix(name)
            counts[prefix] = counts.get(prefix, 0) + 1
            numbered[f"{prefix}#{counts[prefix]}"] = name
        return numbered

    def _prefix(self, name: str) -> str:
        pod = self._pods[name]
        node = node_meant(pod)
        return str(pod["metadata"]["generateName"]) + (f"@{node}-" if node else "")

    def _fate(self, name: str, at: float, obj: JSON) -> None:
        if name in self._pods:
            self._fates.setdefault(name, []).append([at, self._masked(obj)])

    def _masked(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._masked(each) for key, each in sorted(value.items()) if key not in _CHANCE}
        if isinstance(value, list):
            return [self._masked(each) for each in value]
        return self._replaced(value, lambda name: "POD") if isinstance(value, str) else value

    def _replaced(self, text: str, by: Callable[[str], str]) -> str:
        text = UID.sub("UID", text)
        pattern = self._all()
        return pattern.sub(lambda found: by(found.group()), text) if pattern else text

    def _found(self, text: str) -> list[str]:
        pattern = self._all()
        return pattern.findall(text) if pattern else []

    def _all(self) -> re.Pattern[str] | None:
        """Return what finds each of the names."""
        if self._pattern is None and self._pods:
            self._pattern = re.compile("|".join(sorted(map(re.escape, self._pods), key=len, reverse=True)))
        return self._pattern


def node_meant(pod: JSON) -> str:
    """Return the node to which its affinity ties the pod by name, as that of DaemonSets does; else nothing."""
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name":
                return str(field["values"][0])
    return ""
