"""The platform file: the hosts, and which of them compute, store or schedule.

It is read from SimGrid's XML (batkube.batsim.platform_file). Routes between hosts are found by batkube.batsim.routing.
"""

import re
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
_COMPUTES = ("", "compute_node")
_NUMBER_OR_CHARACTER = re.compile(r"[0-9]+|.", re.DOTALL)


def _numeric(name: str) -> list[tuple[int, int]]:
    """Return a key by which names are in Batsim 5's order (``string_numeric_comparator``)."""
    parts = _NUMBER_OR_CHARACTER.findall(name)
    return [(ord("0"), int(part)) if part[0] in "0123456789" else (ord(part), 0) for part in parts]


@dataclass(frozen=True)
class Resources:
    """The hosts by role, numbered as Batsim numbers them: compute hosts in order of their names, then storage hosts."""

    master: Host | None
    """The host that Batsim itself runs on; None if it is not needed."""
    compute: tuple[Host, ...]
    storage: tuple[Host, ...]
    roles: dict[str, str]
    """The role by host; empty for a compute host whose role is not given."""

    @property
    def numbered(self) -> tuple[Host, ...]:
        """The hosts by their numbers."""
        return self.compute + self.storage


@dataclass(frozen=True, eq=False)
class Platform:
    """The contents of a platform file that batkube uses."""

    hosts_by_name: dict[str, Host]
    """The hosts by name, in the order of the file."""
    zone_of: dict[str, Zone] = field(repr=False)
    """The zone of each host, router or child zone."""
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
        needs_master: bool = True,
        numeric_order: bool = False,
    ) -> Resources:
        """Return the hosts by role. Raises PlatformError.

        ``master``: Batsim's ``-m``. ``roles``: further roles of each host, ``-r``. ``limit``: the most compute hosts,
        the first in order of their names, ``--mmax``. ``needs_master``: True for Batsim; a simulator that runs nothing
        on the master may do without. ``numeric_order``: numbers in names count as numbers, so that ``n2`` comes before
        ``n10``, as in Batsim 5.
        """
        given = self._roles(master, roles or {})
        masters = [host for host in self.hosts if given[host.name] == "master"]
        if not masters and master != DEFAULT_MASTER and master not in self.hosts_by_name:
            raise PlatformError(f"{self._source}: there is no host {master!r} to be master")
        if len(masters) > 1 or (needs_master and not masters):
            found = ", ".join(repr(host.name) for host in masters) or "none"
            raise PlatformError(
                f"{self._source}: expected one master host (property role with value master, or the name {master!r}), "
                f"found {found}"
            )
        ordered = sorted(self.hosts, key=lambda host: host.name)
        if numeric_order:
            ordered.sort(key=lambda host: _numeric(host.name))
        compute = [host for host in ordered if given[host.name] in _COMPUTES]
        storage = [host for host in ordered if given[host.name] == "storage"]
        if limit is not None:
            if not 0 < limit <= len(compute):
                raise PlatformError(
                    f"{self._source}: cannot use {limit} compute hosts: the platform has {len(compute)}"
                )
            compute = compute[:limit]
        for host in compute:
            if not host.speed > 0:
                raise PlatformError(f"{self._source}: host {host.name!r}: speed: a compute host needs one above 0")
        return Resources(masters[0] if masters else None, tuple(compute), tuple(storage), given)

    def _roles(self, master: str, further: Mapping[str, Iterable[str]]) -> dict[str, str]:
        """Return the one role of each host, as Batsim finds it: the property and the option, joined, must name one.

        An option -r for a host replaces -m's, and a later one an earlier one (``Machines::create_machines``).
        """
        by_option = {master: "master"}
        for name, roles in further.items():
            if name not in self.hosts_by_name:
                raise PlatformError(f"{self._source}: there is no host {name!r} to have a role (option -r)")
            by_option.update((name, role) for role in roles)
        given: dict[str, str] = {}
        for host in self.hosts:
            declared, option = host.properties.get("role"), by_option.get(host.name)
            role = ",".join(part for part in (declared, option) if part is not None)
            if role and role not in ROLES:
                raise PlatformError(f"{self._source}: host {host.name!r}: role: {_wrong_role(declared, option)}")
            given[host.name] = role
        return given

    @property
    def _source(self) -> str:
        return str(self.path or "platform")


def _wrong_role(declared: str | None, option: str | None) -> str:
    """Say what is wrong with the roles of the property and the option together."""
    if declared is None or option is None:
        return f"expected {', '.join(ROLES)} or nothing, not {(declared if option is None else option)!r}"
    return (
        f"the property says {declared!r}, and the option -r, -m or the name of the host {option!r}: Batsim refuses "
        "a host with two roles, even if they are the same; leave the property out"
    )


def read_platform(path: Path) -> Platform:
    """Return the platform in the file ``path``. Raises PlatformError."""
    path = Path(path)
    try:
        contents = read_xml(read_text(path))
    except ValueError as error:
        raise PlatformError(f"{path}: {error}") from None
    return Platform(contents.hosts, contents.zone_of, contents.links, path)
