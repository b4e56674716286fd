"""Images: pulls that fail, with a kubelet's words and back-off, and what becomes of pods that never get theirs."""

import random
from math import inf
from pathlib import Path
from typing import Any

import pytest

from batkube.batsim.jobs import JobState
from batkube.bridge.controller_settings import Which
from batkube.bridge.errors import Stuck
from batkube.bridge.image_names import full_name, tagged
from batkube.bridge.speeds import Slowdown
from batkube.bridge.startup import Startup
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from batkube.kube.apimachinery.times import unix_seconds
from batkube.startup.errors import StartupError
from batkube.startup.model import read_startup
from tests.bridge.test_client_pods import NO_JOBS, phase, pod, runs
from tests.bridge.test_init_containers import Seen, condition, container, states, with_init
from tests.bridge.test_membership import new_node
from tests.bridge.world import JSON, World, delays, first_fit, outage

MISSING = (
    "rpc error: code = NotFound desc = failed to pull and unpack image "
    '"docker.io/library/app:latest": failed to resolve reference "docker.io/library/app:latest": '
    "docker.io/library/app:latest: not found"
)
DIGEST = f"sha256:{'0' * 64}"
REJECT = StepSettings(patience=0.01, on_deadlock=OnDeadlock.REJECT)


def images(folder: Path, text: str, seed: int = 0) -> Startup:
    """Return a start-up model of images alone, or more."""
    folder.mkdir(exist_ok=True)
    path = folder / "startup.yaml"
    path.write_text(text if text.startswith("images:") or "\nimages:" in text else f"images: {{{text}}}")
    return Startup(read_startup(path), seed)


def events_of(world: World, name: str) -> list[tuple[float, str, str, str]]:
    """Return a kubelet's Events of a pod, in their order: date, kind, reason and message."""
    found = [
        (int(event["metadata"]["name"].rpartition("-")[2], 16), event)
        for event in world.server.list("events")
        if event["involvedObject"].get("name") == name and ".kubelet-" in event["metadata"]["name"]
    ]
    return [
        (unix_seconds(event["firstTimestamp"]), event["type"], event["reason"], event["message"])
        for _, event in sorted(found, key=lambda each: each[0])
    ]


def reasons(world: World, resource: str, name: str) -> dict[str, str]:
    """Return the reason of each condition of an object."""
    return {
        each["type"]: each["reason"] for each in world.server.get(resource, name, "default")["status"]["conditions"]
    }


async def test_a_pull_that_fails_is_tried_again_as_a_kubelet_does(tmp_path: Path) -> None:
    startup = images(tmp_path, "failures: [{image: app, times: 3}]")
    world = await Seen(tmp_path, pod("one", duration="5"), startup=startup).play()
    assert runs(world) == [("one", "SUCCESSFULLY", 70, 75)]  # 10 + 20 + 40
    at = world.statuses
    assert [(date, states(told, "containerStatuses")[0]) for date, told in at.items()] == [
        (0, "ErrImagePull"), (1, "ImagePullBackOff"), (10, "ErrImagePull"), (11, "ImagePullBackOff"),
        (30, "ErrImagePull"), (31, "ImagePullBackOff"), (70, "running"), (75, "Completed"),
    ]  # fmt: skip
    assert [told["phase"] for told in at.values()] == ["Pending"] * 6 + ["Running", "Succeeded"]
    waiting = [at[date]["containerStatuses"][0]["state"]["waiting"]["message"] for date in (0, 1)]
    assert waiting == [MISSING, f'Back-off pulling image "app": ErrImagePull: {MISSING}']
    assert condition(at[0], "PodReadyToStartContainers")[0] == "True"
    assert condition(at[0], "ContainersReady")[:2] == ("False", "ContainersNotReady")
    first = [event[1:] for event in events_of(world, "one") if event[0] <= 1]
    assert first == [
        ("Normal", "Pulling", 'Pulling image "app"'),
        ("Warning", "Failed", f'Failed to pull image "app": {MISSING}'),
        ("Warning", "Failed", "Error: ErrImagePull"),
        ("Normal", "BackOff", 'Back-off pulling image "app"'),
        ("Warning", "Failed", "Error: ImagePullBackOff"),
    ]
    failed = [(event["time"], event["reason"]) for event in world.logged() if event["event"] == "image_pull_failed"]
    assert failed == [(0, "ErrImagePull"), (10, "ErrImagePull"), (30, "ErrImagePull")]


