"""Names replaced by hashes, the same for the same: selectors, affinities and taints mean what they meant."""

import re
from hashlib import blake2b
from typing import Any

from batkube.snapshot.objects import Snapshot

JSON = dict[str, Any]

KEPT_NAMESPACES = ("default", "kube-system")
_KEPT_DOMAINS = ("kubernetes.io", "k8s.io", "batkube.io")
"""The ends of domains whose label keys stay: what they mean is published."""
_KEPT_VALUES = re.compile(r"(?:-?[0-9]*|true|false|amd64|arm64|linux|windows)")
_SIZE = 6


class Anonymous:
    """Hides the names of a snapshot. ``salt``: a secret without which names could be found by trying."""

    def __init__(self, salt: str) -> None:
        self._key = blake2b(salt.encode()).digest()

    def hide(self, snapshot: Snapshot) -> None:
        """Hide them, in place."""
        for node in snapshot.nodes:
            metadata = node["metadata"]
            metadata["name"] = self._name(metadata["name"])
            metadata["labels"] = self._labels(metadata["labels"])
            node["spec"] = self._hidden(node["spec"])
        for pod in snapshot.pods:
            metadata = pod["metadata"]
            metadata["name"] = self._name(f"{metadata['namespace']}/{metadata['name']}")
            if metadata["namespace"] not in KEPT_NAMESPACES:
                metadata["namespace"] = self._name(metadata["namespace"])
            metadata["labels"] = self._labels(metadata["labels"])
            for containers in ("containers", "initContainers"):
                for number, container in enumerate(pod["spec"].get(containers, ())):
                    container["name"] = f"{containers[0]}{number}"
                    if "image" in container:
                        container["image"] = self._name(container["image"])
            pod["spec"] = self._hidden(pod["spec"])
        for each in snapshot.classes:
            each["metadata"]["name"] = self._name(each["metadata"]["name"])

    def _name(self, text: str) -> str:
        return "x" + blake2b(text.encode(), key=self._key, digest_size=_SIZE).hexdigest()

    def _label_key(self, key: str) -> str:
        domain, slash, _ = key.rpartition("/")
        kept = slash and any(domain == end or domain.endswith(f".{end}") for end in _KEPT_DOMAINS)
        return key if kept else self._name(key)

    def _value(self, value: str) -> str:
        return value if _KEPT_VALUES.fullmatch(value) else self._name(value)

    def _labels(self, labels: JSON) -> JSON:
        return {self._label_key(key): self._value(str(value)) for key, value in labels.items()}

    def _hidden(self, value: Any) -> Any:
        """Return a part of a spec with the names in it hidden, wherever it selects, tolerates or spreads."""
        if isinstance(value, list):
            return [self._hidden(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {name: self._field(name, each, value) for name, each in value.items()}

    def _field(self, name: str, value: Any, of: JSON) -> Any:
        match name, value:
            case ("matchLabels" | "nodeSelector", dict()):
                return self._labels(value)
            case ("key" | "topologyKey", str()):
                # A field selector (matchFields) has the name of a field for its key.
                return value if value == "metadata.name" else self._label_key(value)
            case ("values", list()) if of.get("operator") not in ("Gt", "Lt"):
                return [self._value(str(each)) for each in value]
            case ("value", str()):
                return self._value(value)
            case ("matchLabelKeys" | "mismatchLabelKeys", list()):
                return [self._label_key(str(each)) for each in value]
            case ("namespaces", list()):
                return [each if each in KEPT_NAMESPACES else self._name(str(each)) for each in value]
            case ("priorityClassName", str()):
                return value if value.startswith("system-") else self._name(value)
            case _:
                return self._hidden(value)
