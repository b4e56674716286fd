"""SimGrid platforms: hosts, roles, Batsim's numbers, and what is refused with a line that says where."""

import contextlib
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batkube.batsim.codec import decode
from batkube.batsim.messages import SimulationBegins
from batkube.batsim.platform import Platform, PlatformError, read_platform
from batkube.batsim.platform_file import read_xml
from batkube.batsim.units import parse_bandwidth, parse_speed, parse_time
from tests.batsim.transcripts import (
    DATASETS,
    Scenario,
    by_name,
    needs_datasets,
    scenario,
    scenarios,
)

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'


def platform(path: Path, *zones: str) -> Platform:
    """The platform with these elements."""
    path.write_text(f"{HEAD}{''.join(zones)}</platform>")
    return read_platform(path)


def refusal(path: Path, text: str) -> str:
    """Return what is said of a file with this text."""
    path.write_text(text)
    with pytest.raises(PlatformError) as refused:
        read_platform(path)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")
    return str(refused.value).removeprefix(f"{path}: ")


HOSTS = {
    "batkube-go/1node.xml": 2,
    "batkube-go/1node_128.xml": 2,
    "batkube-go/1node_6core.xml": 2,
    "batkube-go/2node_6core.xml": 3,
    "batkube-go/3node.xml": 4,
    "batkube-go/3node_6core.xml": 4,
    "batkube-go/cluster16.xml": 17,
    "batkube-go/cluster512.xml": 513,
    "batkube-go/platform_graphene_16nodes.xml": 17,
    "batsim/cluster512.xml": 513,
    "batsim/cluster_energy_128.xml": 129,
    "batsim/cluster_locality_8x16.xml": 129,
    "batsim/energy_platform_homogeneous_no_net.xml": 8,
    "batsim/graphene.xml": 144,
    "batsim/properties_example.xml": 8,
    "batsim/small_platform.xml": 5,
}


@needs_datasets
@pytest.mark.parametrize("path", sorted(DATASETS.glob("bat*/platforms/*.xml")), ids=lambda path: path.name)
def test_every_platform_of_batsim_and_the_go_batkube_is_read(path: Path) -> None:
    assert len(read_platform(path).hosts) == HOSTS[f"{path.parents[1].name}/{path.name}"]


@pytest.mark.parametrize("scenario", [s for s in scenarios("v3", "v4") if s.dialogue], ids=by_name)
def test_hosts_have_the_numbers_roles_and_properties_that_batsim_gives_them(scenario: Scenario) -> None:
    (simulation_begins,) = decode(scenario.dialogue[0][0]).events
    assert isinstance(simulation_begins, SimulationBegins)
    command = scenario.command
    read = read_platform(scenario.folder / command[command.index("-p") + 1])
    roles = {}
    if "-r" in command:
        names, role = command[command.index("-r") + 1].split(":")
        roles = {name: [role] for name in names.split(",")}
    resources = read.resources(
        master=command[command.index("-m") + 1] if "-m" in command else "master_host",
        roles=roles,
        limit=simulation_begins.data.nb_compute_resources if "--mmax" in " ".join(command) else None,
    )
    for number, (host, told) in enumerate(
        zip(
            resources.numbered,
            simulation_begins.data.compute_resources + simulation_begins.data.storage_resources,
            strict=True,
        )
    ):
        assert (number, host.name) == (told.id, told.name)
        assert {**host.properties, "role": resources.roles[host.name]} == told.properties
        assert told.zone_properties in (None, host.zone_properties)


