"""Pods and jobs at random, of which users delete some: none is lost, none runs twice at once, no node is overfull."""

import random
from pathlib import Path

import pytest

from batkube.batsim.external_events import ExternalEvent
from batkube.batsim.jobs import JobState
from batkube.bridge.controller_settings import Which
from batkube.bridge.names import pod_key
from batkube.bridge.run_times import RunTimeRules
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from batkube.results.pods import REPLACED
from batkube.results.resizes import spans
from tests.bridge.test_client_pods import pod
from tests.bridge.world import JSON, World, delays, outage

CORES = 4


class Game:
    """A cluster of two nodes, jobs and pods that are drawn, and a user who makes and deletes some."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.fate = random.Random(f"machines {seed}")
        self.made = 0
        jobs = [
            {"id": str(number), "subtime": self.rng.randint(0, 300), "cpu": self.rng.randint(1, CORES), "profile": "p"}
            for number in range(self.rng.randint(0, 8))
        ]
        objects = [self.pod() for _ in range(self.rng.randint(1, 10))]
        keep = self.rng.choice((None, None, 0, 3))
        until = self.rng.choice((0.0, 700.0))
        oom_killer = self.rng.random() < 0.7
        outages = self.outages() if self.rng.random() < 0.6 else []
        self.world = World(
            folder, [CORES, CORES], delays(*jobs, p=self.rng.randint(1, 200)), sharing=True, objects=objects,
            run_times=RunTimeRules(oom_killer=oom_killer), keep_finished=keep, until=until,
            external_events=outages, controllers=self.fate.choice((Which.NONE, Which.BUILTIN)),
            grace=self.fate.choice((0.0, 0.0, 7.0, 50.0)),
        )  # fmt: skip

    def outages(self) -> list[ExternalEvent]:
        """Let hosts fail, for good or for a while; some flap, and both may be gone at once."""
        events, fate = [], self.fate
        for host in (0, 1):
            date = float(fate.choice((0, 5, 40, 100)))
            for _ in range(fate.randint(0, 3)):
                length = fate.choice((0, 1, 30, 60, 400, 100_000))
                events += outage(host, date, date + length)
                date += length + fate.choice((1, 20, 90))
        return sorted(events, key=lambda event: event.timestamp)

    def pod(self) -> JSON:
        rng = self.rng
        self.made += 1
        notes = {"duration": str(rng.choice((0, 1, 7, 60, 300, "forever")))}
        if rng.random() < 0.3:
            notes["exit_code"] = "1"
        if rng.random() < 0.3:
            notes["termination_duration"] = str(rng.choice((1, 10, "forever")))
        if rng.random() < 0.3:
            notes["usage"] = f"memory={rng.choice(('1Gi', '600Gi'))}; 5 cpu=2,memory={rng.choice(('2Gi', '700Gi'))}"
        policy = rng.choice(("Never", "Never", "OnFailure", "Always"))
        namespace = rng.choice(("default", "default", "kube-system"))
        made = pod(f"p{self.made}", policy=policy, cpu=str(rng.randint(1, 5)), namespace=namespace, **notes)
        if rng.random() < 0.3:
            made["spec"]["activeDeadlineSeconds"] = rng.choice((1, 50, 400))
        if rng.random() < 0.3:
            self.more(made)
        if self.fate.random() < 0.5:
            patience = self.fate.choice((0, 5, 40))
            made["spec"]["tolerations"] = [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": patience}]
        return made

    def more(self, made: JSON) -> None:
        """Give a pod init containers, one that fails now and then, sidecars and other containers."""
        rng = self.rng

        def container(name: str, **more: object) -> JSON:
            command = f"sleep {rng.choice((0, 3, 20, 'infinity'))}; exit {rng.choice((0, 0, 0, 1))}"
            return {"name": name, "image": "app", "command": ["sh", "-c", command], **more}

        initial = [container(f"i{number}") for number in range(rng.randint(0, 3))]
        for each in initial:
            if rng.random() < 0.3:
                each["restartPolicy"] = "Always"
        made["spec"]["initContainers"] = initial
        others = [container(f"c{number}") for number in range(rng.randint(0, 2))]
        made["spec"]["containers"] += others
        if rng.random() < 0.5:
            made["metadata"]["annotations"]["batkube.io/duration.main"] = str(rng.choice((0, 10, 100)))

    async def resize(self, world: World, chosen: JSON) -> None:
        """Ask for other requests of a pod; what the API refuses is left."""
        metadata, container = chosen["metadata"], chosen["spec"]["containers"][0]["name"]
        await world.client.patch(
            f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/resize",
            headers={"Content-Type": "application/strategic-merge-patch+json"},
            json={
                "spec": {
                    "containers": [
                        {"name": container, "resources": {"requests": {"cpu": str(self.rng.randint(1, CORES))}}}
                    ]
                }
            },
        )

    async def schedule(self, world: World) -> None:
        """Place what there is room for; now and then a user makes a pod, or deletes one."""
        if self.made < 20 and self.rng.random() < 0.1:
            given = self.pod()
            world.server.create("pods", given, given["metadata"]["namespace"])
        pods = world.server.list("pods")
        if pods and self.rng.random() < 0.05:
            victim = self.rng.choice(list(pods))["metadata"]
            await world.client.delete(f"/api/v1/namespaces/{victim['namespace']}/pods/{victim['name']}")
        if pods and self.rng.random() < 0.1:
            await self.resize(world, self.rng.choice(list(pods)))
        for waiting in world.waiting():
            for node in world.nodes():
                name, metadata = node["metadata"]["name"], waiting["metadata"]
                if world.simulation.cluster.why_no_room(waiting, name) is None:
                    await world.bind(metadata["name"], name, metadata["namespace"])
                    break

    def check(self) -> None:
        """Hold the end to what must be so, whatever was drawn."""
        control = self.world.simulation.control
        rows = list(self.world.simulation.finished.pods())
        kept = [(row.pod, row.job_id) for row in rows if row.reason != REPLACED]
        assert len({*kept}) == len(kept)
        ended = list(self.world.simulation.finished.records())
        assert len({record.job_id for record in ended}) == len(ended)
        assert control.submitted == len(ended) + len(control.clients.stopped)
        for row in rows:
            assert (row.finish_time is not None) == (row.phase in ("Succeeded", "Failed") or row.reason != ""), row
            if row.phase == "Running":
                assert row.starting_time is not None
        used: dict[str, list[tuple[float, float, float]]] = {}
        for row in rows:
            if row.bound_time is not None and row.finish_time != row.bound_time:
                end = self.world.time.now if row.finish_time is None else row.finish_time
                for span in spans(row.bound_time, end, row.cpu, row.memory, row.resizes):
                    until = end if span.until is None else span.until
                    used.setdefault(row.node, []).append((span.since, until, span.cpu))
        for there in used.values():
            for date, _, _ in there:
                assert sum(cpu for since, until, cpu in there if since <= date < until) <= CORES
        self.check_api()
        still = [name for name, pods in control.jobs.items() if pods.life.state is JobState.RUNNING]
        assert not still or all(control.jobs[name].client for name in still)

    def check_api(self) -> None:
        """Hold what the API shows of pods to what runs: but for hosts that have failed it is the same."""
        control, cluster = self.world.simulation.control, self.world.simulation.cluster
        for shown in self.world.server.list("pods"):
            metadata, node = shown["metadata"], shown["spec"].get("nodeName")
            job = control.job_of(pod_key(metadata["namespace"], metadata["name"]))
            if node is None or job is None or job.uids.get(job.pods[0]) != metadata["uid"] or not cluster.runs(node):
                continue
            assert job.id not in control.clients.without_host
            if job.client is not None and shown["status"]["phase"] in ("Succeeded", "Failed"):
                assert not cluster.occupancy.holds(metadata["uid"]), shown["metadata"]
            elif job.client is not None:
                assert cluster.occupancy.holds(metadata["uid"]), shown["metadata"]


@pytest.mark.parametrize("seed", [*range(60), 148])  # 148: a pod gets its node when all is over
async def test_every_pod_is_accounted_for(tmp_path: Path, seed: int) -> None:
    game = Game(tmp_path, seed)
    # Servers may take what jobs wait for, for ever: such jobs are rejected.
    await game.world.run(game.schedule, StepSettings(patience=0.01, on_deadlock=OnDeadlock.REJECT))
    game.check()
