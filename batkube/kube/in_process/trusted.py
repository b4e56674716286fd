"""The writes of a caller in this process who knows the stored form: without decoding, admission and checks each time.

An object of a client is read into its type, defaulted, admitted and checked, at each write. A caller that writes
thousands of objects of one form from within, such as the kubelet's part, makes them in the stored form. The writes here
leave the same objects, versions and watch events as those of `ApiServer`, as long as the caller keeps its promises. If
more depends on a write than the object itself, it goes the long way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..admission.limit_ranger import LIMIT_RANGES
from ..admission.resource_quota import QUOTAS
from ..admission.runtime_class import RUNTIME_CLASSES
from ..kinds.core.namespaces import NAMESPACES
from ..kinds.policy import PRIORITY_CLASSES
from ..schema.resources import ResourceType
from ..storage.store import Writer
from ..verbs.api import Api

JSON = dict[str, Any]

PREMISES = (
    NAMESPACES,
    PRIORITY_CLASSES,
    RUNTIME_CLASSES,
    LIMIT_RANGES,
    QUOTAS,
)
"""The storage keys of all objects that the rules for new pods read."""
_SYSTEM = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
_MOULDS = 1024


@dataclass(frozen=True, slots=True)
class _Mould:
    """The result for the first object of a form."""

    premises: tuple[int, ...]
    spec: JSON
    status: JSON
    after: JSON
    """The metadata that the rules have added after those that were sent."""
    writer: Writer


class TrustedWrites:
    """The writes into the store of ``api``. `create` and `update` are the ordinary ones."""

    def __init__(self, api: Api, create: Callable[..., JSON], update: Callable[..., JSON]) -> None:
        self._api = api
        self._create = create
        self._update = update
        self._premised = [api.store.collection(storage) for storage in PREMISES]
        self._moulds: OrderedDict[tuple[str, bytes], _Mould] = OrderedDict()

    def create_pod(self, pod: JSON, namespace: str, *, plain: Sequence[str] = ()) -> JSON:
        """Create a pod. A pod whose spec is that of an earlier pod gets the same result.

        The caller promises: the metadata are a valid name, labels and annotations, not empty, in the stored form, and
        no annotation means anything to the API server. `plain` are fields of the spec with valid values that are stored
        as they are and that no rule reads. Raise ApiError if the pod is refused.
        """
        resource = self._api.registry.named("pods")
        metadata, spec = pod["metadata"], pod["spec"]
        common = {**spec, **{name: None for name in plain if name in spec}}
        form = (namespace, orjson.dumps(common))
        mould = self._moulds.get(form)
        store = self._api.store
        if mould is None or mould.premises != self._premises() or store.get("pods", namespace, metadata["name"]):
            made: JSON = self._create("pods", pod, namespace)
            self._keep(form, resource, made, metadata)
            return made
        self._moulds.move_to_end(form)
        now = self._api.clock.seconds()
        new = {
            "metadata": {
                "name": metadata["name"],
                "namespace": namespace,
                "uid": self._api.identities.uid(resource.storage, namespace, metadata["name"]),
                "resourceVersion": "",
                "creationTimestamp": now,
                **{key: value for key, value in metadata.items() if key not in _SYSTEM},
                **mould.after,
            },
            "spec": {**mould.spec, **{name: spec[name] for name in plain if name in spec}},
            "status": mould.status,
        }
        manager, version, _ = mould.writer
        return store.put(resource, new, (manager, version, now)).obj

    def set_status(self, resource: str, name: str, status: JSON, namespace: str = "") -> JSON:
        """Set the status of an object. Return the stored object, which is the old one if nothing changes.

        The caller promises: the object exists, and the status is valid, in the stored form, and has all fields of the
        old status that a client may not remove.
        """
        kind = self._api.registry.named(resource)
        current = self._api.stored(kind, namespace, name)
        old = current.obj
        metadata = old["metadata"]
        if kind.custom or "deletionTimestamp" in metadata or "managedFields" in metadata:
            changed: JSON = self._update(resource, {**old, "status": status}, "status", verbatim=("startTime",))
            return changed
        if status == old["status"]:
            return old
        # In the order in which a client's write to /status leaves the members.
        others = {key: value for key, value in old.items() if key not in ("kind", "apiVersion", "metadata", "status")}
        return self._api.store.put(kind, {"metadata": dict(metadata), "status": status, **others}).obj

    def _premises(self) -> tuple[int, ...]:
        """Return what the rules for new pods read, by the revisions of its last changes."""
        return tuple([collection.newest for collection in self._premised])

    def _keep(self, form: tuple[str, bytes], resource: ResourceType, made: JSON, sent: JSON) -> None:
        """Keep the result for a pod, unless it depends on more than its form."""
        spec, status, metadata = made["spec"], made["status"], made["metadata"]
        version = self._api.store.version(resource.storage, metadata["namespace"], metadata["name"])
        hangs_on_labels = spec.get("affinity") or spec.get("topologySpreadConstraints")
        counted = len(self._api.store.collection(QUOTAS)) > 0
        changed = any(metadata.get(key) != value for key, value in sent.items())
        if hangs_on_labels or counted or changed or "conditions" in status or version is None or not version.writer:
            return
        after = {key: value for key, value in metadata.items() if key not in _SYSTEM and key not in sent}
        self._moulds[form] = _Mould(self._premises(), spec, status, after, version.writer)
        if len(self._moulds) > _MOULDS:
            self._moulds.popitem(last=False)