async def test_the_back_off_is_five_minutes_at_most(tmp_path: Path) -> None:
    startup = images(tmp_path, "failures: [{until: 30m}]")
    world = await Seen(tmp_path, pod("one", duration="5"), startup=startup).play()
    pulls = [date for date, _, reason, _ in events_of(world, "one") if reason == "Pulling"]
    assert pulls == [0, 10, 30, 70, 150, 310, 610, 910, 1210, 1510, 1810]


@pytest.mark.parametrize(
    ("image", "policy", "reason", "message"),
    [
        ("Bad:1", None, "InvalidImageName",
         'Failed to apply default image tag "Bad:1": couldn\'t parse image name "Bad:1": invalid reference format: '
         "repository name (library/Bad) must be lowercase"),
        ("app", "Never", "ErrImageNeverPull", 'Container image "app" is not present with pull policy of Never'),
        ("app", None, "ImagePullBackOff", f'Back-off pulling image "app": ErrImagePull: {MISSING}'),
    ],
)  # fmt: skip
async def test_a_pod_that_never_gets_its_image_holds_its_node_and_the_run_says_so(
    tmp_path: Path, image: str, policy: str | None, reason: str, message: str
) -> None:
    given = pod("one", cpu="8", duration="5")
    given["spec"]["containers"][0] |= {"image": image, **({"imagePullPolicy": policy} if policy else {})}
    job = {"id": "behind", "cpu": 1, "subtime": 1}
    world = Seen(tmp_path, given, workload=delays(job), startup=images(tmp_path, "failures: [{image: app}]"))
    with pytest.raises(Stuck) as raised:
        await world.play()
    why = reason if reason != "ImagePullBackOff" else "ErrImagePull"
    assert f"job pods!one: pod one on h0: container main: {why}: " in str(raised.value)
    assert "w0-behind unbound" in str(raised.value)
    waiting = list(world.statuses.values())[-1]["containerStatuses"][0]["state"]["waiting"]
    assert waiting == {"reason": reason, "message": message}


async def test_with_a_last_date_pods_that_never_start_are_named_in_a_warning(tmp_path: Path) -> None:
    startup = images(tmp_path, "failures: [{image: app}]")
    world = await Seen(tmp_path, pod("one", duration="5"), startup=startup, until=100).play()
    (warning,) = world.simulation.warnings
    assert warning.startswith("pods have their node and never start: pod one on h0: container main: ErrImagePull: rpc")
    assert phase(world, "one") == "Pending"
    assert [event["time"] for event in world.logged() if event["event"] == "image_pull_failed"] == [0, 10, 30, 70]


async def test_jobs_of_workloads_wait_for_the_images_of_all_their_pods(tmp_path: Path) -> None:
    workload = delays({"id": "pair", "res": 2, "batkube": {"cpu": 1, "pod": {"spec": {"containers": [
        {"name": "job", "image": "app:1"}]}}}})  # fmt: skip
    startup = images(tmp_path, "failures: [{node: h1, times: 2}]")
    world = World(tmp_path, [1, 1], workload, sharing=True, startup=startup)
    await world.run(first_fit)
    assert runs(world) == [("pair", "SUCCESSFULLY", 30, 40)]
    rows = {row.node: row for row in world.simulation.finished.pods()}
    assert (rows["h0"].starting_time, rows["h1"].starting_time) == (0, 30)
    assert rows["h1"].wait_startup == 30


