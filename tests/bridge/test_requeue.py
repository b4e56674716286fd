"""Jobs that the cluster disrupts are submitted anew: by rule, with the rest of their work, and none is forgotten."""

import random
from pathlib import Path

import pytest

from batkube.batsim.machine_events import MachineEvents
from batkube.bridge.drains import Drain
from batkube.bridge.requeue_rule import RequeueRule, read_requeue
from batkube.bridge.step_settings import OnDeadlock, StepSettings
from batkube.results.run import Requeued
from tests.bridge.test_planned_outages import schedulable
from tests.bridge.world import JSON, World, delays, first_fit
from tests.machines.test_failures import course

SHORT_OUTAGE = MachineEvents({0: [course((25, 40))]})
DRAIN = Drain(20, 60, ("h0",))


def runs(world: World) -> list[tuple[str, str, float | None, float | None]]:
    return [
        (job.name, job.life.state.value.removeprefix("COMPLETED_"), job.life.starting_time, job.life.finish_time)
        for job in world.simulation.control.ended
    ]


@pytest.mark.parametrize(
    ("rule", "end", "done", "lost"),
    [("never", None, 0, 25), ("restart", 140, 100, 25), ("checkpoint:10", 120, 100, 5), ("checkpoint:5", 115, 100, 0)],
)
async def test_a_job_begins_anew_or_from_its_last_checkpoint(
    tmp_path: Path, rule: str, end: float | None, done: float, lost: float
) -> None:
    world = World(tmp_path, [4], delays({"id": "a", "cpu": 2}, p=100), machine_events=SHORT_OUTAGE, requeue=rule)
    await world.run(first_fit)
    following = [("a.attempt2", "SUCCESSFULLY", 40, end)] if end else []
    assert runs(world) == [("a", "KILLED", 0, 25), *following]
    pods = list(world.simulation.finished.pods())
    assert sum(pod.lost_work for pod in pods) == lost * 4  # exclusive hosts: the pod has all four cores
    account = world.simulation.requeue.account
    if end is None:
        assert account is None
        return
    works = {"work_run": (done + lost) * 4, "work_done": done * 4, "work_lost": lost * 4}
    assert account == Requeued(rule=rule, jobs=1, causes={"NodeLost": 1}, **works)
    first, second = world.simulation.finished.records()
    assert first.metadata == f"attempt=1;done={25 - lost:.6f};lost={lost:.6f};next=a.attempt2"
    assert second.metadata.startswith("attempt=2;done=")
    assert [pod.pod for pod in pods] == ["w0-a", "w0-a.attempt2"]


async def test_a_job_may_lose_its_node_again_and_again(tmp_path: Path) -> None:
    events = MachineEvents({0: [course((25, 30), (37, 50), (71, 80))]})
    world = World(tmp_path, [1], delays({"id": "a"}, p=60), machine_events=events, requeue="checkpoint:10")
    await world.run(first_fit)
    # 20 of 25 s are kept, none of 7, 20 of 21
    assert runs(world) == [
        ("a", "KILLED", 0, 25),
        ("a.attempt2", "KILLED", 30, 37),
        ("a.attempt3", "KILLED", 50, 71),
        ("a.attempt4", "SUCCESSFULLY", 80, 100),
    ]


async def test_parallel_tasks_go_on_from_the_part_that_was_done(tmp_path: Path) -> None:
    workload: JSON = {
        "jobs": [{"id": "a", "subtime": 0, "res": 1, "profile": "p"}],
        "profiles": {"p": {"type": "parallel_homogeneous", "cpu": 100e9, "com": 0}},
    }
    world = World(tmp_path, [1], workload, machine_events=SHORT_OUTAGE, requeue="checkpoint:10")
    await world.run(first_fit)
    assert runs(world) == [("a", "KILLED", 0, 25), ("a.attempt2", "SUCCESSFULLY", 40, pytest.approx(120, abs=1e-3))]


async def test_what_batsim_takes_from_files_alone_is_not_submitted_anew_and_a_warning_says_so(tmp_path: Path) -> None:
    workload: JSON = {
        "jobs": [{"id": "a", "subtime": 0, "res": 1, "profile": "s"}],
        "profiles": {"s": {"type": "composed", "seq": ["p", "p"]}, "p": {"type": "delay", "delay": 20}},
    }
    world = World(tmp_path, [1], workload, machine_events=SHORT_OUTAGE, requeue="restart")
    await world.run(first_fit)
    assert runs(world) == [("a", "KILLED", 0, 25)]
    assert any(
        "job w0!a is not submitted anew: Batsim crashes on a composed" in text for text in world.simulation.warnings
    )


