"""The leases of nodes, as clients find them."""

from pathlib import Path

from tests.bridge.test_client_pods import NO_JOBS, pod
from tests.bridge.world import JSON, World, first_fit, outage

PATH = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


async def test_each_node_has_a_lease_that_is_renewed_while_it_is_there(tmp_path: Path) -> None:
    pods = [pod(f"p{number}", duration=str(duration)) for number, duration in enumerate((3, 24, 47, 64))]
    world = World(tmp_path, [4, 4], NO_JOBS, sharing=True, objects=pods, external_events=outage(1, 30, 60))
    seen: dict[float, dict[str, str]] = {}
    leases: list[JSON] = []

    async def schedule(world: World) -> None:
        await first_fit(world)
        leases[:] = (await world.client.get(PATH)).json()["items"]
        seen[world.time.now] = {each["metadata"]["name"]: each["spec"]["renewTime"][14:19] for each in leases}

    await world.run(schedule)
    assert {date: seen[date] for date in (3, 24, 47, 64)} == {
        3: {"h0": "00:00", "h1": "00:00"},
        24: {"h0": "00:20", "h1": "00:20"},
        47: {"h0": "00:40", "h1": "00:30"},  # it is gone from 30 to 60
        64: {"h0": "01:00", "h1": "01:00"},
    }
    spec = leases[0]["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("h0", 40)
    assert leases[0]["metadata"]["ownerReferences"][0]["kind"] == "Node"


async def test_where_nobody_looks_there_are_none(tmp_path: Path) -> None:
    world = World(tmp_path, [4], NO_JOBS, sharing=True, objects=[pod("one", duration="5")])
    await world.run(first_fit)
    await world.client.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")
    assert not world.server.list("leases.coordination.k8s.io", "kube-node-lease")
