"""Storage hosts for the labels of profiles, and what is said where nobody names them."""

from pathlib import Path
from typing import Any

import pytest

from batkube.batsim.messages import Resource, SimulationBegins
from batkube.batsim.profiles import parse_profile
from batkube.bridge.storages import StorageNeeds, Storages
from tests.bridge.world import World, delays

ONE = Storages([Resource(id=4, name="disk")])
TWO = Storages([Resource(id=4, name="disk"), Resource(id=5, name="tape")])


def needs(*profiles: dict[str, Any]) -> StorageNeeds:
    return StorageNeeds.of(parse_profile(str(index), raw) for index, raw in enumerate(profiles))


PFS = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 1}
STAGING = {"type": "data_staging", "nb_bytes": 1, "from": "disk", "to": "tape"}


def test_the_only_storage_host_need_not_be_named() -> None:
    assert ONE.mapping(needs(PFS), {}) is None
    assert ONE.mapping(needs({"type": "delay", "delay": 1}), {}) is None
    named = Storages([Resource(id=4, name="disk")], named=True)
    assert named.mapping(needs(PFS), {}) == {"pfs": 4}


def test_a_label_is_a_hosts_name_or_what_the_job_says() -> None:
    assert TWO.mapping(needs(STAGING), {}) == {"disk": 4, "tape": 5}
    assert TWO.mapping(needs(PFS, STAGING), {"pfs": "tape"}) == {"pfs": 5, "disk": 4, "tape": 5}


@pytest.mark.parametrize(
    ("storages", "requirements", "why"),
    [
        (TWO, {}, "uses the storage 'pfs', and nobody says which host that is .* the platform has disk, tape"),
        (TWO, {"pfs": "cloud"}, "pfs: there is no storage host 'cloud'; the platform has disk, tape"),
        (Storages(), {}, "the platform has none"),
    ],
)
def test_a_label_without_a_host_is_named(storages: Storages, requirements: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        storages.mapping(needs(PFS), requirements)


async def test_batsim_5_wants_even_the_only_storage_named(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}))
    simulation_begins = world.simulator.next_message()
    (event,) = simulation_begins.events
    assert isinstance(event, SimulationBegins)
    event.data.names_storages = True
    event.data.storage_resources = [Resource(id=1, name="disk")]

    async def between() -> None:
        return

    await world.simulation.apply(simulation_begins, between)
    assert world.simulation.cluster.storages.mapping(needs(PFS), {}) == {"pfs": 1}