async def test_jobs_that_users_kill_and_jobs_that_reach_their_walltime_are_not_submitted_anew(tmp_path: Path) -> None:
    jobs: list[JSON] = [{"id": "a"}, {"id": "b", "walltime": 20}]
    world = World(tmp_path, [1, 1], delays(*jobs, p=100), requeue="restart", until=12)

    async def delete(world: World) -> None:
        await first_fit(world)
        if world.time.now == 12:
            await world.client.delete("/api/v1/namespaces/default/pods/w0-a")

    await world.run(delete)
    assert runs(world) == [("a", "KILLED", 0, 12), ("b", "WALLTIME_REACHED", 0, 20)]
    account = world.simulation.requeue.account
    assert account is not None
    assert (account.jobs, account.work_run, account.work_done, account.work_lost) == (0, 32, 20, 12)


async def test_a_drained_job_is_submitted_anew(tmp_path: Path) -> None:
    drains = [Drain(15, 40, ("h0",))]
    world = World(tmp_path, [1, 1], delays({"id": "pair", "res": 2}, p=30), drains=drains, requeue="checkpoint:10")
    await world.run(schedulable)
    assert runs(world) == [("pair", "KILLED", 0, 15), ("pair.attempt2", "SUCCESSFULLY", 40, 60)]


PREEMPTED, EVICTED = "PreemptionByScheduler", "EvictionByEvictionAPI"


async def disrupt(world: World, pod: str, cause: str) -> None:
    """Take a pod away as kube-scheduler does, which marks it first, or as `kubectl drain`."""
    path = f"/api/v1/namespaces/default/pods/{pod}"
    if cause == EVICTED:
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": "default"}}
        assert (await world.client.post(f"{path}/eviction", json=body)).status_code == 201
        return
    condition = {"type": "DisruptionTarget", "status": "True", "reason": cause}
    kind = {"Content-Type": "application/strategic-merge-patch+json"}
    body = {"status": {"conditions": [condition]}}
    assert (await world.client.patch(f"{path}/status", json=body, headers=kind)).status_code == 200
    assert (await world.client.delete(path)).status_code == 200


@pytest.mark.parametrize("cause", [PREEMPTED, EVICTED, "DeletionByTaintManager"])
async def test_a_job_that_is_preempted_or_evicted_goes_on_from_its_last_checkpoint(tmp_path: Path, cause: str) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "pair", "res": 2}, p=30), requeue="checkpoint:10", until=15)

    async def schedule(world: World) -> None:
        await first_fit(world)
        if world.time.now == 15 and world.states().get("pair") == "RUNNING":
            await disrupt(world, "w0-pair-1", cause)

    await world.run(schedule)
    assert runs(world) == [("pair", "KILLED", 0, 15), ("pair.attempt2", "SUCCESSFULLY", 15, 35)]
    (told,) = [event for event in world.logged() if event["event"] == "job_requeued"]
    assert (told["cause"], told["saved"], told["lost"]) == (cause, 10, 5)
    account = world.simulation.requeue.account
    assert account is not None
    assert (account.causes, account.work_done, account.work_lost) == ({cause: 1}, 60, 10)


@pytest.mark.parametrize(
    ("rule", "ends"), [("never", [("pair", "REJECTED", None, None)]), ("restart", [("pair", "SUCCESSFULLY", 20, 30)])]
)
async def test_a_gang_that_is_preempted_before_it_starts_gets_new_pods(
    tmp_path: Path, rule: str, ends: list[tuple[str, str, float | None, float | None]]
) -> None:
    world = World(tmp_path, [1, 1], delays({"id": "pair", "res": 2}), requeue=rule, until=20)
    done: list[object] = []

    async def one_at_a_time(world: World) -> None:
        if world.waiting() and not done:
            done.append(await world.bind("w0-pair-0", "h0"))
            await disrupt(world, "w0-pair-0", PREEMPTED)
        elif world.time.now >= 20:
            await first_fit(world)

    await world.run(one_at_a_time, StepSettings(patience=0.01, on_deadlock=OnDeadlock.REJECT))
    assert runs(world) == ends
    pods = [(pod.pod, pod.reason, pod.preempted) for pod in world.simulation.finished.pods()]
    reason = "Rejected" if rule == "never" else "Replaced"
    assert pods[0] == ("w0-pair-0", reason, True)
    assert len(pods) == (2 if rule == "never" else 4)