@needs_datasets
def test_a_real_platform_has_its_speeds_cores_zones_and_properties() -> None:
    folder = DATASETS
    graphene = read_platform(folder / "batkube-go" / "platforms" / "platform_graphene_16nodes.xml")
    host = graphene.hosts_by_name["graphene-10.nancy.grid5000.fr"]
    assert (host.speed, host.cores, host.zones) == (16.673e9, 4, ("AS_graphene_full",))
    assert (host.properties["core"], host.properties["memory"]) == ("1", "4Gi")
    energy = read_platform(folder / "batsim" / "platforms" / "cluster_energy_128.xml")
    assert len(energy.hosts_by_name["host7"].speeds) == 16
    assert energy.hosts_by_name["host7"].speeds[12] == pytest.approx(44.97607655502392e6)
    assert energy.hosts_by_name["host7"].zones == ("AS0", "cluster_compute")


def test_the_properties_of_zones_are_inherited_and_the_innermost_wins(tmp_path: Path) -> None:
    read = platform(
        tmp_path / "p.xml",
        '<zone id="z" routing="Full"><prop id="a" value="1"/><prop id="b" value="1"/>',
        '<cluster id="c" prefix="n" suffix=".x" radical="0-2,7" speed="1Gf" core="4" bw="1Gbps" lat="1us">',
        '<prop id="b" value="2"/></cluster></zone>',
    )
    assert list(read.hosts_by_name) == ["n0.x", "n1.x", "n2.x", "n7.x"]
    host = read.hosts_by_name["n7.x"]
    assert (host.cores, host.zones, host.properties) == (4, ("z", "c"), {"b": "2"})
    assert host.zone_properties == {"a": "1", "b": "2"}


def test_hosts_are_numbered_in_order_of_their_names_and_storage_behind(tmp_path: Path) -> None:
    hosts = "".join(f'<host id="{name}" speed="1Gf"/>' for name in ("b", "a10", "a2", "disk", "m"))
    read = platform(tmp_path / "p.xml", f'<zone id="z" routing="Full">{hosts}</zone>')
    resources = read.resources(master="m", roles={"disk": ["storage"]})
    assert [host.name for host in resources.numbered] == ["a10", "a2", "b", "disk"]
    assert [host.name for host in resources.storage] == ["disk"]
    assert resources.master
    assert resources.master.name == "m"
    limited = read.resources(master="m", roles={"disk": ["storage"]}, limit=2)
    assert [host.name for host in limited.numbered] == ["a10", "a2", "disk"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({}, "expected one master host"),
        ({"master": "nobody"}, "there is no host 'nobody' to be master"),
        ({"master": "a", "roles": {"b": ["master"]}}, "expected one master host .* found 'a', 'b'"),
        ({"master": "a", "roles": {"x": ["storage"]}}, "there is no host 'x' to have a role"),
        ({"master": "a", "roles": {"b": ["boss"]}}, "host 'b': role: expected master, storage, compute_node"),
        ({"master": "a", "limit": 2}, "cannot use 2 compute hosts: the platform has 1"),
        ({"master": "a", "roles": {"a": ["storage"]}}, "expected one master host .* found none"),
        ({"master": "b"}, "host 'a': speed: a compute host needs one above 0"),
    ],
)
def test_roles_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, object], complaint: str) -> None:
    zone = '<zone id="z" routing="Full"><host id="a" speed="0f"/><host id="b" speed="1f"/></zone>'
    read = platform(tmp_path / "p.xml", zone)
    with pytest.raises(PlatformError, match=complaint):
        read.resources(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("properties", "options", "complaint"),
    [
        ({"master_host": "master"}, {}, "host 'master_host': role: the property says 'master', and the option"),
        ({"master_host": ""}, {}, "host 'master_host': role: the property says '', and the option"),
        ({"a": "storage,compute_node"}, {}, "host 'a': role: expected master, storage, compute_node or nothing, not"),
        ({"a": "storage"}, {"roles": {"a": ["compute_node"]}}, "host 'a': role: the property says 'storage', and the"),
        ({"a": "boss"}, {}, "host 'a': role: expected master, storage, compute_node or nothing, not 'boss'"),
        ({"a": "master"}, {}, "expected one master host .* found 'master_host', 'a'"),
    ],
)
def test_roles_that_batsim_refuses_are_refused(
    tmp_path: Path, properties: dict[str, str], options: dict[str, object], complaint: str
) -> None:
    hosts = "".join(
        f'<host id="{name}" speed="1f">{_role(properties.get(name))}</host>' for name in ("master_host", "a", "b")
    )
    read = platform(tmp_path / "p.xml", f'<zone id="z" routing="Full">{hosts}</zone>')
    with pytest.raises(PlatformError, match=complaint):
        read.resources(**options)  # type: ignore[arg-type]


