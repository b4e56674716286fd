"""Invariants of a server, whatever it was asked: each gives a sentence where it does not hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import orjson

from batkube.kube.schema.resources import ResourceType
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import Collection, Version

JSON = Any
Content = dict[tuple[str, str], JSON]  # of a collection, by namespace and name

_COMPARED_BY_BYTES = ("controllerrevisions",)
"""Kinds of which kube-apiserver compares what was sent to the byte, and shows it without spaces: put back as read, it
refuses it.
"""

FORMS = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf,application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
)


def contents(server: ApiServer) -> dict[str, Content]:
    """Return what is stored, by storage key."""
    return {
        collection.storage: {version.key: version.obj for version in collection.select()}
        for collection in server.store.collections()
    }


def faults_of_store(server: ApiServer) -> Iterator[str]:
    """Objects are filed under their own names, dated by the store, told apart by uid, and end when they should."""
    uids: dict[str, str] = {}
    for collection in server.store.collections():
        for version in collection.select():
            where = f"{collection.storage} {'/'.join(version.key)}"
            metadata = version.obj["metadata"]
            if (metadata.get("namespace", ""), metadata["name"]) != version.key:
                yield f"{where}: it says {metadata.get('namespace')}/{metadata['name']} of itself"
            if bool(metadata.get("namespace")) != version.resource.namespaced:
                yield f"{where}: namespace {metadata.get('namespace')!r} of a kind whose scope is another"
            if metadata["resourceVersion"] != str(version.revision) or version.revision > server.store.revision:
                yield f"{where}: dated {metadata['resourceVersion']}, stored as {version.revision}"
            if (other := uids.setdefault(metadata["uid"], where)) != where:
                yield f"{where}: has the uid of {other}"
            marked, grace = metadata.get("deletionTimestamp"), metadata.get("deletionGracePeriodSeconds")
            held = metadata.get("finalizers") or (version.obj.get("spec") or {}).get("finalizers")
            if marked and not held and not grace:
                yield f"{where}: nothing holds it, and it has not ended"
            if marked is None and grace is not None:
                yield f"{where}: has a grace period without an end"


def faults_of_history(server: ApiServer, before: dict[str, Content], revision: int) -> Iterator[str]:
    """The changes since that revision make of what was there what is there now: what every watch lives by."""
    for collection in server.store.collections():
        if collection.forgotten > revision:
            continue
        state, last = dict(before.get(collection.storage, {})), revision
        for change in collection.since(revision):
            key, there = change.version.key, change.version.key in state
            if change.revision <= last:
                yield f"{collection.storage}: {change.revision} comes after {last}"
            if there == (change.type == "ADDED"):
                yield f"{collection.storage} {key}: {change.type} at {change.revision}, while {there=}"
            last = change.revision
            if change.type == "DELETED":
                state.pop(key, None)
            else:
                state[key] = change.version.obj
        if state != {version.key: version.obj for version in collection.select()}:
            yield f"{collection.storage}: its history does not lead to what is stored"


async def faults_of_answers(server: ApiServer, asking: httpx.AsyncClient) -> list[str]:
    """All that is stored can be read in every form, alone and in lists, and be put back as it is."""
    faults = []
    for collection in server.store.collections():
        versions = collection.select()
        resource = server.registry.by_name(collection.storage)
        if not versions or resource is None:
            continue
        faults += await _faults_of_lists(asking, resource, collection)
        for version in versions:
            if version.resource.custom and server.registry.lookup(*_path(version.resource)) is None:
                continue  # its definition does not serve that version any more
            faults += await _faults_of_object(asking, version)
    return faults


async def _faults_of_lists(asking: httpx.AsyncClient, resource: ResourceType, collection: Collection) -> list[str]:
    faults = []
    path, expected = _collection_path(resource), [version.key for version in collection.select()]
    for form in FORMS:
        answer = await asking.get(path, headers={"Accept": form})
        if answer.status_code != 200:
            faults.append(f"GET {path} as {form}: {answer.status_code} {answer.text[:200]}")
    listed = orjson.loads((await asking.get(path)).content)["items"]
    if [_key(item) for item in listed] != expected:
        faults.append(f"GET {path}: {[_key(item) for item in listed]}, stored {expected}")
    paged: list[JSON] = []
    query = {"limit": "2"}
    while True:
        page = orjson.loads((await asking.get(path, params=query)).content)
        paged += page["items"]
        if not page["metadata"].get("continue"):
            break
        query["continue"] = page["metadata"]["continue"]
    if paged != listed:
        faults.append(f"GET {path}: {len(paged)} objects in pages, {len(listed)} at once")
    return faults


async def _faults_of_object(asking: httpx.AsyncClient, version: Version) -> list[str]:
    path = _object_path(version)
    answer = await asking.get(path)
    if answer.status_code != 200:
        return [f"GET {path}: {answer.status_code} {answer.text[:200]}"]
    if "update" not in version.resource.verbs or version.resource.plural in _COMPARED_BY_BYTES:
        return []
    again = await asking.put(path, content=answer.content, headers={"Content-Type": "application/json"})
    if again.status_code != 200:
        return [f"PUT {path}, as it was read: {again.status_code} {again.text[:300]}"]
    if again.content != answer.content:
        return [f"PUT {path}, as it was read, changes it: {answer.text[:2000]} becomes {again.text[:2000]}"]
    return []


def _key(obj: JSON) -> tuple[str, str]:
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _path(resource: ResourceType) -> tuple[str, str, str]:
    return resource.group, resource.version, resource.plural


def _root(resource: ResourceType) -> str:
    return f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"


def _collection_path(resource: ResourceType) -> str:
    return f"{_root(resource)}/{resource.plural}"


def _object_path(version: Version) -> str:
    namespace, name = version.key
    scope = f"/namespaces/{namespace}" if namespace else ""
    return f"{_root(version.resource)}{scope}/{version.resource.plural}/{name}"
