"""The maker of resources.json: every resource that Kubernetes 1.34 to 1.37 serves.

Source: the published discovery documents, `api/discovery/*.json` of the Go module k8s.io/kubernetes. They were recorded
from a server with all API versions on.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

# Whose word counts where releases differ: the release that batkube says it is, then the newer, then the older.
PRECEDENCE = ("1.36", "1.37", "1.35", "1.34")

# One store in two shapes: the storage of events is that of the core group.
ONE_STORE = {("events.k8s.io", "events"): ("", "events")}

# Versions that Kubernetes has removed and old schedulers still ask for: the same objects under the old name.
# (group, version) -> (group and version they live on in, plurals)
REMOVED_VERSIONS: dict[tuple[str, str], tuple[str, str, tuple[str, ...]]] = {
    ("policy", "v1beta1"): ("policy", "v1", ("poddisruptionbudgets",)),
    ("scheduling.k8s.io", "v1alpha1"): ("scheduling.k8s.io", "v1", ("priorityclasses",)),
    ("scheduling.k8s.io", "v1beta1"): ("scheduling.k8s.io", "v1", ("priorityclasses",)),
    ("apps", "v1beta1"): ("apps", "v1", ("controllerrevisions", "deployments", "statefulsets")),
    ("apps", "v1beta2"): (
        "apps",
        "v1",
        ("controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"),
    ),
    ("extensions", "v1beta1"): ("apps", "v1", ("daemonsets", "deployments", "replicasets")),
    ("storage.k8s.io", "v1beta1"): (
        "storage.k8s.io",
        "v1",
        ("csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments"),
    ),
    ("batch", "v1beta1"): ("batch", "v1", ("cronjobs",)),
    ("events.k8s.io", "v1beta1"): ("events.k8s.io", "v1", ("events",)),
    ("coordination.k8s.io", "v1beta1"): ("coordination.k8s.io", "v1", ("leases",)),
    ("discovery.k8s.io", "v1beta1"): ("discovery.k8s.io", "v1", ("endpointslices",)),
    ("node.k8s.io", "v1beta1"): ("node.k8s.io", "v1", ("runtimeclasses",)),
}


def generate(modules: dict[str, Path], target: Path) -> None:
    """Generate the resources. `modules` maps a minor release (`1.36`) to the folder of its module."""
    releases = {release: _read(modules[release]) for release in PRECEDENCE}
    rows: dict[tuple[str, str, str], JSON] = {}
    for release in PRECEDENCE:
        for key, row in releases[release].items():
            rows.setdefault(key, {**row, "releases": []})["releases"].append(release)
    for (group, version), (new_group, new_version, plurals) in REMOVED_VERSIONS.items():
        for plural in plurals:
            alias = {**rows[new_group, new_version, plural], "group": group, "version": version}
            rows.setdefault((group, version, plural), {**alias, "removed": True, "releases": []})
    for row in rows.values():
        row["releases"].sort()
    groups = list(dict.fromkeys(group for group, _, _ in rows))
    ordered = sorted(rows.values(), key=lambda row: (groups.index(row["group"]), version_order(row["version"])))
    for row in ordered:
        row["storage"] = _storage(row, ordered)
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in ordered)
    target.write_text(f"[\n{lines}\n]\n")


def version_order(version: str) -> tuple[int, int, int]:
    """Return a sort key in Kubernetes' order of preference: v2, v1, v1beta2, v1beta1, v1alpha1."""
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if found is None:
        raise ValueError(f"not a Kubernetes API version: {version!r}")
    major, stage, minor = found.groups()
    return {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0)


def _storage(row: JSON, rows: list[JSON]) -> str:
    """Return the storage name of a resource: that of the most preferred version of the same objects."""
    source = REMOVED_VERSIONS.get((row["group"], row["version"])) if row.get("removed") else None
    group, plural = source[0] if source else row["group"], row["plural"]
    group, plural = ONE_STORE.get((group, plural), (group, plural))
    assert any(other["group"] == group and other["plural"] == plural for other in rows)
    return f"{plural}.{group}" if group else str(plural)


def _read(module: Path) -> dict[tuple[str, str, str], JSON]:
    """Return the resources of a release in its order of groups."""
    folder = module / "api" / "discovery"
    names = [group["name"] for group in json.loads((folder / "apis.json").read_text())["groups"]]
    files = [("", "v1", folder / "api__v1.json")]
    for name in names:
        group = json.loads((folder / f"apis__{name}.json").read_text())
        for version in group["versions"]:
            files.append((name, version["version"], folder / f"apis__{name}__{version['version']}.json"))
    rows: dict[tuple[str, str, str], JSON] = {}
    for group_name, version_name, file in files:
        resources = json.loads(file.read_text())["resources"]
        for resource in resources:
            plural, slash, subresource = resource["name"].partition("/")
            if not slash:
                rows[group_name, version_name, plural] = _row(group_name, version_name, resource)
        for resource in resources:
            plural, slash, subresource = resource["name"].partition("/")
            if slash:
                row = rows.setdefault((group_name, version_name, plural), {})
                row["subresources"][subresource] = _subresource(resource)
    return rows


def _row(group: str, version: str, resource: JSON) -> JSON:
    row: JSON = {
        "group": group,
        "version": version,
        "plural": resource["name"],
        "singular": resource["singularName"],
        "kind": resource["kind"],
        "namespaced": resource["namespaced"],
        "verbs": resource["verbs"],
    }
    for key in ("shortNames", "categories"):
        if resource.get(key):
            row[key] = resource[key]
    return {**row, "subresources": {}}


def _subresource(resource: JSON) -> JSON:
    row = {key: resource[key] for key in ("group", "version") if resource.get(key)}
    return {**row, "kind": resource["kind"], "verbs": resource["verbs"]}
