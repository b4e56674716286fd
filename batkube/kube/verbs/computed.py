"""Resources whose objects are not stored: they are computed when somebody reads them, as by a server behind the
aggregation layer (metrics.k8s.io). They can be read alone or in lists, and not watched.

Others are stored, and brought up to date when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..apimachinery.status import ApiError
from ..schema.resources import ResourceType
from ..storage.selectors import parse_label_selector

JSON = dict[str, Any]

Compute = Callable[[str, str], Iterable[JSON]]
"""A function that returns the objects of a namespace ("": all) with a name ("": any)."""
Refresh = Callable[[str], None]
"""A function that writes what has changed of the objects of a namespace ("": all)."""


def computed_object(compute: Compute, resource: ResourceType, namespace: str, name: str) -> JSON:
    """Return one object. Raise 404 if there is none."""
    for obj in compute(namespace, name):
        return obj
    raise ApiError.not_found(resource.qualified, name)


def computed_list(compute: Compute, resource: ResourceType, namespace: str, label_selector: str) -> JSON:
    """Return the list of the objects that the selector selects."""
    selector = parse_label_selector(label_selector)
    items = [obj for obj in compute(namespace, "") if selector.matches(obj["metadata"].get("labels"))]
    kind = resource.list_kind or f"{resource.kind}List"
    return {"kind": kind, "apiVersion": resource.api_version, "metadata": {}, "items": items}
