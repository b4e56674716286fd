"""The OpenAPI documents of the server: `/openapi/v3`, a document for each API version (and `openapi_v2.py`).

kubectl reads them before it creates or applies objects (to learn if the server checks fields itself), and to explain
kinds. The schemas are Kubernetes' own, packed in `schema/openapi.json.xz`. The paths follow from the served resources,
so that custom resources are included.
"""

from __future__ import annotations

import lzma
from functools import cache
from hashlib import blake2b
from typing import Any

import orjson

from ..codec.answers import HttpAnswer, answer_object
from ..schema import read_bytes
from ..schema.api_types import type_of
from ..schema.resources import Registry, ResourceType
from ..verbs.request_options import Query

JSON = dict[str, Any]

REFERENCE = "#/components/schemas/"
_GROUP_VERSION_KIND = "x-kubernetes-group-version-kind"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
INFO = {"title": "Kubernetes", "version": "unversioned"}
_BODY_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
_PATCH_TYPES = ("application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json")
_STRATEGIC = "application/strategic-merge-patch+json"


def answer(registry: Registry, parts: list[str], accept: str, query: Query) -> HttpAnswer:
    """Return the answer to a GET below `/openapi`: 404 without a text for a document that does not exist."""
    if parts == ["openapi", "v3"]:
        result = answer_object(200, index(registry))
        result.content_type = b"text/plain; charset=utf-8"  # as the real server has it
        return result
    if parts[:2] == ["openapi", "v3"]:
        for group, version in versions(registry):
            if parts[2:] == _path(group, version).split("/"):
                return answer_object(200, document(registry, group, version))
        if "/".join(parts[2:]) in _roots(registry):
            return answer_object(200, {"openapi": "3.0.0", "info": INFO, "paths": {}})
    return HttpAnswer(404, b"", b"")


def index(registry: Registry) -> JSON:
    """Return the list of documents. The hash in a URL changes with the content, so that clients can cache it."""
    paths = {path: {"serverRelativeURL": f"/openapi/v3/{path}?hash={_hash(path)}"} for path in _roots(registry)}
    for group, version in versions(registry):
        path = _path(group, version)
        described = [
            [resource.plural, resource.kind, resource.verbs, list(resource.subresources), resource.schema]
            for resource in registry.resources(group, version)
        ]
        digest = _hash(path, orjson.dumps(described, option=orjson.OPT_SORT_KEYS))
        paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
    return {"paths": dict(sorted(paths.items()))}


def _roots(registry: Registry) -> list[str]:
    """Return the paths of the documents that describe discovery itself, without any schemas of kinds."""
    return ["version", "api", "apis", *(f"apis/{group}" for group in registry.groups() if group)]


def versions(registry: Registry) -> list[tuple[str, str]]:
    """Return the group and version of all that is served."""
    return [(group, version) for group in registry.groups() for version in registry.versions(group)]


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _hash(*parts: str | bytes) -> str:
    digest = blake2b(digest_size=64)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
    return digest.hexdigest().upper()


@cache
def _packed() -> Any:
    """Return the schemas and parameters of the data file. They must not be changed."""
    return orjson.loads(lzma.decompress(read_bytes("openapi.json.xz")))


