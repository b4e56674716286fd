"""Routes between hosts."""

import math
from pathlib import Path

import pytest

from batkube.batsim.platform import PlatformError, read_platform
from batkube.batsim.routing import Router
from tests.batsim.test_platform import platform
from tests.batsim.transcripts import DATASETS, needs_datasets, scenario


def names(router: Router, source: str, destination: str) -> list[str]:
    return [link.name for link in router.route(source, destination)]


@needs_datasets
def test_declared_routes_go_both_ways() -> None:
    router = Router(read_platform(DATASETS / "batsim" / "platforms" / "small_platform.xml"))
    assert names(router, "Fafard", "Ginette") == ["8", "1", "0", "2", "5"]
    assert names(router, "Ginette", "Fafard") == ["5", "2", "0", "1", "8"]
    assert names(router, "Jupiter", "Jupiter") == ["loopback"]


@needs_datasets
def test_a_route_that_is_not_symmetrical_has_its_own_way_back() -> None:
    router = Router(read_platform(DATASETS / "batkube-go" / "platforms" / "1node.xml"))
    one, two = "graphene-1.nancy.grid5000.fr", "graphene-2.nancy.grid5000.fr"
    assert names(router, one, two) == [f"{one}_UP", f"{two}_DOWN"]
    assert names(router, two, one) == [f"{one}_UP", f"{two}_DOWN"]


def test_hosts_of_a_cluster_meet_on_its_backbone_and_clusters_at_their_routers() -> None:
    router = Router(read_platform(scenario("v4/ptask_calibration").folder / "cores.xml"))
    assert names(router, "n0", "n7") == ["c_link_n0_UP", "c_backbone", "c_link_n7_DOWN"]
    assert names(router, "n0", "q1") == ["c_link_n0_UP", "c_backbone", "bb", "big_backbone", "big_link_q1_DOWN"]
    assert names(router, "q1", "n0") == ["big_link_q1_UP", "big_backbone", "bb", "c_backbone", "c_link_n0_DOWN"]


@needs_datasets
@pytest.mark.parametrize(
    "name",
    [
        "batkube-go/platforms/platform_graphene_16nodes.xml",
        "batsim/platforms/cluster_energy_128.xml",
        "batsim/platforms/graphene.xml",
        "batsim/platforms/properties_example.xml",
        "batsim/platforms/cluster_locality_8x16.xml",
    ],
)
def test_compute_hosts_of_real_platforms_have_routes(name: str) -> None:
    read = read_platform(DATASETS / name)
    router = Router(read)
    hosts = [host for host in read.hosts_by_name if host not in ("master_host", "graphene-0.nancy.grid5000.fr")][::11]
    assert all(router.route(source, destination) for source in hosts for destination in hosts if source != destination)


def test_split_duplex_links_are_two(tmp_path: Path) -> None:
    read = platform(
        tmp_path / "p.xml",
        '<zone id="z" routing="Full"><host id="a" speed="1f"/><host id="b" speed="1f"/>',
        '<link id="l" bandwidth="8bps" latency="1s" sharing_policy="SPLITDUPLEX"/>',
        '<route src="a" dst="b"><link_ctn id="l" direction="UP"/></route></zone>',
    )
    router = Router(read)
    assert (names(router, "a", "b"), names(router, "b", "a")) == (["l_UP"], ["l_DOWN"])


@pytest.mark.parametrize("routing", ["Dijkstra", "Floyd"])
def test_the_route_of_fewest_links_is_found(tmp_path: Path, routing: str) -> None:
    hosts = "".join(f'<host id="{name}" speed="1f"/>' for name in "abcd")
    links = "".join(f'<link id="{name}" bandwidth="1Bps" latency="0s"/>' for name in ("ab", "bc", "cd", "x", "y", "z"))
    read = platform(
        tmp_path / "p.xml",
        f'<zone id="z" routing="{routing}">{hosts}<router id="r"/>{links}',
        '<route src="a" dst="b"><link_ctn id="ab"/></route>',
        '<route src="b" dst="r"><link_ctn id="bc"/></route>',
        '<route src="r" dst="d"><link_ctn id="cd"/></route>',
        '<route src="a" dst="d"><link_ctn id="x"/><link_ctn id="y"/><link_ctn id="z"/><link_ctn id="x"/></route>',
        "</zone>",
    )
    router = Router(read)
    assert names(router, "a", "d") == ["ab", "bc", "cd"]
    with pytest.raises(PlatformError, match="no route from 'a' to 'c'"):
        router.route("a", "c")


def test_hosts_at_coordinates_have_a_latency_and_no_bandwidth(tmp_path: Path) -> None:
    hosts = '<host id="a" speed="1f" coordinates="30 40 2"/><host id="b" speed="1f" coordinates="0 0 1"/>'
    router = Router(platform(tmp_path / "p.xml", f'<zone id="z" routing="Vivaldi">{hosts}<router id="r"/></zone>'))
    (link,) = router.route("a", "b")
    assert (link.latency, link.bandwidth) == (0.053, math.inf)
    with pytest.raises(PlatformError, match="'r' in zone 'z' of routing Vivaldi has no coordinates"):
        router.route("a", "r")


def test_a_zone_of_no_routing_has_no_routes(tmp_path: Path) -> None:
    hosts = '<host id="a" speed="1f"/><host id="b" speed="1f"/>'
    router = Router(platform(tmp_path / "p.xml", f'<zone id="z" routing="None">{hosts}</zone>'))
    for destination in "ab":
        with pytest.raises(PlatformError, match="zone 'z' has routing None, and so no routes"):
            router.route("a", destination)
