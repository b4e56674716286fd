"""Cores that nobody tells: Batsim 4 does not, so that without the platform file they are unknown."""

import pytest

from batkube.batsim.messages import Resource
from batkube.bridge.cluster import Cluster
from batkube.bridge.errors import InputError
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer
from tests.simulator.cluster import platform


def cluster(*resources: Resource, exclusive: bool = True, cores: int | None = None) -> Cluster:
    time = SimulatedTime(0.0)
    made = Cluster(ApiServer(now=time.unix), time, platform(2, cores=cores) if cores else None)
    made.create(resources, exclusive=exclusive)
    return made


def test_a_job_of_one_core_needs_no_platform_file() -> None:
    assert cluster(Resource(id=0, name="h00")).why_never(1, {"cpu": "1"}) is None


def test_a_job_of_more_cores_is_not_rejected_for_what_nobody_knows() -> None:
    hosts = cluster(Resource(id=0, name="h00"))
    with pytest.raises(InputError, match=r"cpu 4 is asked for, and host h00: Batsim 4 does not tell .* --platform"):
        hosts.why_never(1, {"cpu": "4"})
    # It is too large whatever the cores are.
    assert hosts.why_never(2, {"cpu": "4"}) == "it needs 2 times cpu 4 at once, and the empty cluster has room for 0"


def test_shared_hosts_need_their_cores_to_be_known() -> None:
    with pytest.raises(InputError, match="host h00: Batsim 4 does not tell"):
        cluster(Resource(id=0, name="h00"), exclusive=False)


@pytest.mark.parametrize(
    "host", [Resource(id=0, name="h00", cores=4), Resource(id=0, name="h00", properties={"core": "4"})]
)
def test_batsim_5_tells_and_a_property_tells(host: Resource) -> None:
    assert cluster(host, exclusive=False).why_never(1, {"cpu": "4"}) is None
    assert "room for 0" in str(cluster(host).why_never(1, {"cpu": "5"}))


def test_a_host_that_the_platform_file_lacks_makes_it_another_platform() -> None:
    with pytest.raises(InputError, match=r"host x7: Batsim has it, but .* is it another platform\?"):
        cluster(Resource(id=0, name="x7"), cores=4)
