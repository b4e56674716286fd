"""Random platforms, in SimGrid's XML."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from random import Random
from xml.sax.saxutils import quoteattr

HEAD = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
"""

WATTS = "wattage_per_state"
STORAGE_WATTS = "95:95:95"

NAMINGS = ("h{}", "n-{}", "N-{}", "node.{}.site", "Rack_{}", "{}", "x{}-" + "y" * 60, "h{}@b")
"""The ways to name hosts; two of these differ in case alone."""


@dataclass(frozen=True)
class Machine:
    """A compute host."""

    name: str
    cores: int
    speed: float
    """Flops a second, of the state it begins in."""
    memory: int
    """GiB."""


@dataclass(frozen=True)
class Site:
    """A platform file, and what is in it."""

    xml: str
    machines: tuple[Machine, ...]
    """In the order of Batsim's numbers: lexicographic."""
    storages: tuple[str, ...] = ()
    """Names of storage hosts."""

    @property
    def equal(self) -> bool:
        """Tell whether all hosts have as many cores."""
        return len({machine.cores for machine in self.machines}) == 1


@dataclass(frozen=True)
class _Kind:
    """The properties of hosts of one kind."""

    cores: int
    speeds: tuple[float, ...]
    pstate: int
    memory: int

    @property
    def attributes(self) -> str:
        speeds = ",".join(f"{speed / 1e6:g}Mf" for speed in self.speeds)
        pstate = f' pstate="{self.pstate}"' if self.pstate else ""
        return f'speed="{speeds}" core="{self.cores}"{pstate}'

    @property
    def properties(self) -> str:
        watts = ", ".join(f"{60 + 10 * self.cores}:{95 + speed / 1e8:g}:{150 + speed / 1e7:g}" for speed in self.speeds)
        return _property("memory", f"{self.memory}Gi") + _property(WATTS, watts) + _property("wattage_off", "9.75")

    def machine(self, name: str) -> Machine:
        return Machine(name, self.cores, self.speeds[self.pstate], self.memory)


def random_site(random: Random) -> Site:
    """A platform of 4 to 32 compute hosts."""
    hosts = random.choice((4, 4, 5, 6, 8, 8, 12, 16, 24, 32))
    make = random.choice((_clusters, _full, _full))
    return make(random, hosts, _kinds(random), _storages(random))


def _kinds(random: Random) -> list[_Kind]:
    """One kind of hosts, or three."""
    return [
        _Kind(
            cores=random.choice((1, 1, 2, 3, 4, 8)),
            speeds=random.choice(((1e9,), (1e9,), (2e9,), (1.5e9, 1e9, 5e8), (7.3e8,))),
            pstate=0,
            memory=random.choice((4, 16, 64)),
        )
        for _ in range(random.choice((1, 1, 3)))
    ]


def _storages(random: Random) -> tuple[str, ...]:
    """Names; those of a cluster end with a number."""
    return random.choice(((), (), ("pfs",), ("nfs", "pfs")))


