"""The platform file: the hosts, and which of them compute, store or schedule.

Read from SimGrid's XML (batkube.batsim.platform_file); routes between hosts are found by batkube.batsim.routing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from batkube.batsim.input_file import read_text
from batkube.batsim.platform_file import read_xml
from batkube.batsim.topology import Host, Link, PlatformError, Zone

__all__ = ["Host", "Platform", "PlatformError", "Resources", "read_platform"]

DEFAULT_MASTER = "master_host"
"""The host that runs Batsim's server unless the platform or the option ``-m`` names another."""

ROLES = ("master", "storage", "compute_node")


@dataclass(frozen=True)
class Resources:
    """The hosts by role, numbered as Batsim numbers them: compute hosts in order of their names, then storage hosts."""

    master: Host
    compute: tuple[Host, ...]
    storage: tuple[Host, ...]
    roles: dict[str, str]
    """By host; empty for one that computes and nothing else."""

    @property
    def numbered(self) -> tuple[Host, ...]:
        """A host's number is its place."""
        return self.compute + self.storage


@dataclass(frozen=True, eq=False)
class Platform:
    """All that a platform file says and batkube uses."""

    hosts_by_name: dict[str, Host]
    """In the order of the file."""
    zone_of: dict[str, Zone] = field(repr=False)
    """By host, router or child zone: the zone it is in."""
    links: dict[str, Link] = field(repr=False, default_factory=dict)
    path: Path | None = None

    @property
    def hosts(self) -> tuple[Host, ...]:
        return tuple(self.hosts_by_name.values())

    def resources(
        self,
        *,
        master: str = DEFAULT_MASTER,
        roles: Mapping[str, Iterable[str]] | None = None,
        limit: int | None = None,
    ) -> Resources:
        """Who does what. Raises PlatformError.

        ``master``: Batsim's ``-m``. ``roles``: host to further roles, ``-r``. ``limit``: only so many compute hosts,
        the first in order of their names, ``--mmax``.
        """
        given = self._roles(master, roles or {})
        masters = [host for host in self.hosts if "master" in given[host.name]]
        if len(masters) != 1:
            found = ", ".join(repr(host.name) for host in masters) or "none"
            raise PlatformError(
                f"{self._source}: expected one master host (property role with value master, or the name {master!r}), "
                f"found {found}"
            )
        compute = sorted((h for h in self.hosts if _computes(given[h.name])), key=lambda host: host.name)
        storage = sorted((h for h in self.hosts if _stores(given[h.name])), key=lambda host: host.name)
        if limit is not None:
            if not 0 < limit <= len(compute):
                raise PlatformError(
                    f"{self._source}: cannot use {limit} compute hosts: the platform has {len(compute)}"
                )
            compute = compute[:limit]
        for host in compute:
            if not host.speed > 0:
                raise PlatformError(f"{self._source}: host {host.name!r}: speed: a compute host needs one above 0")
        shown = {name: ",".join(names) for name, names in given.items()}
        return Resources(masters[0], tuple(compute), tuple(storage), shown)

    def _roles(self, master: str, further: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
        given: dict[str, list[str]] = {}
        for host in self.hosts:
            text = host.properties.get("role", "")
            given[host.name] = [role.strip() for role in text.split(",") if role.strip()]
        if master in given:
            given[master] = ["master"]
        elif master != DEFAULT_MASTER:
            raise PlatformError(f"{self._source}: there is no host {master!r} to be master")
        for name, roles in further.items():
            if name not in given:
                raise PlatformError(f"{self._source}: there is no host {name!r} to have a role")
            given[name] += [role for role in roles if role not in given[name]]
        for name, names in given.items():
            for role in names:
                if role not in ROLES:
                    raise PlatformError(
                        f"{self._source}: host {name!r}: role: expected {', '.join(ROLES)} or nothing, not {role!r}"
                    )
        return given

    @property
    def _source(self) -> str:
        return str(self.path or "platform")


def _computes(roles: list[str]) -> bool:
    return not roles or "compute_node" in roles


def _stores(roles: list[str]) -> bool:
    return "storage" in roles and "compute_node" not in roles


def read_platform(path: Path) -> Platform:
    """The platform in the file ``path``. Raises PlatformError."""
    path = Path(path)
    try:
        contents = read_xml(read_text(path))
    except ValueError as error:
        raise PlatformError(f"{path}: {error}") from None
    return Platform(contents.hosts, contents.zone_of, contents.links, path)
