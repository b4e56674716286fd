"""Regressions that are planted are caught by `batkube check`, with the pods that suffer; chance is none."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from batkube.checks.reports import worse_for
from batkube.checks.rules import default_rules, rules_of
from batkube.checks.verdicts import Verdicts, check_side
from batkube.ci.settings import InitCiSettings
from batkube.commands import init_ci
from batkube.comparison.sides import Side

from .conftest import JSON, Batkube, Outcome

LIFO = """
from batkube.schedulers.policies import Bind, Policy, first_fit

class Lifo(Policy):
    def decide(self, cluster):
        for pod in reversed(list(cluster.pending.values())):
            for pod, node in first_fit(cluster, [pod]) or ():
                yield Bind(pod, node)
"""
ANYWHERE = """
from batkube.schedulers.policies import Bind, Policy, admits

class Anywhere(Policy):
    def decide(self, cluster):
        for pod in list(cluster.pending.values()):
            fits = [
                node for node in cluster.candidates(pod)
                if admits(node, pod) and all(node.free(what) >= amount for what, amount in pod.requests.items())
            ]
            if not fits:
                return
            yield Bind(pod, cluster.random.choice(fits))
"""
SCORING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      disabled: [{{name: "*"}}]
      enabled: [{{name: NodeResourcesFit, weight: 1}}]
  pluginConfig:
  - name: NodeResourcesFit
    args: {{scoringStrategy: {{type: {strategy}, resources: [{{name: cpu, weight: 1}}]}}}}
"""
BACK_OFF = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: {kubeconfig}, qps: 5000, burst: 5000}}
leaderElection: {{leaderElect: false}}
podInitialBackoffSeconds: {seconds}
podMaxBackoffSeconds: {most}
"""
KUBE_SCHEDULER = "kube-scheduler-1.36.3"


def kept(outcome: Outcome, name: str) -> Path:
    """Move the results of a run out of the way of the next."""
    assert outcome.exit_code == 0, outcome.stderr
    return outcome.out.rename(outcome.out.with_name(name))


def checked(after: Path, before: Path, rules: list[object] | None = None) -> Verdicts:
    chosen = default_rules(baseline=True) if rules is None else rules_of(rules, "rules")
    return check_side(Side.of(after), Side.of(before), chosen)


def broken(found: Verdicts) -> list[str]:
    return [one.rule for one in found.broken]


def worse(found: Verdicts) -> list[str]:
    assert found.comparison is not None
    return list(worse_for(found.comparison))


@pytest.fixture
def sample(tmp_path: Path) -> list[object]:
    """Return the options for the platform and the workload of `batkube init ci`, with half of its jobs."""
    made = init_ci.contents(InitCiSettings())
    for name in ("platform.xml", "workload.json"):
        (tmp_path / name).write_text(made[Path(".batkube") / name])
    content = json.loads((tmp_path / "workload.json").read_text())
    (tmp_path / "workload.json").write_text(json.dumps({**content, "jobs": content["jobs"][:60]}))
    return ["-p", tmp_path / "platform.xml", "-w", tmp_path / "workload.json"]


def policy(folder: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return the options for a policy of this text."""
    (folder / f"{name.lower()}.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # a run without it starts itself again
    return ["--scheduler", f"{name.lower()}:{name}"]


def test_a_queue_turned_round_is_caught(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = [{"id": f"{number:02}", "subtime": 40 * number, "res": 1, "profile": "p"} for number in range(20)]
    given = ["-p", platform(1), "-w", workload(jobs, {"p": {"type": "delay", "delay": 60}})]
    before = kept(batkube(*given), "before")
    after = kept(batkube(*given, *policy(tmp_path, "Lifo", LIFO, monkeypatch)), "after")
    found = checked(after, before)
    assert "p99_wait <= 1.2 * baseline" in broken(found)
    first, *_ = worse(found)
    # All that came later went before it.
    assert first.startswith("pod w0-02: waits 1,060 s (no capacity), +1,020 s")


@pytest.mark.parametrize("turned", [False, True], ids=["MostAllocated", "LeastAllocated"])
def test_scores_turned_round_are_caught(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    tmp_path: Path,
    built_tool: Callable[[str], Path],
    turned: bool,
) -> None:
    jobs: list[JSON] = []
    for number in range(3):
        date = 200 * number
        jobs += [
            {"id": f"small-{number}-{one}", "subtime": date + one, "res": 1, "profile": "long", "batkube": {"cpu": 1}}
            for one in range(2)
        ]
        jobs.append({"id": f"large-{number}", "subtime": date + 2, "res": 1, "profile": "short", "batkube": {"cpu": 4}})
    profiles: dict[str, JSON] = {"long": {"type": "delay", "delay": 150}, "short": {"type": "delay", "delay": 10}}
    given = ["-p", platform(2, cores=4), "-w", workload(jobs, profiles, 2), "--enable-compute-sharing"]
    given += ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool(KUBE_SCHEDULER)]
    folders = []
    for strategy in ("LeastAllocated", "MostAllocated"):
        config = tmp_path / f"{strategy}.yaml"
        config.write_text(SCORING.format(strategy=strategy))
        folders.append(kept(batkube(*given, "--scheduler-config", config), strategy))
    before, after = reversed(folders) if turned else folders
    found = checked(after, before, [{"same_schedule": True}, "mean_wait <= 1.05 * baseline"])
    same = next(one for one in found.broken if one.rule == "same_schedule: true")
    assert same.details[0].startswith("decision 2 was 1.000 s: pod bound: pod w0-small-0-1, node node-")
    if turned:  # spread out, the small pods leave no node free for a large one
        assert broken(found) == ["mean_wait <= 1.05 * baseline", "same_schedule: true"]
        assert [line.partition(":")[0] for line in worse(found)] == [f"pod w0-large-{number}" for number in range(3)]
        assert all("(fragmentation)" in line for line in worse(found))
    else:  # no figure is worse: a note tells of the other schedule all the same
        said, first, *_ = checked(after, before).notes
        assert said.startswith("the schedule is not that of the baseline: ")
        assert first.startswith("pod w0-small-0-1: node-")


def test_a_back_off_of_a_minute_is_caught(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    tmp_path: Path,
    built_tool: Callable[[str], Path],
) -> None:
    jobs = [{"id": f"{number:02}", "subtime": 5 * number, "res": 1, "profile": "p"} for number in range(16)]
    given = ["-p", platform(2), "-w", workload(jobs, {"p": {"type": "delay", "delay": 25}})]
    folders = []
    for seconds in (1, 60):
        config = tmp_path / f"{seconds}.yaml"
        kubeconfig = tmp_path / "out" / "kubeconfig"
        config.write_text(BACK_OFF.format(kubeconfig=kubeconfig, seconds=seconds, most=max(10, seconds)))
        # With that gate pods that back off are tried as soon as there is nothing else to do.
        command = f"{built_tool(KUBE_SCHEDULER)} --config {config} --feature-gates=SchedulerPopFromBackoffQ=false"
        done = batkube(*given, "--scheduler-cmd", f"{command} --secure-port=0")
        folders.append(kept(done, f"back-off-{seconds}"))
    found = checked(folders[1], folders[0])
    assert "mean_wait <= 1.05 * baseline" in broken(found)
    assert found.comparison is not None
    assert (found.comparison.figure("wait_back_off").change or 0) > 100
    assert any(pod.right_reason == "back_off" and pod.change > 60 for pod in found.comparison.pods)


def no_false_alarm(out: Path) -> None:
    """Hold each of seven seeds to each other: 21 comparisons."""
    folders = [out / str(seed) for seed in range(7)]
    assert len({(folder / "jobs.csv").read_bytes() for folder in folders}) == 7, "the seeds change nothing"
    for before, after in itertools.combinations(folders, 2):
        found = checked(after, before)
        assert found.passed, (before.name, after.name, broken(found))
        assert found.comparison is not None
        for name in ("mean_wait", "mean_turnaround", "mean_slowdown"):
            assert found.comparison.figure(name).verdict in ("untold", "same")


def test_seeds_of_a_policy_are_no_regressions(
    batkube: Batkube, sample: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = policy(tmp_path, "Anywhere", ANYWHERE, monkeypatch)
    done = batkube(*sample, *chosen, "--seeds", 7, "--jitter", 5, timeout=600)
    assert done.exit_code == 0, done.stderr
    no_false_alarm(done.out)


@pytest.mark.slow
def test_seeds_of_kube_scheduler_are_no_regressions(
    batkube: Batkube, sample: list[object], built_tool: Callable[[str], Path]
) -> None:
    chosen = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool(KUBE_SCHEDULER)]
    done = batkube(*sample, *chosen, "--seeds", 7, "--jitter", 5, timeout=900)
    assert done.exit_code == 0, done.stderr
    no_false_alarm(done.out)
