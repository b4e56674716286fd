"""API versions of one kind: the shape an object is stored in, and the shapes it is served in.

Objects are stored in one version. Where versions differ in more than their name (core events and those of
events.k8s.io), a conversion is registered for the pair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .custom.reading import converted
from .resources import ResourceType

JSON = dict[str, Any]
Convert = Callable[[JSON], JSON]

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""Annotation of daemon sets."""

# (storage key, api version served) -> conversions from and to the stored shape
FROM_STORED: dict[tuple[str, str], Convert] = {}
TO_STORED: dict[tuple[str, str], Convert] = {}


def to_served(resource: ResourceType, obj: JSON) -> JSON:
    """A stored object in the version of `resource`. Does not change `obj`."""
    if obj["apiVersion"] == resource.api_version:
        return obj
    if resource.custom:
        return converted(resource.schema or {}, obj, resource.api_version)
    convert = FROM_STORED.get((resource.storage, resource.api_version))
    shape = convert(obj) if convert else obj
    return {**shape, "kind": resource.kind, "apiVersion": resource.api_version}


def metadata_alone(obj: JSON) -> JSON:
    """The metadata of an object as it is sent without the object: as inside the real server, where the generation of a
    daemon set's template is no annotation.
    """
    metadata: JSON = obj["metadata"]
    annotations = metadata.get("annotations")
    if not annotations or obj["kind"] != "DaemonSet" or TEMPLATE_GENERATION not in annotations:
        return metadata
    others = {key: value for key, value in annotations.items() if key != TEMPLATE_GENERATION}
    return {**metadata, "annotations": others} if others else {k: v for k, v in metadata.items() if k != "annotations"}


def to_stored(resource: ResourceType, stored: ResourceType, obj: JSON) -> JSON:
    """An object in the version of `resource` in the shape of `stored`. Does not change `obj`."""
    if resource.api_version == stored.api_version:
        return obj
    convert = TO_STORED.get((resource.storage, resource.api_version))
    shape = convert(obj) if convert else obj
    return {**shape, "kind": stored.kind, "apiVersion": stored.api_version}
