"""The kinds that a server serves: a table of groups, versions and resources, to which custom resources add rows.

The built-in rows are those of Kubernetes 1.34 to 1.37 (`schema/resources.json`, generated). All of them are served.
Discovery shows those of the emulated release, so that clients see the cluster they expect. A scheduler of another
release still finds the versions it was compiled for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any

from . import read_json
from .runtime_config import chosen

JSON = dict[str, Any]


# Where etcd has kinds that are not under their plural, or under their group (`storage.DefaultStorageFactory`).
_FOLDERS = {
    "endpoints": "services/endpoints",
    "ingresses.networking.k8s.io": "ingress",
    "nodes": "minions",
    "replicationcontrollers": "controllers",
    "services": "services/specs",
}
_GROUP_FOLDERS = ("apiextensions.k8s.io", "apiregistration.k8s.io")


@dataclass(frozen=True, slots=True)
class Subresource:
    """A path below an object: `status`, `scale`, `binding`. `group` and `version` are "" if they are those of the
    resource.
    """

    name: str
    kind: str
    verbs: tuple[str, ...]
    group: str = ""
    version: str = ""


_NO_SUBRESOURCES: Mapping[str, Subresource] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class ResourceType:
    """One resource in one version of its group. Resources are compared and hashed by identity: a registry has one of
    each.

    `storage` is shared by all versions of a kind, and by aliases: `pods`, `leases.coordination.k8s.io`. Objects of one
    storage are one collection.
    """

    group: str  # "" is the core group
    version: str
    plural: str
    singular: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]
    storage: str
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: Mapping[str, Subresource] = field(default_factory=lambda: _NO_SUBRESOURCES)
    list_kind: str = ""  # the kind with `List` where it is not given
    releases: tuple[str, ...] = ()  # minor releases whose server can serve it: `1.36`
    removed: bool = False  # no supported release serves it; here for old schedulers
    hidden: bool = False  # served, but not shown in discovery
    custom: bool = False  # defined by a CustomResourceDefinition
    printer_columns: tuple[JSON, ...] = ()  # of a custom resource: its additionalPrinterColumns
    schema: JSON | None = None  # of a custom resource: its openAPIV3Schema

    api_version: str = field(init=False)  # `v1`, `apps/v1`
    qualified: str = field(init=False)  # plural with its group: `pods`, `deployments.apps`
    qualified_kind: str = field(init=False)  # `Pod`, `Deployment.apps`

    def __post_init__(self) -> None:
        group = self.group
        object.__setattr__(self, "list_kind", self.list_kind or self.kind + "List")
        object.__setattr__(self, "api_version", f"{group}/{self.version}" if group else self.version)
        object.__setattr__(self, "qualified", f"{self.plural}.{group}" if group else self.plural)
        object.__setattr__(self, "qualified_kind", f"{self.kind}.{group}" if group else self.kind)

    @property
    def by_default(self) -> bool:
        """True if the real server serves the resource by default: a stable version (`DefaultAPIResourceConfigSource` in
        `pkg/controlplane/instance.go`).
        """
        return bool(self.releases) and version_order(self.version)[0] == 0

    @property
    def storable(self) -> bool:
        """True if objects of the resource are stored. Reviews and bindings are not: they are only created."""
        return "get" in self.verbs

    def kind_of(self, subresource: str) -> str:
        """Return the kind of the objects that a subresource takes and answers; for "" the resource's own kind."""
        found = self.subresources.get(subresource)
        return found.kind if found else self.kind

    def api_version_of(self, subresource: str) -> str:
        """Return the API version of the objects of a subresource: `policy/v1` for `eviction`."""
        found = self.subresources.get(subresource)
        if found is None or not found.version:
            return self.api_version
        return f"{found.group}/{found.version}" if found.group else found.version

    def storage_key(self, namespace: str, name: str) -> str:
        """Return the key of an object in the real server's storage, as conflicts show it: `pods/NAMESPACE/NAME`."""
        folder = _FOLDERS.get(self.storage, self.plural)
        if self.custom or self.group in _GROUP_FOLDERS:
            folder = f"{self.group}/{folder}"
        return "/".join(part for part in (folder, namespace, name) if part)

    def of_subresource(self, name: str) -> ResourceType:
        """Return the type of the objects that a subresource takes and answers."""
        part = self.subresources[name]
        group, version = (part.group, part.version) if part.version else (self.group, self.version)
        return replace(
            self, group=group, version=version, kind=part.kind, list_kind="", custom=False, printer_columns=()
        )

    def __repr__(self) -> str:
        return f"<ResourceType {self.qualified} {self.version}>"