def _role(value: str | None) -> str:
    return "" if value is None else f'<prop id="role" value="{value}"/>'


def test_another_master_than_the_named_one_may_be_in_the_platform(tmp_path: Path) -> None:
    hosts = '<host id="a" speed="1f"/><host id="b" speed="1f"><prop id="role" value="master"/></host>'
    read = platform(tmp_path / "p.xml", f'<zone id="z" routing="Full">{hosts}</zone>')
    resources = read.resources(master="nobody")
    assert resources.master
    assert resources.master.name == "b"


ZONE = '<zone id="z" routing="Full">{}</zone>'
A_AND_B = "<host id='a' speed='1f'/><host id='b' speed='1f'/>"
LINK = "<link id='l' bandwidth='1Bps' latency='0'/>"
A_TO_B = "<route src='a' dst='b'><link_ctn id='l'/></route>"
B_TO_A = "<route src='b' dst='a'><link_ctn id='l'/></route>"
CLUSTER = "<cluster id='c' prefix='n' suffix='' radical='0-1' speed='1f' bw='1Bps' lat='0s'/>"


REFUSED_ZONES = [
    ('<host id="a"/>', "host 'a': speed: missing"),
    ('<host id="a" speed="fast"/>', "host 'a': speed: expected a speed such as 1Gf, not 'fast'"),
    ('<host id="a" speed="-1Gf"/>', "host 'a': speed: expected a speed such as 1Gf and not below 0"),
    ('<host id="a" speed="1e999f"/>', "host 'a': speed: expected a speed such as 1Gf"),
    ('<host speed="1f"/>', "host: id: missing"),
    ('<host id="a" speed="1f" core="0"/>', "host 'a': core: expected 1 or more, not 0"),
    ('<host id="a" speed="1f" core="x"/>', "host 'a': core: expected a whole number, not 'x'"),
    ('<host id="a" speed="1f" pstate="1"/>', "host 'a': pstate: expected a number below 1, not 1"),
    ('<host id="a" speed="1f"/><host id="a" speed="1f"/>', "host 'a': id: used twice"),
    ('<host id="a" speed="1f"/><link id="l" bandwidth="0Bps"/>', "link 'l': bandwidth: expected more than 0"),
    ('<link id="l" bandwidth="1parsec"/>', "link 'l': bandwidth: expected a bandwidth such as 125MBps"),
    ('<link id="l" bandwidth="1Bps" latency="1x"/>', "link 'l': latency: expected a time such as 50us"),
    ('<link id="l" bandwidth="1Bps" sharing_policy="NO"/>', "link 'l': sharing_policy: expected SHARED"),
    ('<host id="a" speed="1f"/><route src="a" dst="b"/>', "route 'a' to 'b': there is no 'b'"),
    (
        '<host id="a" speed="1f"/><route src="a" dst="a"><link_ctn id="l"/></route>',
        "route 'a' to 'a': link_ctn: there is no link 'l'",
    ),
    ('<cluster id="c" prefix="n" radical="0-" speed="1f" bw="1Bps" lat="0s"/>', "cluster 'c': radical: expected"),
    ('<cluster id="c" prefix="n" radical="0-3" speed="1f" lat="0s"/>', "cluster 'c': bw: missing"),
    (
        '<cluster id="c" prefix="n" radical="0-99999999" speed="1f" bw="1Bps" lat="0s"/>',
        "cluster 'c': radical: more than 1000000 hosts",
    ),
    ('<zone id="z" routing="Full"/>', "zone 'z': id: used twice"),
    ('<zone id="y" routing="Star"/>', "zone 'y': routing: expected cluster, dijkstra"),
    ('<host id="a" speed="1f" cores="2"/>', "host 'a': cores: is no attribute of a <host>; it has availability"),
    ('<host id="a" speed="1f"/><computer/>', "zone 'z': holds a <computer>, which SimGrid does not know there"),
    (f"{A_AND_B}<prop id='x' value='1'/>", "prop 'x': must come before the first <host> of zone 'z'"),
    (f"{A_AND_B}{A_TO_B}{LINK}", "link 'l': must come before the first <route> of zone 'z'"),
    (f"{A_AND_B}<zone id='y' routing='Full'/>", "zone 'z': holds zones or clusters, and so cannot hold a <host>"),
    (f"{A_AND_B}{LINK}<route src='a' dst='b'/>", "route 'a' to 'b': names no link"),
    (f"{A_AND_B}{LINK}{A_TO_B}{A_TO_B}", "route 'a' to 'b': there is one from 'a' to 'b' already"),
    (f"{A_AND_B}{LINK}{A_TO_B}{B_TO_A}", "route 'b' to 'a': there is one from 'b' to 'a' already"),
    (
        f"{A_AND_B}{LINK}<route src='a' dst='b'><link_ctn id='l' direction='UP'/></route>",
        "route 'a' to 'b': link_ctn 'l': direction: the link is not SPLITDUPLEX, and has none",
    ),
    (
        f"{A_AND_B}<link id='l' bandwidth='1Bps' sharing_policy='SPLITDUPLEX' latency='0'/>{A_TO_B}",
        "route 'a' to 'b': link_ctn 'l': direction: expected UP or DOWN",
    ),
    ('<include file="/etc/passwd"/>', "takes in another file by <include>, which batkube does not"),
    ("", "has no host"),
]
"""The content of a zone, and the refusal of it."""


