"""The kubelet's part: its writes into the store."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.batsim.jobs import parse_job
from batkube.bridge.jobs import Job, PodRequirements
from batkube.bridge.kubelet import Kubelet
from batkube.bridge.kubelet_events import Told
from batkube.bridge.names import NAMESPACE
from batkube.bridge.pods import pods_of
from batkube.bridge.time import SimulatedTime
from batkube.controllers.cluster import Cluster
from batkube.controllers.recorder import Recorder
from batkube.kube.in_process.trusted import TrustedWrites
from batkube.kube.server import ApiServer
from tests.bridge.world import World, delays

JSON = dict[str, Any]
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


def test_what_a_kubelet_and_a_controller_tell_of_a_pod_at_one_date_is_all_told() -> None:
    time = SimulatedTime(1_577_836_800.0)
    server = ApiServer(now=time.unix)
    spec = {"nodeName": "h0", "containers": [{"name": "c", "image": "x"}]}
    pod = server.create("pods", {"metadata": {"name": "a"}, "spec": spec})
    cluster, kubelet = Cluster(server, time, lambda text: None), Kubelet(server, time)
    recorder = Recorder(cluster, "node-controller", server.controller("node-controller"))
    recorder.event(pod, "Warning", "NodeNotReady", "Node is not ready")
    kubelet.tell("a", Told.PULLING, 0.0)
    recorder.event(pod, "Normal", "Other", "something else")
    assert {each["reason"] for each in server.list("events")} == {"NodeNotReady", "Pulling", "Other"}


class ByTheRules(TrustedWrites):
    """Trusts nobody: its writes are those of a client."""

    def create_pod(self, pod: JSON, namespace: str, *, plain: Sequence[str] = ()) -> JSON:
        return self._create("pods", pod, namespace)

    def set_status(self, resource: str, name: str, status: JSON, namespace: str = "") -> JSON:
        current = self._api.stored(self._api.registry.named(resource), namespace, name).obj
        return self._update(resource, {**current, "status": status}, "status", verbatim=("startTime",))


def lives(server: ApiServer, jobs: list[JSON]) -> list[bytes]:
    """All that is stored while the pods of the jobs come and go, in order, byte by byte."""
    stored: list[bytes] = []
    server.subscribe(lambda change: stored.append(orjson.dumps([change.revision, change.type, change.object])))
    time = SimulatedTime(1_577_836_800.0)
    kubelet = Kubelet(server, time)
    date = 0.0
    for number, drawn in enumerate(jobs):
        name = f"w0-{number}"
        requirements = PodRequirements.read("job", {**drawn["requirements"]}, {})
        asked = {"id": str(number), "subtime": 0.0, "res": 1, "profile": "p", "walltime": drawn["walltime"] or -1}
        job = Job(f"w0!{number}", parse_job(asked), number, requirements, "default-scheduler", pods=[name])
        requests = {"cpu": requirements.cpu or "1", **({"memory": requirements.memory} if requirements.memory else {})}
        if requirements.gpu:
            requests["nvidia.com/gpu"] = requirements.gpu
        pod = pods_of(job, server.registry.named("pods"), requests=requests, priority_class=drawn["class"])[0]
        server.trusted.create_pod(pod, NAMESPACE, plain=("activeDeadlineSeconds",))
        scheduled = {"type": "PodScheduled", "status": "True", "observedGeneration": 1, "lastTransitionTime": None}
        made = server.get("pods", name)
        server.update("pods", {**made, "status": {**made["status"], "conditions": [scheduled]}}, "status")
        for step in drawn["steps"]:
            date = time.now + step
            if step > 1:
                kubelet.create(name)
            time.advance(date)
        kubelet.start(name)
        time.advance(date := date + 3.5)
        match drawn["end"]:
            case "well":
                kubelet.succeed(name, date, date - 0.25)
            case "badly":
                kubelet.fail(name, date, 256 + 3, date)
            case "late":
                kubelet.exceed_deadline(name, date, date)
            case "killed":
                kubelet.kill(name, date, "somebody said so", date)
    return stored


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "requirements": st.fixed_dictionaries(
                    {},
                    optional={
                        "cpu": st.sampled_from(["1", "500m", "0.25", "1e1"]),
                        "memory": st.sampled_from(["1Gi", "900M", "1.5Gi"]),
                        "gpu": st.sampled_from(["1", "2"]),
                        "nodeSelector": st.sampled_from([{"a": "b"}, {"a": "b", "c": "d"}]),
                        "scheduler": st.sampled_from(["mine", "yours"]),
                    },
                ),
                "walltime": st.sampled_from([None, 0.5, 10.0, 11.0, 1e12]),
                "class": st.sampled_from([None, "system-cluster-critical"]),
                "steps": st.lists(st.sampled_from([0.0, 0.4, 2.5]), max_size=3),
                "end": st.sampled_from(["well", "badly", "late", "killed", "never"]),
            }
        ),
        max_size=6,
    )
)
def test_what_it_writes_is_in_the_stored_form(jobs: list[JSON]) -> None:
    """Trusted or checked, the same objects come to be."""
    trusting, strict = (ApiServer(now=lambda: 1_577_836_800.0) for _ in range(2))
    strict.trusted = ByTheRules(strict._api, strict.create, strict.update)
    assert lives(trusting, jobs) == lives(strict, jobs)


async def test_a_pod_that_waits_for_others_of_its_job_has_a_start_time_of_its_own(tmp_path: Path) -> None:
    """kube-scheduler tells victims apart by it; of those without one it takes any."""
    world = World(tmp_path, [1, 1, 1], delays({"id": "gang", "res": 3}))
    waiting: list[JSON] = []

    async def one_at_a_time(world: World) -> None:
        seen = [pod for pod in world.server.list("pods") if pod["spec"].get("nodeName")]
        for pod in world.waiting()[:1]:
            name = pod["metadata"]["name"]
            await world.bind(name, f"h{name[-1]}")
        if len(seen) == 2:
            waiting.extend(seen)

    await world.run(one_at_a_time)
    assert [pod["status"]["phase"] for pod in waiting[:2]] == ["Pending", "Pending"]
    times = {pod["status"]["startTime"] for pod in waiting[:2]}
    assert len(times) == 2
    assert {job.life.state for job in world.simulation.control.ended} == {"COMPLETED_SUCCESSFULLY"}