def document(registry: Registry, group: str, version: str) -> JSON:
    """Return the OpenAPI v3 document of an API version: a path for each resource, and the schemas that they
    refer to.
    """
    paths: JSON = {}
    schemas: JSON = {}
    for resource in registry.resources(group, version):
        for kind in (resource.kind, resource.list_kind):
            _collect(_schema_name(resource, kind), schemas)
        if resource.custom:
            schemas.update(_custom_schemas(resource, schemas))
        for name in resource.subresources:
            _collect(_type_schema(resource.api_version_of(name), resource.kind_of(name)), schemas)
        paths.update(_paths(resource))
    for name in (f"{_META}.Patch", f"{_META}.DeleteOptions", f"{_META}.Status"):
        _collect(name, schemas)
    return {
        "openapi": "3.0.0",
        "info": INFO,
        "paths": paths,
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _schema_name(resource: ResourceType, kind: str) -> str:
    """Return the name of the schema of a kind: `io.k8s.api.core.v1.Pod`; for a custom resource
    `com.example.v1.Widget`.
    """
    if resource.custom:
        return ".".join([*reversed(resource.group.split(".")), resource.version, kind])
    return _type_schema(resource.api_version, kind)


def _type_schema(api_version: str, kind: str) -> str:
    """Return the name of the schema of a built-in kind."""
    folder, _, name = (type_of(api_version, kind) or "").rpartition(".")
    where = {
        "apiextensions/v1": "io.k8s.apiextensions-apiserver.pkg.apis.",
        "apiregistration/v1": "io.k8s.kube-aggregator.pkg.apis.",
        "meta/v1": "io.k8s.apimachinery.pkg.apis.",
    }.get(folder, "io.k8s.api.")
    return f"{where}{folder.replace('/', '.')}.{name}"


def _collect(name: str, into: JSON) -> None:
    """Add a schema and all schemas that it refers to."""
    packed = _packed()["schemas"]
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in into and name in packed:
            into[name] = packed[name]
            waiting.extend(references(packed[name]))


def references(value: Any) -> list[str]:
    """Return the names of the schemas that a schema refers to."""
    found = []
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            found.append(reference.removeprefix(REFERENCE))
        for item in value.values():
            found.extend(references(item))
    elif isinstance(value, list):
        for item in value:
            found.extend(references(item))
    return found


def _custom_schemas(resource: ResourceType, schemas: JSON) -> JSON:
    """Return the schema of a definition, with the fields of all objects, and the schema of its list."""
    meta = f"{_META}.ObjectMeta"
    _collect(meta, schemas)
    _collect(f"{_META}.ListMeta", schemas)
    typed = {
        name: _packed()["schemas"][f"{_META}.DeleteOptions"]["properties"][name] for name in ("apiVersion", "kind")
    }
    own: JSON = resource.schema or {}
    properties = {**(own.get("properties") or {}), **typed, "metadata": _described_reference(meta)}
    schema = {**own, "type": "object", "properties": properties, _GROUP_VERSION_KIND: [_kind(resource, resource.kind)]}
    name = _schema_name(resource, resource.kind)
    items = {"type": "array", "items": {"$ref": REFERENCE + name}}
    its_list = {
        "description": f"{resource.list_kind} is a list of {resource.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {**typed, "items": items, "metadata": _described_reference(f"{_META}.ListMeta")},
        _GROUP_VERSION_KIND: [_kind(resource, resource.list_kind)],
    }
    return {name: schema, _schema_name(resource, resource.list_kind): its_list}


def _described_reference(name: str) -> JSON:
    return {"allOf": [{"$ref": REFERENCE + name}], "default": {}}


def _kind(resource: ResourceType, kind: str) -> JSON:
    return {"group": resource.group, "version": resource.version, "kind": kind}


def _paths(resource: ResourceType) -> JSON:
    """Return the paths of a resource with their operations."""
    prefix = "/" + _path(resource.group, resource.version)
    own = (
        f"{prefix}/namespaces/{{namespace}}/{resource.plural}" if resource.namespaced else f"{prefix}/{resource.plural}"
    )
    in_namespace = [_path_parameter("namespace")] if resource.namespaced else []
    named = [_path_parameter("name"), *in_namespace]
    collection: dict[str, JSON | None] = {
        "get": _operation(resource, "list"),
        "post": _operation(resource, "create"),
        "delete": _operation(resource, "deletecollection"),
    }
    single: dict[str, JSON | None] = {
        "get": _operation(resource, "get"),
        "put": _operation(resource, "update"),
        "patch": _operation(resource, "patch"),
        "delete": _operation(resource, "delete"),
    }
    paths: JSON = {own: {**_offered(collection), "parameters": in_namespace}}
    if resource.namespaced and "list" in resource.verbs:
        paths[f"{prefix}/{resource.plural}"] = {"get": _operation(resource, "list"), "parameters": []}
    if _offered(single):
        paths[f"{own}/{{name}}"] = {**_offered(single), "parameters": named}
    if "status" in resource.subresources:
        del single["delete"]
        paths[f"{own}/{{name}}/status"] = {**_offered(single), "parameters": named}
    return paths


def _offered(operations: dict[str, JSON | None]) -> dict[str, JSON]:
    return {method: operation for method, operation in operations.items() if operation is not None}


def _path_parameter(name: str) -> JSON:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "uniqueItems": True}}


def _operation(resource: ResourceType, verb: str) -> JSON | None:
    if verb not in resource.verbs:
        return None
    kind = resource.list_kind if verb == "list" else resource.kind
    answered = _contents(_schema_name(resource, kind), _BODY_TYPES)
    operation: JSON = {"x-kubernetes-action": verb, _GROUP_VERSION_KIND: _kind(resource, resource.kind)}
    if verb != "get":
        operation["parameters"] = _packed()["parameters"][verb]
    if verb in ("create", "update"):
        operation["requestBody"] = {"content": _contents(_schema_name(resource, kind), ("*/*",)), "required": True}
    if verb == "patch":
        types = _PATCH_TYPES if resource.custom else (*_PATCH_TYPES, _STRATEGIC)
        operation["requestBody"] = {"content": _contents(f"{_META}.Patch", types), "required": True}
    operation["responses"] = {"200": {"description": "OK", "content": answered}}
    return operation


def _contents(schema: str, types: tuple[str, ...]) -> JSON:
    return {name: {"schema": {"$ref": REFERENCE + schema}} for name in types}
