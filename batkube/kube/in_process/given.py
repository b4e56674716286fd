"""The objects that somebody has in files: as people write them, and as `kubectl get -o yaml` does.

They are created in any order, again and again until no more are accepted. Objects that exist are updated, as `kubectl
apply` would. Fields that another cluster set (uids, versions, addresses of its services) are left out or replaced. The
status is taken over, so that a running pod stays running.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from ..apimachinery.deep_copy import deep_copy
from ..apimachinery.status import ApiError
from ..codec import typed
from ..custom import old_definitions
from ..custom.definitions import STORAGE as DEFINITIONS
from ..schema.resources import ResourceType
from ..storage.store import Version
from ..verbs.api import Api
from ..verbs.create import create
from ..verbs.delete import delete
from ..verbs.request_options import DeleteOptions, WriteOptions
from ..verbs.update import update
from ..verbs.write import Write

JSON = dict[str, Any]
Told = list[tuple[int, str]]

# Metadata that the server alone sets: those of another cluster mean nothing here.
_FOREIGN = (
    *("uid", "resourceVersion", "generation", "creationTimestamp", "selfLink", "managedFields"),
    *("deletionTimestamp", "deletionGracePeriodSeconds"),
)
_JOB_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")


class NotTaken(Exception):
    """A refusal of the object at `index` that no other object can change."""

    def __init__(self, index: int, error: ApiError) -> None:
        super().__init__(error.message)
        self.index = index
        self.error = error


class _OwnerMissing(ApiError):
    """An object that names the uid of an object that does not exist yet."""


class Given:
    """The objects that a cluster is given. `put_back` gives all of them again to a cluster that was emptied."""

    def __init__(self, api: Api) -> None:
        self.holds_workloads = False
        """True if pods, and what controllers make pods of, come only with `release`: there are no nodes yet."""
        self._api = api
        self._objects: list[JSON] = []
        # By storage, namespace and name: of two of one name the last counts.
        self._held: dict[tuple[str, str, str], tuple[ResourceType, JSON, Any]] = {}

    def take(self, objects: Sequence[JSON]) -> Told:
        """Create or update the objects, each with a kind and an apiVersion. Return the warnings, by index.

        Raise NotTaken for the first object that no other object can help.
        """
        told = self._take(objects)
        self._objects += objects
        return told

    def put_back(self) -> None:
        """Create all objects once more."""
        self._held.clear()
        self._take(self._objects)

    def release(self) -> None:
        """Create what was held back, owners before their pods. Raise ApiError if one is refused now."""
        held, self._held = self._held, {}
        for (_, namespace, _), (resource, obj, status) in sorted(held.items(), key=lambda each: each[0][0] == "pods"):
            version = create(Write.of(self._api, resource, namespace), obj)
            if status:
                self._say_status(resource, version, status, [])

    def submit(self, obj: JSON, *, dry_run: bool = False) -> list[str]:
        """Create an object at once, or bring it up to date, in a namespace that is made where it does not exist.

        With `dry_run` it is only checked. Return the warnings. Raise ApiError.
        """
        api, warnings = self._api, list[str]()
        resource = api.registry.by_kind(obj["apiVersion"], obj["kind"])
        if resource is None or not resource.storable:
            raise ApiError.no_such_resource()
        uid = _metadata(obj).get("uid")
        native = typed.decode(resource, _native(obj, uid, {}), "Warn", warnings)
        metadata = native.get("metadata") or {}
        namespace = (metadata.get("namespace") or "default") if resource.namespaced else ""
        if dry_run:
            create(Write.of(api, resource, namespace, options=WriteOptions(dry_run=True), warnings=warnings), native)
            return warnings
        if namespace and api.store.get("namespaces", "", namespace) is None:
            create(Write.of(api, api.registry.named("namespaces")), {"metadata": {"name": namespace}})
        name = metadata.get("name") or ""
        if name and api.store.version(resource.storage, namespace, name) is not None:
            self._update(resource, namespace, name, native, warnings)
        else:
            self._create(resource, namespace, native, warnings)
        return warnings

    def _take(self, objects: Sequence[JSON]) -> Told:
        told: Told = []
        uids: dict[str, str] = {uid: "" for obj in objects if (uid := _metadata(obj).get("uid"))}
        waiting = list(enumerate(objects))
        while waiting:
            refused: list[tuple[int, JSON, ApiError]] = []
            for index, obj in waiting:
                warnings: list[str] = []
                try:
                    self._put(obj, uids, warnings)
                except ApiError as error:
                    refused.append((index, obj, error))
                else:
                    told += [(index, warning) for warning in dict.fromkeys(warnings)]
            if len(refused) == len(waiting) and not self._help(refused, uids, told):
                index, _, why = refused[0]
                raise NotTaken(index, why)
            waiting = [(index, obj) for index, obj, _ in refused]
        return sorted(told, key=lambda each: each[0])

    def _help(self, refused: list[tuple[int, JSON, ApiError]], uids: dict[str, str], told: Told) -> bool:
        """Help one of the objects in: create a namespace that no object brings, or stop waiting for uids."""
        for index, obj, _ in refused:
            namespace = _metadata(obj).get("namespace")
            if isinstance(namespace, str) and self._api.store.get("namespaces", "", namespace) is None:
                resource = self._api.registry.named("namespaces")
                try:
                    create(Write.of(self._api, resource), {"metadata": {"name": namespace}})
                except ApiError:
                    continue
                told.append((index, f"namespace {namespace} is in no file, and is made"))
                return True
        if any(isinstance(error, _OwnerMissing) for _, _, error in refused):
            uids.update({uid: uid for uid, new in uids.items() if not new})
            return True
        return False

    def _put(self, given: JSON, uids: dict[str, str], warnings: list[str]) -> None:
        api = self._api
        if given.get("kind") == "CustomResourceDefinition" and given.get("apiVersion") == old_definitions.API_VERSION:
            given = old_definitions.modernized(given)
        resource = api.registry.by_kind(given["apiVersion"], given["kind"])
        if resource is None or not resource.storable:
            raise ApiError.no_such_resource()
        old_uid = _metadata(given).get("uid")
        obj = _native(given, old_uid, uids)
        obj = typed.decode(resource, obj, "Warn", warnings)
        metadata = obj.get("metadata") or {}
        namespace = (metadata.get("namespace") or "default") if resource.namespaced else ""
        name = metadata.get("name") or ""
        status = obj.get("status")
        if self.holds_workloads and _is_workload(resource):
            dry = Write.of(api, resource, namespace, options=WriteOptions(dry_run=True), warnings=warnings)
            create(dry, deep_copy(obj))
            if old_uid:
                uids[old_uid] = api.identities.uid(resource.storage, namespace, name)
            self._held[resource.storage, namespace, name or f"number {len(self._held)}"] = resource, obj, status
            return
        if api.store.version(resource.storage, namespace, name) is None:
            version = self._create(resource, namespace, obj, warnings)
        else:
            version = self._update(resource, namespace, name, obj, warnings)
        if old_uid:
            uids[old_uid] = version.obj["metadata"]["uid"]
        if status and "status" in resource.subresources and resource.storage != DEFINITIONS:
            self._say_status(resource, version, status, warnings)

    def _create(self, resource: ResourceType, namespace: str, obj: JSON, warnings: list[str]) -> Version:
        api = self._api
        made = create(Write.of(api, resource, namespace, warnings=warnings), deep_copy(obj))
        if resource.storage != DEFINITIONS:
            return made
        name = made.key[1]
        served = api.stored(resource, "", name)
        for condition in served.obj["status"]["conditions"]:
            if condition["status"] == "False":
                delete(Write.of(api, resource, "", name), DeleteOptions())
                raise ApiError.conflict(resource.qualified, name, condition["message"])
        return served

    def _update(self, resource: ResourceType, namespace: str, name: str, obj: JSON, warnings: list[str]) -> Version:
        """Bring a stored object up to date, as far as its kind allows it."""
        api = self._api
        current = api.stored(resource, namespace, name)
        obj = deep_copy(obj)
        obj.setdefault("metadata", {})["resourceVersion"] = current.obj["metadata"]["resourceVersion"]
        try:
            version, _ = update(Write.of(api, resource, namespace, name, warnings=warnings), obj)
        except ApiError as refused:
            warnings.append(f"{resource.kind} {name} is there already, and stays as it is: {refused.message}")
            return current
        return version

    def _say_status(self, resource: ResourceType, version: Version, status: Any, warnings: list[str]) -> None:
        api, (namespace, name) = self._api, version.key
        current = deep_copy(version.obj)
        if current.get("status") == status:
            return
        try:
            said = typed.decode(resource, {**current, "apiVersion": resource.api_version, "status": status})
            update(Write.of(api, resource, namespace, name, "status"), said)
        except ApiError as refused:
            warnings.append(f"the status of {resource.kind} {name} is left out: {refused.message}")


def _native(given: JSON, own_uid: str | None, uids: dict[str, str]) -> JSON:
    """Return a copy of the object as it could be created in this cluster.

    Fields that the server sets are left out. Uids of other objects become the uids that these objects have here. Raise
    ApiError if one of these objects does not exist yet.
    """
    obj = deep_copy(given)
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        for name in _FOREIGN:
            metadata.pop(name, None)
    spec = obj.get("spec")
    if isinstance(spec, dict) and own_uid:
        if obj["kind"] == "Job" and not spec.get("manualSelector"):
            spec.pop("selector", None)  # the server makes it, of the uid
            for labels in _labels(obj, spec.get("template")):
                for name in _JOB_LABELS:
                    labels.pop(name, None)
        elif obj["kind"] == "Service" and spec.get("clusterIP") not in (None, "", "None"):
            for name in ("clusterIP", "clusterIPs"):  # of the other cluster's range
                spec.pop(name, None)
    if not uids:
        return obj
    text = orjson.dumps(obj)
    named = [uid for uid in uids if uid != own_uid and orjson.dumps(uid) in text]
    if any(not uids[uid] for uid in named):
        raise _OwnerMissing(404, "NotFound", "it names the uid of an object that could not be made")
    for uid in named:
        text = text.replace(orjson.dumps(uid), orjson.dumps(uids[uid]))
    replaced: JSON = orjson.loads(text)
    return replaced


def _is_workload(resource: ResourceType) -> bool:
    """Tell whether objects of the kind are pods, or become pods."""
    return resource.group in ("apps", "batch") or resource.storage in ("pods", "replicationcontrollers")


def _labels(*objects: Any) -> Iterator[JSON]:
    for obj in objects:
        labels = _metadata(obj).get("labels") if isinstance(obj, dict) else None
        if isinstance(labels, dict):
            yield labels


def _metadata(obj: JSON) -> JSON:
    metadata = obj.get("metadata")
    return metadata if isinstance(metadata, dict) else {}
