"""What the kubelet's part writes into the store."""

from batkube.bridge.kubelet import Kubelet
from batkube.bridge.time import SimulatedTime
from batkube.kube.server import ApiServer

NAMES = ("b", "a", "c")


def test_no_two_pods_start_at_the_same_time_and_their_order_is_kept() -> None:
    """Else kube-scheduler chooses between two victims by the order of a Go map."""
    time = SimulatedTime(1_577_836_800.0)
    server = ApiServer(now=time.unix)
    kubelet = Kubelet(server, time)
    for name in NAMES:
        server.create("pods", {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
    time.advance(3600.25)
    for name in NAMES[:2]:
        kubelet.start(name)
    time.advance(3600.5)
    kubelet.start(NAMES[2])
    statuses = [server.get("pods", name)["status"] for name in NAMES]
    assert [status["startTime"] for status in statuses] == [
        "2020-01-01T01:00:00.250000000Z", "2020-01-01T01:00:00.250000001Z", "2020-01-01T01:00:00.500000000Z",
    ]  # fmt: skip
    kubelet.succeed("a", 3600.5, 3600.5)
    ended = server.get("pods", "a")["status"]
    assert ended["startTime"] == "2020-01-01T01:00:00.250000001Z"
    assert ended["containerStatuses"][0]["state"]["terminated"]["startedAt"] == "2020-01-01T01:00:00Z"
