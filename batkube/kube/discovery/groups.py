"""The groups and resources that the server says it serves: `/api`, `/apis` and below, in the old and the aggregated
form.

The old form is a document for each group and version (`k8s.io/apiserver/pkg/endpoints/discovery`). The aggregated form
has everything in two documents (`discovery/aggregated`), for clients whose Accept header asks for it.
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.status import ApiError, TextError
from ..codec.answers import HttpAnswer, answer_object
from ..codec.negotiation import SERVED, negotiate, parse_accept
from ..schema.resources import Registry, ResourceType

JSON = dict[str, Any]

AGGREGATED_GROUP = "apidiscovery.k8s.io"
AGGREGATED_KIND = "APIGroupDiscoveryList"
AGGREGATED_VERSION = "v2"  # v2beta1 is no longer served since Kubernetes 1.36
_AGGREGATED_TYPE = f"application/json;g={AGGREGATED_GROUP};v={AGGREGATED_VERSION};as={AGGREGATED_KIND}".encode()


def answer(registry: Registry, parts: list[str], accept: str) -> HttpAnswer:
    """Return the answer to a GET of `/api`, `/api/v1`, `/apis`, `/apis/GROUP` or `/apis/GROUP/VERSION`.

    The answer is 404 as text for a group that is not served, and as a Status for an unknown version of a served group.
    """
    if len(parts) == 1:
        if _wants_aggregated(accept):
            groups = [""] if parts == ["api"] else [group for group in registry.groups() if group]
            result = answer_object(200, aggregated(registry, groups))
            result.content_type = _AGGREGATED_TYPE
            return result
        document = api_versions() if parts == ["api"] else group_list(registry)
        return answer_object(200, document, negotiate(accept, forms=()))
    group = "" if parts[0] == "api" else parts[1]
    if parts[0] == "apis" and (group == "" or group not in registry.groups()):
        raise TextError.page_not_found()
    accepted = negotiate(accept, forms=())
    if parts[0] == "apis" and len(parts) == 2:
        return answer_object(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(registry, group)}, accepted)
    version = parts[-1]
    if len(parts) != (2 if parts[0] == "api" else 3) or version not in registry.versions(group):
        if registry.custom_group(group):
            raise TextError.page_not_found()
        raise ApiError.no_such_resource()
    return answer_object(200, resource_list(registry, group, version), accepted)


def _wants_aggregated(accept: str) -> bool:
    """Return True if the best form in the Accept header that can be served is aggregated discovery.

    Raise 406 if no form can be served.
    """
    for clause in parse_accept(accept):
        if clause.media_type not in SERVED and clause.media_type != "*/*":
            continue
        kind, version, group = clause.param("as"), clause.param("v"), clause.param("g")
        if not (kind or version or group):
            return False
        if (kind, version, group) == (AGGREGATED_KIND, AGGREGATED_VERSION, AGGREGATED_GROUP):
            return True
    return False


def api_versions() -> JSON:
    """Return the document of `/api`: the versions of the core group."""
    addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}


def group_list(registry: Registry) -> JSON:
    """Return the document of `/apis`: all groups but the core one."""
    groups = [_group(registry, group) for group in registry.groups() if group]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def _group(registry: Registry, group: str) -> JSON:
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in registry.versions(group)]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def resource_list(registry: Registry, group: str, version: str) -> JSON:
    """Return the document of `/apis/GROUP/VERSION`: its resources and their subresources, sorted by name."""
    rows: list[JSON] = []
    for resource in registry.resources(group, version):
        rows.append(_resource(resource))
        for name, sub in resource.subresources.items():
            row: JSON = {
                "name": f"{resource.plural}/{name}",
                "singularName": "",
                "namespaced": resource.namespaced,
            }
            if sub.version:
                row |= {"group": sub.group, "version": sub.version} if sub.group else {"version": sub.version}
            rows.append(row | {"kind": sub.kind, "verbs": list(sub.verbs)})
    api_version = f"{group}/{version}" if group else version
    document: JSON = {"kind": "APIResourceList"}
    if group:  # the core group's document has no apiVersion of its own
        document["apiVersion"] = "v1"
    return document | {"groupVersion": api_version, "resources": rows}


def _resource(resource: ResourceType) -> JSON:
    row: JSON = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    if resource.categories:
        row["categories"] = list(resource.categories)
    return row


def aggregated(registry: Registry, groups: list[str]) -> JSON:
    """Return all that is served of these groups, in one document."""
    items = [
        {
            "metadata": {"name": group} if group else {},
            "versions": [
                {
                    "version": version,
                    "resources": [_aggregated_resource(resource) for resource in registry.resources(group, version)],
                    "freshness": "Current",
                }
                for version in registry.versions(group)
            ],
        }
        for group in groups
    ]
    return {
        "kind": AGGREGATED_KIND,
        "apiVersion": f"{AGGREGATED_GROUP}/{AGGREGATED_VERSION}",
        "metadata": {},
        "items": items,
    }


def _aggregated_resource(resource: ResourceType) -> JSON:
    # The group and version of a kind are "" where they are those of the document, but not so of custom resources.
    own = (resource.group, resource.version) if resource.custom else ("", "")
    row: JSON = {
        "resource": resource.plural,
        "responseKind": {"group": own[0], "version": own[1], "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        row["shortNames"] = list(resource.short_names)
    if resource.categories:
        row["categories"] = list(resource.categories)
    if resource.subresources:
        row["subresources"] = [
            {
                "subresource": name,
                "responseKind": {
                    "group": sub.group if sub.version else own[0],
                    "version": sub.version or own[1],
                    "kind": sub.kind,
                },
                "verbs": list(sub.verbs),
            }
            for name, sub in resource.subresources.items()
        ]
    return row


__all__ = ["aggregated", "answer", "api_versions", "group_list", "resource_list"]