@pytest.mark.parametrize(("zone", "complaint"), REFUSED_ZONES)
def test_a_wrong_element_is_named_with_its_attribute(tmp_path: Path, zone: str, complaint: str) -> None:
    assert refusal(tmp_path / "p.xml", f"{HEAD}{ZONE.format(zone)}</platform>").startswith(complaint)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "not XML: no element found"),
        ("<platform version='4.1'><zone></platform>", "not XML: mismatched tag: line 1"),
        ("<html/>", "expected a <platform>, found a <html>"),
        ("<platform version='3'/>", "platform: version: expected 4 or 4.1, not '3'"),
        ("<platform/>", "platform: version: expected 4 or 4.1, not ''"),
        ("<platform version='4.1'>" + "<zone id='z'>" * 200, "is nested too deeply"),
        (
            "<platform version='4.1'><host id='a' speed='1f'/></platform>",
            "platform: holds a <host>",
        ),
    ],
)
def test_a_file_that_is_no_platform_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    assert refusal(tmp_path / "p.xml", text).startswith(complaint)


def test_a_gateway_must_be_in_the_zone_it_stands_for(tmp_path: Path) -> None:
    text = (
        f"<zone id='site' routing='Full'>{CLUSTER}<zone id='y' routing='Full'>{A_AND_B}</zone>{LINK}"
        "<zoneRoute src='c' dst='y' gw_src='a' gw_dst='b'><link_ctn id='l'/></zoneRoute></zone>"
    )
    complaint = "zoneRoute 'c' to 'y': gateway 'a' is not in zone 'c'"
    assert refusal(tmp_path / "p.xml", f"{HEAD}{text}</platform>") == complaint


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "doctype",
    [
        f'<!DOCTYPE platform [<!ENTITY l0 "ha">{LAUGHS}]>',
        '<!DOCTYPE platform [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE platform [<!ENTITY % dtd SYSTEM "http://127.0.0.1:9/x.dtd"> %dtd;]>',
    ],
)
def test_entities_are_refused(tmp_path: Path, doctype: str) -> None:
    text = f'{doctype}<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1f"/></zone></platform>'
    assert "declares entities" in refusal(tmp_path / "p.xml", text)