async def test_a_job_that_never_starts_is_stuck_or_rejected(tmp_path: Path) -> None:
    workload = delays({"id": "bad"}, {"id": "behind"})
    stuck = World(tmp_path / "1", [1], workload, startup=images(tmp_path, "failures: [{}]"))
    with pytest.raises(Stuck, match="job w0!bad: pod w0-bad on h0: container job: ErrImagePull: rpc error"):
        await stuck.run(first_fit)
    startup = images(tmp_path, "failures: [{image: nothing}]")
    world = World(tmp_path / "2", [1], workload, startup=startup)
    await world.run(first_fit)
    assert {name: state for name, state, *_ in runs(world)} == {"bad": "SUCCESSFULLY", "behind": "SUCCESSFULLY"}
    world = World(
        tmp_path / "3", [1], workload, startup=images(tmp_path, "failures: [{times: 1, node: h0}, {until: 1}]")
    )
    await world.run(first_fit)
    assert runs(world)[0][2] == 10
    world = World(tmp_path / "4", [1], workload, startup=images(tmp_path, "failures: [{}]"))
    await world.run(first_fit, REJECT)
    assert {name: state for name, state, *_ in runs(world)} == {"bad": "REJECTED", "behind": "REJECTED"}


async def test_a_deadline_ends_a_pod_that_waits_for_its_image(tmp_path: Path) -> None:
    late = pod("late", duration="5")
    late["spec"]["activeDeadlineSeconds"] = 25
    world = await Seen(tmp_path, late, name="late", startup=images(tmp_path, "failures: [{}]")).play()
    status = world.statuses[25]
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")
    assert world.time.now < 60


async def test_controllers_react_to_pods_that_never_start(tmp_path: Path) -> None:
    template: JSON = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]},
    }
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 1, "progressDeadlineSeconds": 60, "selector": {"matchLabels": {"app": "web"}},
                 "template": template},
    }  # fmt: skip
    job_template = {"spec": {**template["spec"], "restartPolicy": "Never"}}
    job = {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work", "namespace": "default"},
        "spec": {"activeDeadlineSeconds": 90, "template": job_template},
    }  # fmt: skip
    world = World(
        tmp_path, [4], NO_JOBS, sharing=True, objects=[deployment, job], until=200, controllers=Which.BUILTIN,
        startup=images(tmp_path, "failures: [{}]"),
    )  # fmt: skip
    await world.run(first_fit)
    assert reasons(world, "deployments.apps", "web")["Progressing"] == "ProgressDeadlineExceeded"
    assert reasons(world, "jobs.batch", "work")["Failed"] == "DeadlineExceeded"


async def test_images_of_init_containers_come_first_and_one_after_the_other(tmp_path: Path) -> None:
    given = with_init(pod("one", duration="5"), container("a", "sleep 3"), container("b"))
    given["spec"]["initContainers"][1]["image"] = "other"
    startup = images(tmp_path, "failures: [{image: other, times: 1}, {image: late, times: 1}]")
    given["spec"]["containers"][0]["image"] = "late"
    world = await Seen(tmp_path, given, startup=startup).play()
    at = world.statuses
    assert states(at[0]) == ["ContainerCreating", "ErrImagePull"]
    assert condition(at[0], "Initialized")[0] == "False"
    assert states(at[10]) == ["running", "PodInitializing"]
    assert states(at[13], "containerStatuses") == ["ErrImagePull"]
    assert condition(at[13], "Initialized")[0] == "True"
    assert runs(world) == [("one", "SUCCESSFULLY", 23, 28)]


