"""Nodes, namespaces, events, leases, and kinds that hold configuration."""

from __future__ import annotations

from typing import Any

from ..ages import UNKNOWN, Ages
from .text import JSON, NONE, UNSET, Cells, age, condition, more, name, name_and_age, spec, status

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def node(obj: JSON, ages: Ages) -> list[Any]:
    ready = condition(obj, "Ready")
    states = ["Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"]
    if spec(obj).get("unschedulable"):
        states.append("SchedulingDisabled")
    info = status(obj).get("nodeInfo") or {}
    kernel = info.get("kernelVersion") or UNKNOWN
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        name(obj),
        ",".join(states),
        ",".join(_roles(obj)) or NONE,
        age(obj, ages),
        info.get("kubeletVersion", ""),
        _address(obj, "InternalIP"),
        _address(obj, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        kernel,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _roles(obj: JSON) -> list[str]:
    roles = set()
    for key, value in (obj["metadata"].get("labels") or {}).items():
        if key.startswith(_ROLE_PREFIX):
            roles.add(key.removeprefix(_ROLE_PREFIX))
        elif key == _ROLE_LABEL:
            roles.add(value)
    return sorted(roles - {""})


def _address(obj: JSON, its_type: str) -> str:
    addresses = status(obj).get("addresses") or ()
    return next((each.get("address", "") for each in addresses if each.get("type") == its_type), NONE)


def namespace(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), status(obj).get("phase", ""), age(obj, ages)]


def event(obj: JSON, ages: Ages) -> list[Any]:
    """Return the cells of an event in the form of core/v1."""
    first = ages.since(obj.get("firstTimestamp") or obj.get("eventTime"))
    last = ages.since(obj["lastTimestamp"]) if obj.get("lastTimestamp") else first
    count = obj.get("count") or 1
    series = obj.get("series")
    if series is not None:
        last, count = ages.since(series.get("lastObservedTime")), series.get("count", 0)
    about = obj.get("involvedObject") or {}
    target = about.get("kind", "").lower() + (f"/{about['name']}" if about.get("name") else "")
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    instance = source.get("host") or obj.get("reportingInstance") or ""
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        target,
        about.get("fieldPath", ""),
        f"{component}, {instance}" if instance else component,
        obj.get("message", "").strip(),
        first,
        count,
        name(obj),
    ]


def lease(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), spec(obj).get("holderIdentity") or "", age(obj, ages)]


def lease_candidate(obj: JSON, ages: Ages) -> list[Any]:
    fields = ("leaseName", "binaryVersion", "emulationVersion")
    return [name(obj), *(spec(obj).get(field, "") for field in fields), age(obj, ages)]


def config_map(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age(obj, ages)]


def secret(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), obj.get("type", ""), len(obj.get("data") or ()), age(obj, ages)]


def resource_quota(obj: JSON, ages: Ages) -> list[Any]:
    hard, used = status(obj).get("hard") or {}, status(obj).get("used") or {}
    requests: list[str] = []
    limits: list[str] = []
    for resource in sorted(hard):
        column = limits if resource.startswith("limits.") else requests
        column.append(f"{resource}: {used.get(resource, '0')}/{hard[resource]}")
    return [name(obj), ", ".join(requests), ", ".join(limits), age(obj, ages)]


def api_service(obj: JSON, ages: Ages) -> list[Any]:
    service = spec(obj).get("service")
    server = f"{service.get('namespace', '')}/{service.get('name', '')}" if service else "Local"
    found = condition(obj, "Available") or {"status": "Unknown"}
    available = found.get("status", "")
    if available != "True" and found.get("reason"):
        available = f"{available} ({found['reason']})"
    return [name(obj), server, available, age(obj, ages)]


def component_status(obj: JSON, ages: Ages) -> list[Any]:
    for found in obj.get("conditions") or ():
        if found.get("type") == "Healthy":
            state = "Healthy" if found.get("status") == "True" else "Unhealthy"
            return [name(obj), state, found.get("message", ""), found.get("error", "")]
    return [name(obj), "Unknown", "", ""]


def role_binding(obj: JSON, ages: Ages) -> list[Any]:
    role = obj.get("roleRef") or {}
    subjects: dict[str, list[str]] = {"User": [], "Group": [], "ServiceAccount": []}
    for subject in obj.get("subjects") or ():
        kind = subject.get("kind", "")
        text = subject.get("name", "")
        if kind == "ServiceAccount":
            text = f"{subject.get('namespace', '')}/{text}"
        subjects.setdefault(kind, []).append(text)
    shown = (", ".join(subjects[kind]) for kind in ("User", "Group", "ServiceAccount"))
    return [name(obj), f"{role.get('kind', '')}/{role.get('name', '')}", age(obj, ages), *shown]


def storage_version_migration(obj: JSON, ages: Ages) -> list[Any]:
    resource = spec(obj).get("resource") or {}
    group, plural = resource.get("group", ""), resource.get("resource", "")
    state = "Unknown"
    for found in status(obj).get("conditions") or ():
        if found.get("status") == "True" and found.get("type") in ("Running", "Failed", "Succeeded"):
            state = found["type"]
    return [name(obj), f"{plural}.{group}" if group else plural, state]


def storage_version(obj: JSON, ages: Ages) -> list[Any]:
    versions = status(obj).get("storageVersions") or ()
    shown = [f"{each.get('apiServerID', '')}={each.get('encodingVersion', '')}" for each in versions]
    common = status(obj).get("commonEncodingVersion", UNSET)
    return [name(obj), common, more(shown, len(shown), 3), age(obj, ages)]


CELLS: dict[str, Cells] = {
    "APIService": api_service,
    "ClusterRoleBinding": role_binding,
    "ComponentStatus": component_status,
    "ConfigMap": config_map,
    "Event": event,
    "Lease": lease,
    "LeaseCandidate": lease_candidate,
    "Namespace": namespace,
    "Node": node,
    "ResourceQuota": resource_quota,
    "RoleBinding": role_binding,
    "Secret": secret,
    "ServiceAccount": name_and_age,
    "StorageVersion": storage_version,
    "StorageVersionMigration": storage_version_migration,
}