class UnknownResource(LookupError):
    """A name that no resource has."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the server has no resource named {name!r}")


class Registry:
    """The resources of one server, in Kubernetes' order of groups and versions."""

    def __init__(self, resources: Iterable[ResourceType] = ()) -> None:
        self._by_path: dict[tuple[str, str, str], ResourceType] = {}
        self._by_kind: dict[tuple[str, str], ResourceType] = {}
        self._stored_as: dict[str, ResourceType] = {}
        self._by_name: dict[str, ResourceType] = {}
        self._groups: dict[str, list[str]] = {}  # versions, best first
        for resource in resources:
            self._insert(resource)
        self._index()

    # -- looking up

    def lookup(self, group: str, version: str, plural: str) -> ResourceType | None:
        """Return the resource that a path names."""
        return self._by_path.get((group, version, plural))

    def by_kind(self, api_version: str, kind: str) -> ResourceType | None:
        """Return the resource of objects of that kind."""
        return self._by_kind.get((api_version, kind))

    def by_name(self, name: str) -> ResourceType | None:
        """Return the resource of that name.

        The name may be a plural (`pods`), a plural and a group (`leases.coordination.k8s.io`), a plural, a version and
        a group (`podgroups.v1alpha2.scheduling.k8s.io`), a singular, a kind or a short name (`po`). Without a version
        it is the stored one.
        """
        return self._by_name.get(name) or self._by_name.get(name.lower())

    def named(self, name: str) -> ResourceType:
        """Return the resource of that name, as `by_name` does, but raise UnknownResource if there is none."""
        found = self.by_name(name)
        if found is None:
            raise UnknownResource(name)
        return found

    def stored_as(self, resource: ResourceType) -> ResourceType:
        """Return the version in which the objects of `resource` are stored."""
        return self._stored_as[resource.storage]

    def has_group(self, group: str) -> bool:
        """Return True if any version of the group is served."""
        return group in self._groups

    def custom_group(self, group: str) -> bool:
        """Return True if the group has only custom resources."""
        return all(resource.custom for resource in self._by_path.values() if resource.group == group)

    def __iter__(self) -> Iterator[ResourceType]:
        return iter(self._by_path.values())

    def __len__(self) -> int:
        return len(self._by_path)

    # -- what discovery shows

    def groups(self) -> list[str]:
        """Return the groups that discovery shows, in order of preference; "" is the first."""
        return [group for group in self._groups if self.versions(group)]

    def versions(self, group: str) -> list[str]:
        """Return the versions of a group that discovery shows, in order of preference."""
        return [version for version in self._groups.get(group, ()) if self.resources(group, version)]

    def resources(self, group: str, version: str) -> list[ResourceType]:
        """Return the resources of a version that discovery shows, sorted by name."""
        found = (
            resource
            for (its_group, its_version, _), resource in self._by_path.items()
            if its_group == group and its_version == version and not resource.hidden
        )
        return sorted(found, key=lambda resource: resource.plural)

    # -- changing

    def add(self, resource: ResourceType) -> None:
        """Serve one more resource, or replace the one of the same group, version and plural."""
        self._insert(resource)
        self._index()

    def remove(self, resource: ResourceType) -> None:
        """Stop serving a resource."""
        del self._by_path[resource.group, resource.version, resource.plural]
        if not any(key[:2] == (resource.group, resource.version) for key in self._by_path):
            versions = self._groups[resource.group]
            versions.remove(resource.version)
            if not versions:
                del self._groups[resource.group]
        self._index()

    def _insert(self, resource: ResourceType) -> None:
        versions = self._groups.get(resource.group)
        if versions is None:
            versions = self._groups[resource.group] = []
            if resource.custom:
                self._sort_custom_groups()
        if resource.version not in versions:
            versions.append(resource.version)
            versions.sort(key=version_order)
        self._by_path[resource.group, resource.version, resource.plural] = resource

    def _sort_custom_groups(self) -> None:
        """Move groups that have only custom resources to the end, sorted by name."""
        built_in = {resource.group for resource in self._by_path.values() if not resource.custom}
        for group in sorted(group for group in self._groups if group not in built_in):
            self._groups[group] = self._groups.pop(group)

    def _index(self) -> None:
        """Make the other indexes again from the paths.

        If several resources have a name, visible ones and better versions come first, and groups in their order.
        """
        self._by_kind, self._stored_as, self._by_name = {}, {}, {}
        groups = {group: rank for rank, group in enumerate(self._groups)}
        ordered = sorted(
            self._by_path.values(),
            key=lambda resource: (
                resource.removed,
                not resource.by_default and not resource.custom,
                groups[resource.group],
                version_order(resource.version),
            ),
        )
        for resource in ordered:
            self._by_kind.setdefault((resource.api_version, resource.kind), resource)
            if resource.qualified == resource.storage:
                self._stored_as.setdefault(resource.storage, resource)
        for names_of in (_plural_names, _singular_names, _short_names):
            for resource in ordered:
                for name in names_of(resource):
                    self._by_name.setdefault(name, resource)