async def test_nodes_keep_images_and_pull_one_at_a_time(tmp_path: Path) -> None:
    text = "pulled: 1\nimages: {sizes: {'big:*': 100Mi, small: 10Mi}, rate: 10Mi}"
    pods = []
    for name, image in (("a", "big:1"), ("b", "small"), ("c", "big:1"), ("d", "big:1")):
        made = pod(name, duration="5")
        made["spec"]["containers"][0]["image"] = image
        pods.append(made)
    pods[3]["metadata"]["annotations"]["batkube.io/duration"] = "1"
    world = World(tmp_path, [3], NO_JOBS, sharing=True, objects=pods, startup=images(tmp_path, text))
    await world.run(where_there_is_room)
    # a: 11 s; b: 2 more; c is pulled with a, but asks the registry once more; d comes later, and finds it there
    assert {name: start for name, _, start, _ in runs(world)} == {"a": 11, "b": 13, "c": 14, "d": 16}
    assert world.nodes()[0]["status"]["images"] == [
        {"names": ["big:1"], "sizeBytes": 100 << 20},
        {"names": ["small:latest"], "sizeBytes": 10 << 20},
    ]
    assert 'Container image "big:1" already present on machine and can be accessed by the pod' in [
        message for *_, message in events_of(world, "d")
    ]
    assert f'Successfully pulled image "small" in 2s (13s including waiting). Image size: {10 << 20} bytes.' in [
        message for *_, message in events_of(world, "b")
    ]


async def where_there_is_room(world: World) -> None:
    """Bind to nodes whose kubelet takes the pod."""
    for waiting in world.waiting():
        for node in world.nodes():
            name = node["metadata"]["name"]
            if world.simulation.cluster.why_not(waiting, name) is None:
                await world.bind(waiting["metadata"]["name"], name)
                break


async def test_a_pod_that_must_not_pull_starts_when_another_has_brought_its_image(tmp_path: Path) -> None:
    first, second = pod("first", duration="5"), pod("second", duration="5")
    first["spec"]["containers"][0] |= {"image": "app:1", "imagePullPolicy": "Never"}
    second["spec"]["containers"][0] |= {"image": "app:1"}
    startup = images(tmp_path, "sizes: {app:1: 7}, rate: 1")
    world = World(tmp_path, [4], NO_JOBS, sharing=True, objects=[first, second], startup=startup)
    await world.run(first_fit)
    assert {name: start for name, _, start, _ in runs(world)} == {"first": 7, "second": 7}


@pytest.mark.parametrize(
    ("image", "full", "short"),
    [
        ("app", "docker.io/library/app:latest", "app:latest"),
        ("me/app:1", "docker.io/me/app:1", "me/app:1"),
        ("localhost:5000/app", "localhost:5000/app:latest", "localhost:5000/app:latest"),
        ("index.docker.io/app:2", "docker.io/library/app:2", "index.docker.io/app:2"),
        (f"app@{DIGEST}", f"docker.io/library/app@{DIGEST}", f"app@{DIGEST}"),
        (f"app:1@{DIGEST}", f"docker.io/library/app:1@{DIGEST}", f"app:1@{DIGEST}"),
    ],
)
def test_names_of_images(image: str, full: str, short: str) -> None:
    assert (full_name(image), tagged(image)) == (full, short)


