"""Lists of objects: a List, as `kubectl get -o yaml` writes it, or one of a kind, as the server answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def members(document: dict[str, Any]) -> Iterator[Any]:
    """Yield the items of a list, whose items need not say their kind; what is no list as it is."""
    kind, items = document.get("kind"), document.get("items")
    if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
        yield document
        return
    given = {} if kind == "List" else {"apiVersion": document.get("apiVersion"), "kind": kind.removesuffix("List")}
    for item in items:
        yield {**given, **item} if isinstance(item, dict) else item