def test_a_dtd_is_never_loaded(tmp_path: Path) -> None:
    # A file that cannot be opened without stopping the reader: a pipe nobody writes to.
    os.mkfifo(tmp_path / "pipe.dtd")
    (tmp_path / "p.xml").write_text(
        f'<!DOCTYPE platform SYSTEM "file://{tmp_path}/pipe.dtd"><platform version="4.1">'
        '<zone id="z" routing="Full"><host id="a" speed="1f"/></zone></platform>'
    )
    assert list(read_platform(tmp_path / "p.xml").hosts_by_name) == ["a"]


def test_what_batsim_refuses_for_want_of_a_master_reads_as_a_file() -> None:
    read = read_platform(scenario("v4/error_input_no_master").folder / "orphan.xml")
    with pytest.raises(PlatformError, match="expected one master host"):
        read.resources()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("98.095Mf", 98.095e6),
        ("16.673E9f", 16.673e9),
        ("16.673E9flops", 16.673e9),
        ("1Gf", 1e9),
        ("1e-9Mf", 1e-3),
        ("2Gif", 2 * 1024**3),
        ("42", 42.0),
    ],
)
def test_speeds(text: str, value: float) -> None:
    assert parse_speed(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("125MBps", 125e6),
        ("56Gbps", 7e9),
        ("10000MiBps", 10000 * 1024**2),
        ("1.25E8Bps", 1.25e8),
        ("1kbps", 125.0),
        ("1KiBps", 1024.0),
        ("1.875E8", 1.875e8),
    ],
)
def test_bandwidths(text: str, value: float) -> None:
    assert parse_bandwidth(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("50us", 50 * 1e-6), ("1.0E-4s", 1e-4), ("1.461517ms", 1.461517e-3), ("2m", 120.0), ("1h", 3600.0), ("0", 0.0)],
)
def test_times(text: str, value: float) -> None:
    assert parse_time(text) == value


def _with_children(tag: str, given: dict[str, str], children: list[ElementTree.Element]) -> ElementTree.Element:
    element = ElementTree.Element(tag, given)
    element.extend(children)
    return element


words = st.text(max_size=6) | st.sampled_from(
    ["1Gf", "1f, 2f", "0-3", "125MBps", "1us", "a", "z", "CLUSTER", "Full", "-1", "²"]
)
tags = st.sampled_from(
    ["host", "cluster", "zone", "link", "route", "prop", "link_ctn", "router", "cabinet", "backbone", "AS"]
)
attributes = st.dictionaries(
    st.sampled_from(
        [
            *(
                "id",
                "speed",
                "core",
                "pstate",
                "prefix",
                "suffix",
                "radical",
                "bw",
                "lat",
                "bb_bw",
                "bandwidth",
                "latency",
            ),
            *("src", "dst", "gw_src", "gw_dst", "routing", "sharing_policy", "value", "limiter_link", "topology"),
        ]
    ),
    words,
)
elements = st.recursive(
    st.builds(lambda tag, given: ElementTree.Element(tag, given), tags, attributes),
    lambda inner: st.builds(_with_children, tags, attributes, st.lists(inner, max_size=4)),
    max_leaves=12,
)


@given(st.lists(elements, max_size=5))
def test_whatever_is_in_a_file_it_is_read_or_refused(children: list[ElementTree.Element]) -> None:
    root = _with_children("platform", {"version": "4.1"}, children)
    with contextlib.suppress(ValueError):
        read_xml(ElementTree.tostring(root, encoding="unicode"))