def _names(random: Random, count: int) -> list[str]:
    """Different names, of one or two families."""
    families = [random.choice(NAMINGS)] if random.random() < 0.7 else ["n-{}", "N-{}"]
    first = random.choice((0, 0, 1, 7))
    return [families[index % len(families)].format(first + index // len(families)) for index in range(count)]


def _site(xml: str, machines: Iterable[Machine], storages: Iterable[str]) -> Site:
    # Batsim numbers compute hosts by the bytes of their names.
    ordered = tuple(sorted(machines, key=lambda machine: machine.name))
    return Site(f"{HEAD}{xml}</platform>\n", ordered, tuple(storages))


def _property(name: str, value: str) -> str:
    return f"<prop id={quoteattr(name)} value={quoteattr(value)}/>"


def _host(name: str, attributes: str, *properties: str) -> str:
    return f"    <host id={quoteattr(name)} {attributes}>{''.join(properties)}</host>\n"


def _role(role: str) -> str:
    return _property("role", role)


# Hosts in a zone with all routes written out


def _full(random: Random, hosts: int, kinds: list[_Kind], storages: tuple[str, ...]) -> Site:
    """Each host has its own link; behind it are a few shared ones."""
    names = _names(random, hosts)
    machines, text = [], '  <zone id="site" routing="Full">\n'
    for index, name in enumerate(names):
        kind = kinds[index % len(kinds)]
        machines.append(kind.machine(name))
        text += _host(name, kind.attributes, kind.properties)
    for name in storages:
        text += _host(name, 'speed="1Gf"', _role("storage"), _property(WATTS, STORAGE_WATTS))
    # Batsim takes a host of this name for the master, and refuses the role where it is said besides.
    master = random.choice(("master_host", "front.end"))
    text += _host(master, 'speed="1Gf"', *([] if master == "master_host" else [_role("master")]))
    every = [*names, *storages, master]
    bandwidth, latency = random.choice((("125MBps", "50us"), ("1.25GBps", "10us"), ("10MBps", "1ms")))
    for index, _ in enumerate(every):
        policy = random.choice(("", "", ' sharing_policy="FATPIPE"'))
        text += f'    <link id="own-{index}" bandwidth="{bandwidth}" latency="{latency}"{policy}/>\n'
    switches = random.choice((1, 1, 2, 3))
    for index in range(switches):
        width = random.choice(("1.25GBps", "100MBps", "30MBps"))
        text += f'    <link id="switch-{index}" bandwidth="{width}" latency="{random.choice((0, 20, 514.433))}us"/>\n'
    for one, other in combinations(range(len(every)), 2):
        between = sorted({one % switches, other % switches})
        links = [f"own-{one}", *(f"switch-{index}" for index in between), f"own-{other}"]
        inside = "".join(f'<link_ctn id="{link}"/>' for link in links)
        text += f"    <route src={quoteattr(every[one])} dst={quoteattr(every[other])}>{inside}</route>\n"
    return _site(text + "  </zone>\n", machines, storages)


# Clusters around a backbone


@dataclass(frozen=True)
class _Cluster:
    """A cluster of the file."""

    id: str
    prefix: str
    suffix: str
    size: int
    xml: str

    @property
    def router(self) -> str:
        return f"{self.prefix}{self.id}_router{self.suffix}"

    @property
    def hosts(self) -> list[str]:
        return [f"{self.prefix}{number}{self.suffix}" for number in range(self.size)]


def _clusters(random: Random, hosts: int, kinds: list[_Kind], storages: tuple[str, ...]) -> Site:
    count = random.choice((1, 2, 3))
    sizes = [hosts // count + (index < hosts % count) for index in range(count)]
    machines, clusters = [], []
    for index, size in enumerate(sizes):
        kind = kinds[index % len(kinds)]
        prefix, suffix = random.choice((("abc"[index], ""), (f"Rack{index}-", ""), (f"c{index}.", ".site")))
        cluster = _cluster(random, f"rack-{index}", prefix, suffix, size, kind.attributes, kind.properties)
        machines += [kind.machine(name) for name in cluster.hosts]
        clusters.append(cluster)
    watts = _property(WATTS, STORAGE_WATTS)
    stores = [_cluster(random, name, name, "", 1, 'speed="1Gf"', _role("storage") + watts) for name in storages]
    front = _cluster(random, "front", "master_host", "", 1, 'speed="1Gf"', _role("master"))
    every = [*clusters, *stores, front]
    text = '  <zone id="site" routing="Full">\n' + "".join(cluster.xml for cluster in every)
    text += f'    <link id="backbone" bandwidth="{random.choice(("1.25GBps", "200MBps"))}" latency="500us"/>\n'
    for one, other in combinations(every, 2):
        ends = f'src="{one.id}" dst="{other.id}" gw_src="{one.router}" gw_dst="{other.router}"'
        text += f'    <zoneRoute {ends}><link_ctn id="backbone"/></zoneRoute>\n'
    return _site(text + "  </zone>\n", machines, [name for store in stores for name in store.hosts])


def _cluster(
    random: Random, name: str, prefix: str, suffix: str, size: int, attributes: str, properties: str
) -> _Cluster:
    bandwidth = random.choice(("125MBps", "1.25GBps"))
    network = f'bw="{bandwidth}" lat="{random.choice((50, 5))}us"'
    if random.random() < 0.6:
        network += ' bb_bw="2.25GBps" bb_lat="500us"'
    policy = random.choice(("", "", ' sharing_policy="SHARED"', ' sharing_policy="FATPIPE"'))
    text = (
        f'    <cluster id="{name}" prefix="{prefix}" suffix="{suffix}" radical="0-{size - 1}" {attributes} '
        f"{network}{policy}>{properties}</cluster>\n"
    )
    return _Cluster(name, prefix, suffix, size, text)
