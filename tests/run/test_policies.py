"""Policies inside batkube: those that are built in, and a user's own."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mixes.mix import mix
from tests.mixes.processes import arguments as arguments_of
from tests.run.conftest import FIFO_PROGRAM, JSON, Batkube, Outcome
from tests.samples import samples

EXAMPLE = Path(__file__).parents[2] / "examples" / "python-policy" / "shortest_first.py"

HEADER = """
from batkube.schedulers.policies import Bind, Policy, Preempt, Unschedulable, WakeUp, first_fit
"""


@pytest.fixture
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Write the body of ``decide`` (or a whole module that has a class Mine); the options that choose it."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # a run without it starts itself again

    def write(text: str) -> list[str]:
        if "class Mine" not in text:
            body = "".join(f"        {line}\n" for line in text.strip("\n").splitlines())
            text = f"class Mine(Policy):\n    def decide(self, cluster):\n{body}"
        Path("mine.py").write_text(HEADER + text)
        return ["--scheduler", "mine:Mine"]

    return write


@pytest.fixture
def two(platform: Callable[..., Path], workload: Callable[..., Path]) -> list[object]:
    """One host; a job at 0 and one at 5, of 10 seconds each."""
    jobs = [{"id": name, "subtime": date, "res": 1, "profile": "p"} for name, date in (("a", 0), ("b", 5))]
    return ["-p", platform(1), "-w", workload(jobs, {"p": {"type": "delay", "delay": 10}})]


def starts(done: Outcome) -> dict[str, float]:
    return {row["job_id"]: float(row["starting_time"]) for row in done.rows("jobs.csv") if row["starting_time"]}


def same(batkube: Batkube, words: list[str]) -> None:
    """Fifo gives the same schedule inside batkube and as a process that talks HTTP.

    Where nodes change, as they do when hosts fail, that cannot be asked for: over HTTP a node's change and a pod's come
    by two watches, and no order binds those. So it is asked of workloads without.
    """
    inside = batkube(*words, "--on-deadlock", "reject")
    assert inside.run["quiescence"]["in_process"] > 0
    outside = batkube(*words, "--on-deadlock", "reject", *FIFO_PROGRAM)
    if outside.run["scheduler"]["clock"] == "real":
        pytest.skip("this machine cannot give programs the simulated clock")
    assert inside.exit_code == outside.exit_code, inside.stderr + outside.stderr
    assert inside.fingerprints == outside.fingerprints
    assert inside.run["repeatable"] is True


@pytest.mark.parametrize(
    "name", ["parallel-jobs", "priorities", "requests-share-nodes", "walltimes", "all-kinds-of-ends", "storage"]
)
def test_fifo_decides_inside_as_it_does_over_http(batkube: Batkube, name: str) -> None:
    (sample,) = (sample for sample in samples() if sample.path.stem == name)
    same(batkube, ["-p", str(sample.platform), "-w", str(sample.path), *map(str, sample.events)])


@pytest.mark.parametrize("seed", [10, 22, 31, 42])
def test_fifo_decides_random_mixes_inside_as_it_does_over_http(batkube: Batkube, tmp_path: Path, seed: int) -> None:
    given = mix(seed)
    assert given.sharing  # exclusive hosts that differ show what their pods have: their nodes change
    assert not given.outages
    assert not given.energy
    same(batkube, arguments_of(given, given.write(tmp_path / "inputs")))


def test_the_example(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], policy: Callable[[str], list[str]]
) -> None:
    shutil.copy(EXAMPLE, ".")
    profiles: dict[str, JSON] = {f"p{delay}": {"type": "delay", "delay": delay} for delay in (100, 900, 2000)}
    given = [(0, 900), (1, 2000), (2, 100), *((index, 900) for index in range(3, 8))]
    jobs = [
        {"id": index, "subtime": date, "res": 1, "profile": f"p{delay}", "walltime": delay + 1}
        for index, (date, delay) in enumerate(given)
    ]
    done = batkube("-p", platform(1), "-w", workload(jobs, profiles), "--scheduler", "shortest_first:ShortestFirst")
    assert done.exit_code == 0, done.stderr
    order = sorted(starts(done).items(), key=lambda start: start[1])
    # The short one as soon as it can be; the long one when it has waited for an hour, before others of 900 s.
    assert [int(job) for job, _ in order] == [0, 2, 3, 4, 5, 1, 6, 7]
    assert done.run["repeatable"] is True
    assert done.run["scheduler"]["source"]["path"].endswith("shortest_first.py")
    waited = {row["pod"]: row["waited_for"] for row in done.rows("pods.csv")}
    assert waited["w0-1"] == "no room; nobody passes it any more"


def test_easy_lets_short_jobs_pass(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path]
) -> None:
    profiles: dict[str, JSON] = {f"p{delay}": {"type": "delay", "delay": delay} for delay in (30, 60, 99, 101)}
    given = [("runs", 1, 99, 100), ("first", 2, 60, 61), ("long", 1, 101, 102), ("short", 1, 30, 31)]
    jobs = [
        {"id": name, "subtime": index, "res": res, "profile": f"p{delay}", "walltime": walltime}
        for index, (name, res, delay, walltime) in enumerate(given)
    ]
    done = batkube("-p", platform(2), "-w", workload(jobs, profiles), "--scheduler", "easy")
    assert done.exit_code == 0, done.stderr
    assert starts(done) == {"runs": 0, "short": 3, "first": 99, "long": 159}
    assert done.run["scheduler"]["kind"] == "easy"


def test_a_wake_up_comes_at_its_time_and_no_sooner(
    batkube: Batkube, two: list[object], policy: Callable[[str], list[str]]
) -> None:
    mine = policy("""
