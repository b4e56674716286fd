"""What the server says it serves: /api, /apis and below."""

from __future__ import annotations

from typing import Any

from .answers import Answer, answer_json
from .resources import Registry
from .status import TextError

JSON = dict[str, Any]


def answer(registry: Registry, parts: list[str], accept: str) -> Answer:
    """The answer to a GET of `/api`, `/api/v1`, `/apis`, `/apis/GROUP` or `/apis/GROUP/VERSION`."""
    if parts == ["api"]:
        return answer_json(200, {"kind": "APIVersions", "versions": ["v1"]})
    if parts == ["apis"]:
        groups = [_group(registry, group) for group in registry.groups() if group]
        return answer_json(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
    group = "" if parts[0] == "api" else parts[1]
    version = parts[-1] if parts[0] == "api" or len(parts) == 3 else ""
    if not version:
        if group not in registry.groups():
            raise TextError.page_not_found()
        return answer_json(200, {"kind": "APIGroup", "apiVersion": "v1", **_group(registry, group)})
    resources: list[JSON] = []
    for resource in registry.resources(group, version):
        shown: JSON = {
            "name": resource.plural,
            "singularName": resource.singular,
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(resource.verbs),
        }
        if resource.short_names:
            shown["shortNames"] = list(resource.short_names)
        resources.append(shown)
    if not resources:
        raise TextError.page_not_found()
    name = f"{group}/{version}" if group else version
    return answer_json(
        200, {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": resources}
    )


def _group(registry: Registry, group: str) -> JSON:
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in registry.versions(group)]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}
