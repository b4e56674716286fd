"""Names that Kubernetes accepts for what Batsim calls by names of its own."""

import re

_NOT_DNS = re.compile(r"[^a-z0-9.-]+")
_NOT_LABEL = re.compile(r"[^A-Za-z0-9._-]+")
MAX_NAME = 253
"""Longest DNS-1123 subdomain, what most Kubernetes objects must be named by."""
MAX_LABEL_VALUE = 63
"""Longest value of a label."""


def dns_subdomain(text: str) -> str:
    """``text`` as a DNS-1123 subdomain: ``Bourassa`` is ``bourassa``, ``w0!12`` is ``w0-12``."""
    parts = (part.strip("-") for part in _NOT_DNS.sub("-", text.lower()).split("."))
    name = ".".join(part for part in parts if part)
    return name[:MAX_NAME].strip(".-") or "x"


def label_value(text: str) -> str:
    """``text`` as the value of a label: what is not allowed becomes ``-``; at most 63 characters."""
    return _NOT_LABEL.sub("-", text)[:MAX_LABEL_VALUE].strip("-._")


class Names:
    """Gives each thing a Kubernetes name, no two the same; the same order of asking gives the same names."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def claim(self, text: str) -> str:
        """The name for ``text``; where another thing has it already, ``-2``, ``-3`` ... is appended."""
        wanted = name = dns_subdomain(text)
        count = 1
        while name in self._taken:
            count += 1
            name = f"{wanted[: MAX_NAME - 1 - len(str(count))]}-{count}"
        self._taken.add(name)
        return name
