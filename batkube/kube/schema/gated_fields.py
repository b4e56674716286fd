"""The fields that need a feature gate. If the gate is off they are dropped, unless the object had one of them before
(`dropDisabledFields` and similar functions in `pkg/api` and `pkg/registry` of Kubernetes).

Fields that a scheduler knows only in an alpha release disturb other schedulers. The group of a pod (`schedulingGroup`)
is the only one that is always kept, as pod groups are always served: gang schedulers need it, and others ignore it.
`paths` of a gate begin at the object; `[]` are all items of a list, `{}` all values of a map.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

from .gates import (
    CONTAINER_STOP_SIGNALS,
    IMAGE_VOLUME_DIGEST,
    LIST_ATTRIBUTES,
    NODE_ALLOCATABLE,
    POD_CERTIFICATES,
    TRUST_BUNDLES,
    VOLUME_LIMIT_SCALING,
)

JSON = dict[str, Any]

_ALL_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_ALL_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
_OF_POD_SPECS = {
    CONTAINER_STOP_SIGNALS: [f"{containers}[].lifecycle.stopSignal" for containers in _ALL_CONTAINERS],
    TRUST_BUNDLES: ["volumes[].projected.sources[].clusterTrustBundle"],
    POD_CERTIFICATES: ["volumes[].projected.sources[].podCertificate"],
}
_POD_SPECS = {
    "pods": "spec",
    "podtemplates": "template.spec",
    "replicationcontrollers": "spec.template.spec",
    "replicasets.apps": "spec.template.spec",
    "deployments.apps": "spec.template.spec",
    "daemonsets.apps": "spec.template.spec",
    "statefulsets.apps": "spec.template.spec",
    "jobs.batch": "spec.template.spec",
    "cronjobs.batch": "spec.jobTemplate.spec.template.spec",
}
_OTHERS = {
    "pods": {
        IMAGE_VOLUME_DIGEST: [f"status.{statuses}[].volumeMounts[].volumeStatus" for statuses in _ALL_STATUSES],
        NODE_ALLOCATABLE: ["status.nodeAllocatableResourceClaimStatuses"],
    },
    "resourceslices.resource.k8s.io": {
        NODE_ALLOCATABLE: ["spec.devices[].nodeAllocatableResourceMappings"],
        LIST_ATTRIBUTES: [f"spec.devices[].attributes{{}}.{kind}s" for kind in ("bool", "int", "string", "version")],
    },
    "csidrivers.storage.k8s.io": {VOLUME_LIMIT_SCALING: ["spec.preventPodSchedulingIfMissing"]},
}
_IF_EMPTY_TOO = ("lifecycle",)  # dropped as well where nothing else is in it

_Paths = tuple[tuple[str, ...], ...]


def drop_disabled(storage: str, new: JSON, old: JSON | None, gates: Collection[str]) -> None:
    """Drop from `new` the fields whose gate is off, unless `old` has one of them."""
    for gate, paths in _fields_of(storage):
        if gate not in gates and (old is None or not any(_found(old, path) for path in paths)):
            for path in paths:
                _drop(new, path)


@cache
def _fields_of(storage: str) -> tuple[tuple[str, _Paths], ...]:
    """Return the gates that the fields of a kind need, and the paths of these fields."""
    fields: dict[str, list[str]] = {}
    if at := _POD_SPECS.get(storage):
        fields = {gate: [f"{at}.{path}" for path in paths] for gate, paths in _OF_POD_SPECS.items()}
    fields |= _OTHERS.get(storage, {})
    return tuple((gate, tuple(map(_steps, paths))) for gate, paths in fields.items())


def _steps(path: str) -> tuple[str, ...]:
    return tuple(path.replace("[]", ".[]").replace("{}", ".{}").split("."))


def _holders(value: Any, steps: tuple[str, ...]) -> Iterator[JSON]:
    """Yield the objects that a path's last field would be in."""
    if not steps:
        if isinstance(value, dict):
            yield value
    elif steps[0] in ("[]", "{}"):
        items = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
        for item in items:
            yield from _holders(item, steps[1:])
    elif isinstance(value, dict) and (inner := value.get(steps[0])):
        yield from _holders(inner, steps[1:])


def _found(obj: JSON, path: tuple[str, ...]) -> bool:
    return any(holder.get(path[-1]) is not None for holder in _holders(obj, path[:-1]))


def _drop(obj: JSON, path: tuple[str, ...]) -> None:
    *above, holder, field = path
    if holder not in _IF_EMPTY_TOO:
        for each in _holders(obj, path[:-1]):
            each.pop(field, None)
        return
    for each in _holders(obj, tuple(above)):
        inner = each.get(holder)
        if inner and inner.pop(field, None) is not None and not inner:
            del each[holder]