for pod in list(cluster.pending.values()):
    if cluster.now < 1000.25:
        yield WakeUp(1000.25)
    else:
        for pod, node in first_fit(cluster, [pod]) or ():
            yield Bind(pod, node)
""")
    done = batkube(*two, *mine)
    assert done.exit_code == 0, done.stderr
    assert starts(done) == {"a": 1000.25, "b": 1010.25}


def test_preemption_and_reasons(batkube: Batkube, two: list[object], policy: Callable[[str], list[str]]) -> None:
    mine = policy("""
for pod in list(cluster.pending.values()):
    placement = first_fit(cluster, [pod])
    if placement:
        yield Bind(*placement[0])
    else:
        yield Unschedulable(pod, "the host is taken")
        for victim in list(cluster.bound.values()):
            yield Preempt(victim)
""")
    done = batkube(*two, *mine)
    assert done.exit_code == 0, done.stderr
    assert starts(done) == {"a": 0, "b": 5}
    assert {row["job_id"]: row["final_state"] for row in done.rows("jobs.csv")} == {
        "a": "COMPLETED_KILLED", "b": "COMPLETED_SUCCESSFULLY",
    }  # fmt: skip
    assert {row["pod"]: row["waited_for"] for row in done.rows("pods.csv")}["w0-b"] == "the host is taken"
    assert [row["preempted"] for row in done.rows("pods.csv")] == ["1", "0"]


def test_a_policy_that_preempts_loses_no_job_where_jobs_are_queued_again(
    batkube: Batkube, two: list[object], policy: Callable[[str], list[str]]
) -> None:
    mine = policy("""
for pod in list(cluster.pending.values()):
    placement = first_fit(cluster, [pod])
    if placement:
        yield Bind(*placement[0])
    elif pod.name == "w0-b":
        for victim in list(cluster.bound.values()):
            yield Preempt(victim)
""")
    done = batkube(*two, *mine, "--requeue", "restart")
    assert done.exit_code == 0, done.stderr
    states = {row["job_id"]: row["final_state"].removeprefix("COMPLETED_") for row in done.rows("jobs.csv")}
    assert states == {"a": "KILLED", "b": "SUCCESSFULLY", "a.attempt2": "SUCCESSFULLY"}
    assert done.run["requeued"]["causes"] == {"PreemptionByScheduler": 1}


def test_a_binding_that_is_refused_loses_no_job(
    batkube: Batkube, two: list[object], policy: Callable[[str], list[str]]
) -> None:
    mine = policy("""
class Mine(Policy):
    def __init__(self):
        self.said = []
    def decide(self, cluster):
        for pod in list(cluster.pending.values()):
            yield Bind(pod, next(iter(cluster.nodes.values())))
        if self.said:
            open("said", "w").write(repr(self.said))
    def refused(self, cluster, decision, reason):
        self.said.append((cluster.now, decision.pod.name, reason))
""")
    done = batkube(*two, *mine)
    assert done.exit_code == 0, done.stderr
    assert starts(done) == {"a": 0, "b": 10}
    said = Path("said").read_text()
    assert said.startswith("[(5.0, 'w0-b', ")
    assert "is in use, and its host is exclusive" in said


def test_chance_comes_from_the_seed(
    batkube: Batkube, platform: Callable[..., Path], workload: Callable[..., Path], policy: Callable[[str], list[str]]
) -> None:
    mine = policy("""
for pod in set(cluster.pending.values()) and sorted({pod.name for pod in cluster.pending.values()}):
    pod = next(one for one in cluster.pending.values() if one.name == pod)
    yield Bind(pod, cluster.random.choice(list(cluster.candidates(pod))))
