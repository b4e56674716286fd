"""Names that Kubernetes accepts, made of Batsim's own names."""

import re
from collections.abc import Iterable

_NOT_DNS = re.compile(r"[^a-z0-9.-]+")
_PLAIN = re.compile(r"[a-z0-9]+(?:[!-][a-z0-9]+)*")
"""The ids of most jobs."""
_NOT_LABEL = re.compile(r"[^A-Za-z0-9._-]+")
NAMESPACE = "default"
"""The namespace of the pods of jobs."""
MAX_NAME = 253
"""The length of the longest DNS-1123 subdomain. Most Kubernetes objects must have such a name."""
MAX_LABEL_VALUE = 63
"""The length of the longest value of a label."""


def dns_subdomain(text: str) -> str:
    """Return ``text`` as a DNS-1123 subdomain: ``Bourassa`` is ``bourassa``, ``w0!12`` is ``w0-12``."""
    if _PLAIN.fullmatch(text) and len(text) <= MAX_NAME:
        return text.replace("!", "-")
    parts = (part.strip("-") for part in _NOT_DNS.sub("-", text.lower()).split("."))
    name = ".".join(part for part in parts if part)
    return name[:MAX_NAME].strip(".-") or "x"


def label_value(text: str) -> str:
    """Return ``text`` as the value of a label: characters that are not allowed become ``-``; at most 63 characters."""
    return _NOT_LABEL.sub("-", text)[:MAX_LABEL_VALUE].strip("-._")


def pod_key(namespace: str, name: str) -> str:
    """Return the name by which the bridge knows a pod: its own in the namespace of jobs, else ``namespace/name``."""
    return name if namespace == NAMESPACE else f"{namespace}/{name}"


def pod_of_key(key: str) -> tuple[str, str]:
    """Return namespace and name of the pod that the bridge knows by ``key``."""
    namespace, _, name = key.rpartition("/")
    return namespace or NAMESPACE, name


class Names:
    """Gives each thing a Kubernetes name, no two the same. The same order of requests gives the same names."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._reserved: set[str] = set()

    def reserve(self, texts: Iterable[str]) -> None:
        """Keep each valid name for the thing that has it, whichever thing asks first."""
        self._reserved.update(text for text in texts if dns_subdomain(text) == text)

    def claim(self, text: str) -> str:
        """Return the name for ``text``; if another thing has it already, ``-2``, ``-3`` ... is appended."""
        wanted = name = dns_subdomain(text)
        count = 1
        while name in self._taken or (name in self._reserved and name != text):
            count += 1
            name = f"{wanted[: MAX_NAME - 1 - len(str(count))]}-{count}"
        self._taken.add(name)
        return name
