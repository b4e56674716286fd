"""The API versions of one kind: the form in which an object is stored, and the forms in which it is served.

Objects are stored in one version. If versions differ in more than their name (core events and those of events.k8s.io),
a conversion is registered for the pair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..schema.resources import ResourceType
from .custom_objects import converted

JSON = dict[str, Any]
Convert = Callable[[JSON], JSON]

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
"""The annotation of daemon sets with the generation of their template."""

# (storage key, api version served) -> conversions from and to the stored shape
FROM_STORED: dict[tuple[str, str], Convert] = {}
TO_STORED: dict[tuple[str, str], Convert] = {}


def to_served(resource: ResourceType, obj: JSON) -> JSON:
    """Return a stored object in the version of `resource`. `obj` is not changed."""
    if obj["apiVersion"] == resource.api_version:
        return obj
    if resource.custom:
        return converted(resource.schema or {}, obj, resource.api_version)
    convert = FROM_STORED.get((resource.storage, resource.api_version))
    shape = convert(obj) if convert else obj
    return {**shape, "kind": resource.kind, "apiVersion": resource.api_version}


def metadata_alone(obj: JSON) -> JSON:
    """Return the metadata of an object as they are sent without the object.

    As inside the real server the generation of a daemon set's template is not an annotation.
    """
    metadata: JSON = obj["metadata"]
    annotations = metadata.get("annotations")
    if not annotations or obj["kind"] != "DaemonSet" or TEMPLATE_GENERATION not in annotations:
        return metadata
    others = {key: value for key, value in annotations.items() if key != TEMPLATE_GENERATION}
    return {**metadata, "annotations": others} if others else {k: v for k, v in metadata.items() if k != "annotations"}


def to_stored(resource: ResourceType, stored: ResourceType, obj: JSON) -> JSON:
    """Return an object of the version of `resource` in the form of `stored`. `obj` is not changed."""
    if resource.api_version == stored.api_version:
        return obj
    convert = TO_STORED.get((resource.storage, resource.api_version))
    shape = convert(obj) if convert else obj
    return {**shape, "kind": stored.kind, "apiVersion": stored.api_version}