""")
    jobs = [{"id": str(index), "subtime": index, "res": 1, "profile": "p"} for index in range(8)]
    given = ["-p", platform(16), "-w", workload(jobs, {"p": {"type": "delay", "delay": 100}}), *mine]
    prints = [batkube(*given, "--seed", seed).run["events_sha256"] for seed in (1, 1, 2)]
    assert prints[0] == prints[1] != prints[2]


def test_what_a_policy_waits_for_in_vain_is_told(
    batkube: Batkube, two: list[object], policy: Callable[[str], list[str]]
) -> None:
    done = batkube(*two, *policy('yield from (Unschedulable(pod, "not today") for pod in cluster.pending.values())'))
    assert done.exit_code == 1
    assert 'default-scheduler last said: "not today"' in done.stderr
    done = batkube(*two, *policy("yield WakeUp(cluster.now + 60)"))
    assert done.exit_code == 1
    assert "nothing can happen any more" in done.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 / 0", "the policy mine:Mine failed in decide: ZeroDivisionError: division by zero"),
        ("yield Bind('a', 'b')", "failed in decide: Bind(pod='a', node='b'): expected a Pod and a Node of the cluster"),
        ("yield 5", "failed in decide: 5: expected Bind, Unschedulable, Preempt or WakeUp"),
        ("return 5", "failed in decide: TypeError: 'int' object is not iterable"),
        ("yield WakeUp(cluster.now)", "failed in decide: WakeUp(0.0): expected a time later than now, 0"),
        ("while cluster.pending: yield Bind(cluster.pending.popitem()[1], object())", "expected a Pod and a Node"),
    ],
)  # fmt: skip
def test_an_error_in_a_policy_is_told_in_a_line(
    batkube: Batkube, two: list[object], policy: Callable[[str], list[str]], text: str, complaint: str
) -> None:
    done = batkube(*two, *policy(text))
    assert done.exit_code == 1
    told, *lost = done.stderr.splitlines()
    assert complaint in told
    assert lost in ([], ["batkube: of 1 jobs 1 lost: they have not ended"])
    assert done.run["status"] == "failed"
    assert complaint in done.run["reason"]
    if "ZeroDivision" in complaint:
        assert "mine.py:5" in done.stderr
        assert "1 / 0" in (done.out / "scheduler.log").read_text()


@pytest.mark.parametrize(
    ("scheduler", "complaint"),
    [
        ("nowhere:Mine", "--scheduler nowhere:Mine: there is no module nowhere"),
        ("mine:Yours", "has nothing of that name"),
        ("mine:Bind", "no subclass of Policy"),
        ("broken:Mine", "importing broken failed: ZeroDivisionError: division by zero"),
        ("syntax:Mine", "importing syntax failed: SyntaxError"),
        ("abstract:Mine", "Mine() failed: TypeError"),
        ("mine:", "expected module:Class"),
        (":Mine", "expected module:Class"),
    ],
)
def test_a_policy_that_is_none_is_named(
    batkube: Batkube, two: list[object], policy: Callable[[str], list[str]], scheduler: str, complaint: str
) -> None:
    policy("return ()")
    Path("broken.py").write_text("1 / 0")
    Path("syntax.py").write_text("class")
    Path("abstract.py").write_text(HEADER + "class Mine(Policy): pass")
    done = batkube(*two, "--scheduler", scheduler)
    assert done.exit_code == 2
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [["--clock", "real"], ["--clock", "tree"], ["--quiescence", "quiet"]], ids=" ".join
)
def test_what_is_for_a_process_is_refused(batkube: Batkube, two: list[object], arguments: list[str]) -> None:
    done = batkube(*two, *arguments)
    assert done.exit_code == 2
    assert f"{' '.join(arguments)} is for a scheduler that is a process" in done.stderr


def test_sets_have_the_same_order_each_time(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    policy: Callable[[str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTHONHASHSEED")
    mine = policy("""
for pod in list(cluster.pending.values()):
    yield Bind(pod, cluster.nodes[next(iter({node.name for node in cluster.candidates(pod)}))])
""")
    jobs = [{"id": str(index), "subtime": index, "res": 1, "profile": "p"} for index in range(8)]
    given = ["-p", platform(16), "-w", workload(jobs, {"p": {"type": "delay", "delay": 100}}), *mine]
    done = batkube(*given, "--repeat", 2)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert json.loads((done.out / "repeat.json").read_text())["agree"] is True
    assert batkube(*given).run["events_sha256"] == done.run["events_sha256"]
    loose = batkube(*given, "--no-determinism")
    assert loose.run["repeatable"] is False
    assert "PYTHONHASHSEED" in loose.run["not_repeatable"][0]
    assert list(csv.DictReader((loose.out / "jobs.csv").open()))