def _plural_names(resource: ResourceType) -> Sequence[str]:
    versioned = f"{resource.plural}.{resource.version}.{resource.group}".rstrip(".")
    return resource.plural, resource.qualified, versioned


def _singular_names(resource: ResourceType) -> Sequence[str]:
    group = f".{resource.group}" if resource.group else ""
    return resource.singular, resource.singular + group, resource.kind.lower(), resource.kind.lower() + group


def _short_names(resource: ResourceType) -> Sequence[str]:
    return resource.short_names


_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


def version_order(version: str) -> tuple[int, int, int, str]:
    """Return a sort key in Kubernetes' order of preference: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name
    (`k8s.io/apimachinery/pkg/version.CompareKubeAwareVersionStrings`).
    """
    found = _VERSION.fullmatch(version)
    if found is None:
        return 3, 0, 0, version
    major, stage, minor = found.groups()
    return {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), ""


@cache
def _rows() -> list[JSON]:
    rows: list[JSON] = read_json("resources.json")
    return rows


def default_registry(
    version: str = "v1.36.3", *, runtime_config: Mapping[str, bool] | None = None, removed_versions: bool = True
) -> Registry:
    """Return the resources of a release: `version` is the version that the server reports; its major and minor count.

    All that any release from 1.34 to 1.37 serves is served. Versions that this release does not serve by default are
    hidden from discovery, unless `runtime_config` shows them. `removed_versions` False leaves out the versions that no
    such release serves any more (policy/v1beta1, apps/v1beta1 ...).
    """
    release = _release(version)
    choices = runtime_config or {}
    return Registry(_resource(row, release, choices) for row in _rows() if removed_versions or not row.get("removed"))


def _release(version: str) -> str:
    """Return the nearest release of the table, such as `1.36`."""
    found = re.match(r"v?(\d+)\.(\d+)", version)
    if found is None:
        raise ValueError(f"{version!r} is no Kubernetes version such as v1.36.3")
    asked = (int(found[1]), int(found[2]))
    known = sorted({tuple(map(int, name.split("."))) for row in _rows() for name in row["releases"]})
    major, minor = min(max(asked, known[0]), known[-1])
    return f"{major}.{minor}"


def _resource(row: JSON, release: str, choices: Mapping[str, bool]) -> ResourceType:
    subresources = {
        name: Subresource(name, sub["kind"], tuple(sub["verbs"]), sub.get("group", ""), sub.get("version", ""))
        for name, sub in row["subresources"].items()
    }
    shown = chosen(choices, row["group"], row["version"], row["plural"])
    if shown is None:
        shown = version_order(row["version"])[0] == 0
    return ResourceType(
        group=row["group"],
        version=row["version"],
        plural=row["plural"],
        singular=row["singular"],
        kind=row["kind"],
        namespaced=row["namespaced"],
        verbs=tuple(row["verbs"]),
        storage=row["storage"],
        short_names=tuple(row.get("shortNames", ())),
        categories=tuple(row.get("categories", ())),
        subresources=MappingProxyType(subresources),
        releases=tuple(row["releases"]),
        removed=row.get("removed", False),
        hidden=not shown or release not in row["releases"],
    )