@pytest.mark.parametrize("image", ["a b", "app:", "app:-1", "docker/App", "a" * 64, "/app", "app@sha256:1", "a" * 256])
def test_names_that_are_none(image: str) -> None:
    with pytest.raises(ValueError, match="Failed to apply default image tag"):
        full_name(image)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("failures: [{image: app, fail: 0}]", "failures.0.fail: Input should be greater than 0"),
        ("failures: [{colour: red}]", "failures.0.colour: "),
        ("failures: [7]", "failures.0: expected a failure such as"),
        ("failures: [{selector: 'a=('}]", "failures.0.selector: "),
        ("failures: [{until: soon}]", "failures.0.until: expected seconds or a length"),
        ("sizes: {app: large}", "sizes.app: expected a size such as 500Mi, not 'large'"),
        ("rate: 0", "rate: "),
    ],
)
def test_what_is_wrong_is_told_by_field(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(StartupError) as raised:
        images(tmp_path, text)
    assert f"line 1: images.{error}" in str(raised.value)


class Trouble:
    """Pods and jobs that are drawn, with images that fail, users who delete, deadlines, and a node that is lost."""

    def __init__(self, folder: Path, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        failures = ["{image: 'flaky*', fail: 40%}", "{image: 'soon:*', times: 2}", "{node: h1, from: 50, until: 150}"]
        if rng.random() < 0.5:
            failures.append("{image: 'never*'}")
        text = f"pulling: 1\npulled: 2\nimages: {{sizes: {{'*': 30}}, rate: 10, failures: [{', '.join(failures)}]}}"
        names = ["app:1", "app:2", "flaky", "flaky:1", "soon:1", "never", "Invalid"]
        fragment: JSON = {"containers": [{"name": "job", "image": rng.choice(names)}]}
        if rng.random() < 0.5:
            command = rng.choice(("sleep 9", "sleep 9; exit 1", "sleep infinity"))
            fragment["initContainers"] = [{**container("first", command), "image": rng.choice(names)}]
        jobs: list[JSON] = [
            {"id": str(number), "subtime": rng.randint(0, 100), "res": rng.choice((1, 1, 2)),
             "batkube": {"cpu": rng.randint(1, 2), "pod": {"spec": fragment}}}
            for number in range(rng.randint(0, 4))
        ]  # fmt: skip
        pods = []
        for number in range(rng.randint(1, 8)):
            made = pod(f"p{number}", duration=str(rng.choice((1, 30, 200))), policy=rng.choice(("Never", "OnFailure")))
            made["spec"]["containers"][0]["image"] = rng.choice(names)
            if rng.random() < 0.3:
                made["spec"]["activeDeadlineSeconds"] = rng.choice((5, 60, 400))
            if rng.random() < 0.4:
                made = with_init(made, container("first", f"sleep {rng.choice((0, 7))}"))
                made["spec"]["initContainers"][0]["image"] = rng.choice(names)
            if rng.random() < 0.3:
                made["spec"]["containers"].append(container("more", "sleep 3"))
                made["spec"]["containers"][1] |= {
                    "image": rng.choice(names),
                    "imagePullPolicy": rng.choice(("Always", "Never")),
                }
            pods.append(made)
        self.world = World(
            folder, [4, 4], delays(*jobs, p=rng.randint(1, 100)), sharing=True, objects=pods,
            startup=images(folder, text, seed), external_events=outage(0, 40, 90) if rng.random() < 0.4 else (),
            slowdowns=[Slowdown(rng.randint(0, 60), rng.choice((90, inf)), ("h0",), 0.5)] if rng.random() < 0.4 else (),
            until=rng.choice((0.0, 300.0)), requeue=rng.choice(("never", "restart")),
        )  # fmt: skip
        self.flips = rng.random() < 0.4

    async def schedule(self, world: World) -> None:
        pods = world.server.list("pods")
        if self.flips and self.rng.random() < 0.03:
            gone = "h1" not in [node["metadata"]["name"] for node in world.nodes()]
            if gone:
                await world.client.post("/api/v1/nodes", json=new_node("h1"))
            else:
                await world.client.delete("/api/v1/nodes/h1")
        if pods and self.rng.random() < 0.05:
            victim = self.rng.choice(list(pods))["metadata"]["name"]
            await world.client.delete(f"/api/v1/namespaces/default/pods/{victim}")
        await where_there_is_room(world)


def told(world: World) -> Any:
    return [runs(world), world.logged(), world.simulation.warnings, world.server.list("events")]


@pytest.mark.parametrize("seed", range(16))
async def test_whatever_happens_to_pods_that_pull_each_ends_once_or_is_named(tmp_path: Path, seed: int) -> None:
    game = Trouble(tmp_path / "1", seed)
    await game.world.run(game.schedule, REJECT)
    world = game.world
    rows = list(world.simulation.finished.pods())
    named = " ".join(world.simulation.warnings)
    for row in rows:
        if row.finish_time is None:
            assert row.phase == "Pending"
            assert row.pod in named
        if row.phase == "Running":
            assert row.starting_time is not None
    ended = list(world.simulation.finished.records())
    assert len({record.job_id for record in ended}) == len(ended)
    assert not [job for job in world.simulation.control.jobs.values() if job.life.state is JobState.RUNNING]
    again = Trouble(tmp_path / "2", seed)
    await again.world.run(again.schedule, REJECT)
    assert told(again.world) == told(world)
