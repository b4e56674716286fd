"""The paths of URLs: the resource, the object and the verb that they name (`RequestInfoFactory` of
k8s.io/apiserver).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..apimachinery.status import ApiError, TextError
from ..schema.resources import Registry, ResourceType


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """The request that a path names: a collection (name ""), an object, or a subresource of one."""

    resource: ResourceType
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()  # of a path behind `proxy`
    all_namespaces: bool = False
    watch: bool = False  # the old `/watch/` prefix


def request_info(registry: Registry, parts: list[str]) -> RequestInfo | None:
    """Return what a path asks for that is split at slashes: `["api", "v1", "pods"]`.

    Return None if it names no resource (discovery, health ...). Raise 404, in the words of the real server: text for an
    unknown group, a Status for an unknown resource.
    """
    if parts[0] == "api" and len(parts) > 2:
        group, version, rest = "", parts[1], parts[2:]
    elif parts[0] == "apis" and len(parts) > 3:
        group, version, rest = parts[1], parts[2], parts[3:]
    else:
        return None
    if not registry.has_group(group):
        raise TextError.page_not_found()
    watch = rest[0] == "watch" and len(rest) > 1
    if watch:
        rest = rest[1:]
    namespace, in_namespace = "", False
    if rest[0] == "namespaces" and len(rest) > 2 and not _namespace_subresource(group, rest):
        namespace, rest, in_namespace = rest[1], rest[2:], True
    resource = registry.lookup(group, version, rest[0])
    if resource is None:
        if registry.custom_group(group):
            raise TextError.page_not_found()
        raise ApiError.no_such_resource()
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if len(rest) > 3 and subresource != "proxy":
        raise ApiError.no_such_resource()
    if in_namespace and not resource.namespaced:
        raise TextError.page_not_found() if resource.custom else ApiError.no_such_resource()
    all_namespaces = resource.namespaced and not namespace
    if resource.custom and name and subresource == "status" and subresource not in resource.subresources:
        raise ApiError.not_found(resource.qualified, name)
    unnamed = name and not resource.storable and resource.verbs == ("create",)
    if unnamed or (all_namespaces and name) or (subresource and subresource not in resource.subresources):
        raise ApiError.no_such_resource()
    return RequestInfo(resource, namespace, name, subresource, tuple(rest[3:]), all_namespaces, watch)


_LONG_SUBRESOURCES = ("attach", "exec", "log", "portforward", "proxy")


def runs_long(parts: list[str], method: str, watch: bool) -> bool:
    """Return True for a watch (`watch`: its query says so), or a request that may stream.

    Such a request has no time limit (`BasicLongRunningRequestCheck`).
    """
    rest = parts[2:] if parts[0] == "api" else parts[3:] if parts[0] == "apis" else []
    if rest[:1] == ["watch"]:
        return True
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        rest = rest[2:]
    if len(rest) == 1:
        return method == "GET" and watch
    return len(rest) > 2 and rest[2] in _LONG_SUBRESOURCES


def _namespace_subresource(group: str, rest: list[str]) -> bool:
    """Return True if the path is about the namespace itself: `namespaces/x/status` or `namespaces/x/finalize`."""
    return group == "" and len(rest) == 3 and rest[2] in ("status", "finalize")