async def test_what_is_preempted_in_the_reaction_in_which_it_got_its_node_does_not_have_it(tmp_path: Path) -> None:
    world = World(tmp_path, [1], delays({"id": "a"}, {"id": "b"}), requeue="restart")
    done: list[object] = []

    async def schedule(world: World) -> None:
        if len(world.waiting()) == 2 and not done:
            done.append(await world.bind("w0-a", "h0"))
            await disrupt(world, "w0-a", PREEMPTED)
        elif done:
            await world.bind("w0-b", "h0")
            await first_fit(world)

    await world.run(schedule)
    assert runs(world) == [("b", "SUCCESSFULLY", 0, 10), ("a", "SUCCESSFULLY", 10, 20)]


async def test_what_a_user_deletes_first_is_not_submitted_anew_for_what_comes_later(tmp_path: Path) -> None:
    slow = {"spec": {"terminationGracePeriodSeconds": 20}}
    world = World(tmp_path, [1], delays({"id": "a", "pod": slow}, p=100), requeue="restart", until=10, drains=[DRAIN])

    async def delete(world: World) -> None:
        await schedulable(world)
        if world.time.now == 10:
            await world.client.delete("/api/v1/namespaces/default/pods/w0-a")

    await world.run(delete)
    assert runs(world) == [("a", "KILLED", 0, 30)]


@pytest.mark.parametrize("seed", range(16))
async def test_work_run_is_work_done_and_work_lost_whatever_happens(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    lengths = {f"p{number}": rng.choice((0.5, 7, 60, 111.25)) for number in range(4)}
    jobs: list[JSON] = [
        {
            "id": str(number), "subtime": rng.randint(0, 200), "res": rng.choice((1, 1, 2)), "cpu": rng.randint(1, 4),
            "profile": rng.choice(list(lengths)),
        }
        for number in range(rng.randint(1, 12))
    ]  # fmt: skip
    spans = {host: sorted(rng.sample(range(1, 400), 8)) for host in range(3)}
    events = MachineEvents(
        {host: [course(*[(float(a), float(b)) for a, b in zip(dates[::2], dates[1::2], strict=True)])]
         for host, dates in spans.items()}
    )  # fmt: skip
    drains = [Drain(rng.randint(0, 300), 320, ("h2",))] if rng.random() < 0.5 else []
    step = rng.choice((None, 1, 10, 33.3))
    rule = "restart" if step is None else f"checkpoint:{step}"
    world = World(
        tmp_path, [4, 4, 4], delays(*jobs, **lengths), sharing=True, machine_events=events, drains=drains, requeue=rule,
        keep_finished=rng.choice((None, 0, 3)),
    )  # fmt: skip
    victims = rng.choice((0, 3, 30))

    async def disruptive(world: World) -> None:
        """Place pods, and take some away: those that run, and those whose gang has not begun."""
        nonlocal victims
        await schedulable(world)
        placed = [pod["metadata"]["name"] for pod in world.server.list("pods", field_selector="spec.nodeName!=")]
        while placed and victims and rng.random() < 0.4:
            victims -= 1
            await disrupt(world, placed.pop(rng.randrange(len(placed))), rng.choice((PREEMPTED, EVICTED)))

    await world.run(disruptive, StepSettings(patience=0.01, on_deadlock=OnDeadlock.REJECT))
    account = world.simulation.requeue.account
    assert account is not None
    assert account.work_done + account.work_lost == pytest.approx(account.work_run)
    rows = list(world.simulation.finished.pods())
    ran = sum(pod.cpu * ((pod.finish_time or 0) - pod.starting_time) for pod in rows if pod.starting_time is not None)
    assert account.work_run == pytest.approx(ran, abs=1e-3)
    assert account.work_lost == pytest.approx(sum(pod.lost_work for pod in rows), abs=1e-3)
    ended = {f"{record.workload_name}!{record.job_id}": record for record in world.simulation.finished.records()}
    assert len(ended) == len(jobs) + account.jobs
    wanted = sum(lengths[job["profile"]] * job["cpu"] * job["res"] for job in jobs)
    assert all(
        record.success or record.metadata.endswith(f"next={record.job_id.partition('.')[0]}.attempt{number + 1}")
        for name, record in ended.items()
        for number in [int(name.partition(".attempt")[2] or 1)]
    )
    assert account.work_done == pytest.approx(wanted, abs=1e-2)


@pytest.mark.parametrize("text", ["", "always", "checkpoint", "checkpoint:", "checkpoint:0", "checkpoint:soon"])
def test_rules_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_requeue(text)


def test_a_checkpoint_at_the_very_end_counts() -> None:
    assert RequeueRule("checkpoint:0.1", 0.1).saved(0.30000000000000004 - 1e-12) == 0.3
    assert RequeueRule("checkpoint:10", 10).saved(29.999) == 20
