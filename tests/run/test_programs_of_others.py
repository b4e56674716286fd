"""Unmodified programs of others beside kube-scheduler (``--program``): what they bring about, and the same bytes.

`make programs` builds them. Each test is a command of docs/programs.md.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.conftest import BuiltTool
from tests.controllers.conftest import openssl
from tests.controllers.kueue_definitions import kueue_definitions
from tests.run.conftest import JSON, Batkube, Outcome
from tests.run.test_programs import WAVES

WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {
        "replicas": 4,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]},
        },
    },
}
POLICY = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "spread",
            "pluginConfig": [{"name": "DefaultEvictor"}, {"name": "RemoveDuplicates"}],
            "plugins": {"balance": {"enabled": ["RemoveDuplicates"]}},
        }
    ],
}


@pytest.fixture
def scheduler(built_tool: BuiltTool) -> list[object]:
    """Return the options for kube-scheduler with all of its timers, on hosts that are shared."""
    words = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool("kube-scheduler-1.36.3")]
    return [*words, "--timers", "all", "--enable-compute-sharing"]


def is_the_same_each_time(outcomes: list[Outcome]) -> bool:
    one, other = outcomes
    assert one.exit_code == 0, one.stderr
    assert one.run["repeatable"], one.run["not_repeatable"]
    return one.fingerprints == other.fingerprints


@pytest.mark.slow
def test_descheduler_spreads_replicas_over_a_node_that_has_come_back(
    two_at_once: Callable[..., list[Outcome]], program_beside: BuiltTool, scheduler: list[object], tmp_path: Path
) -> None:
    descheduler = program_beside("descheduler-0.36.0")
    files = {
        "web.yaml": WEB,
        "policy.yaml": POLICY,
        "drain.yaml": {"events": [{"at": 5, "node": "node-2", "drain": 95}]},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(yaml.safe_dump(content))
    words = ["-p", "2 x 8cpu,8Gi", "--objects", tmp_path / "web.yaml", "--events", tmp_path / "drain.yaml", *scheduler]
    command = f"{descheduler} --kubeconfig={{kubeconfig}} --policy-config-file={{file:{tmp_path}/policy.yaml}}"
    command += " --descheduling-interval=5m --secure-port=0 --disable-metrics"
    outcomes = two_at_once(*words, "--until", "8m", "--program", f"descheduler={command}")
    assert is_the_same_each_time(outcomes)
    pods = outcomes[0].rows("pods.csv")
    assert sorted(pod["node"] for pod in pods if pod["phase"] == "Running") == ["node-1", "node-1", "node-2", "node-2"]
    evicted = [date for pod in pods if pod["finish_time"] and (date := float(pod["finish_time"])) > 100]
    assert evicted == [pytest.approx(240, abs=1)] * 2  # it began a minute before the simulation


POOL = [
    {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "default"}},
    {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "template": {
                "spec": {
                    "requirements": [
                        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                        {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
                    ],
                    "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                    "expireAfter": "Never",
                }
            },
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "1m"},
        },
    },
]


@pytest.mark.slow
def test_karpenter_creates_a_node_for_a_job_that_is_too_large_and_removes_it_when_it_is_empty(
    two_at_once: Callable[..., list[Outcome]],
    program_beside: BuiltTool,
    scheduler: list[object],
    sources: Callable[[str, str], Path],
    workload: Callable[..., Path],
    tmp_path: Path,
) -> None:
    karpenter, module = program_beside("karpenter-1.14.1"), sources("karpenter", "sigs.k8s.io/karpenter")
    (tmp_path / "pool.yaml").write_text(yaml.safe_dump_all(POOL))
    jobs = [
        {"id": "large", "subtime": 10, "res": 1, "profile": "p", "cpu": 8},
        {"id": "small", "subtime": 20, "res": 1, "profile": "p", "cpu": 1},
        {"id": "late", "subtime": 400, "res": 1, "profile": "p", "cpu": 1},
    ]
    path = workload(jobs, {"p": {"type": "delay", "delay": 60}})
    words = ["-p", "1 x 2cpu,4Gi", "-w", path, "--objects", tmp_path / "pool.yaml", *scheduler]
    words += ["--crd", module / "pkg" / "apis" / "crds", "--crd", module / "kwok" / "apis" / "crds"]
    command = f"{karpenter} --disable-leader-election=true --metrics-port=0 --health-probe-port=0"
    outcomes = two_at_once(*words, "--program", f"karpenter={command}")
    assert is_the_same_each_time(outcomes)
    one = outcomes[0]
    ended = {job["job_id"]: job["final_state"] for job in one.rows("jobs.csv")}
    assert set(ended.values()) == {"COMPLETED_SUCCESSFULLY"}
    told = [(event["event"], event["time"]) for event in one.events if event["event"].startswith("node_")]
    assert [event for event, _ in told] == ["node_joined", "node_deleted"]
    (_, joined), (_, deleted) = told
    assert 10 < joined < 30  # Karpenter waits a second for more pods
    assert 140 < deleted < 200  # a minute after the last job there has ended


@pytest.mark.slow
def test_an_older_kube_controller_manager_carries_on_jobs_and_deployments(
    two_at_once: Callable[..., list[Outcome]], program_beside: BuiltTool, scheduler: list[object], tmp_path: Path
) -> None:
    manager = program_beside("kube-controller-manager-1.34.3")
    (tmp_path / "objects.yaml").write_text(yaml.safe_dump_all([WEB, WAVES]))
    command = f"{manager} --kubeconfig={{kubeconfig}} --leader-elect=false --secure-port=0"
    command += " --kube-api-qps=5000 --kube-api-burst=5000"
    command += " --controllers=deployment-controller,replicaset-controller,job-controller"
    words = ["-p", "2 x 8cpu,8Gi", "--objects", tmp_path / "objects.yaml", *scheduler]
    outcomes = two_at_once(*words, "--until", "90", "--program", f"manager={command}")
    assert is_the_same_each_time(outcomes)
    pods = outcomes[0].rows("pods.csv")
    assert [pod["phase"] for pod in pods if pod["pod"].startswith("web-")] == ["Running"] * 4
    waves = [float(pod["finish_time"]) for pod in pods if pod["pod"].startswith("waves-")]
    assert waves == [30, 30, 61, 61]  # the controller looks a second after pods have ended


KUEUE = "kueue.x-k8s.io/v1beta2"
QUOTA = {"name": "standard", "resources": [{"name": "cpu", "nominalQuota": "4"}]}
QUEUES = [
    {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "standard"}},
    {
        "apiVersion": KUEUE,
        "kind": "ClusterQueue",
        "metadata": {"name": "all"},
        "spec": {
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [QUOTA]}],
        },
    },
    {
        "apiVersion": KUEUE,
        "kind": "LocalQueue",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"clusterQueue": "all"},
    },
    # What its installation has for its certificates.
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}},
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "kueue-webhook-server-cert", "namespace": "kueue-system"},
    },
    *(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": f"{kind}WebhookConfiguration",
            "metadata": {"name": f"kueue-{kind.lower()}-webhook-configuration"},
        }
        for kind in ("Validating", "Mutating")
    ),
]


def queued_job(name: str, created: int) -> JSON:
    """Return a Job of two cores that is suspended, as Kueue's webhook would make it."""
    main = {"name": "main", "image": "app", "command": ["sleep", "60"], "resources": {"requests": {"cpu": "2"}}}
    metadata = {"labels": {"kueue.x-k8s.io/queue-name": "team"}, "annotations": {"batkube.io/created-at": str(created)}}
    template = {"spec": {"restartPolicy": "Never", "containers": [main]}}
    spec = {"suspend": True, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, **metadata}, "spec": spec}


@pytest.mark.slow
def test_kueue_admits_jobs_as_far_as_the_quota_goes(
    batkube: Batkube,
    program_beside: BuiltTool,
    scheduler: list[object],
    sources: Callable[[str, str], Path],
    free_port: Callable[[], int],
    tmp_path: Path,
) -> None:
    kueue, module = program_beside("kueue-0.17.0"), sources("kueue", "sigs.k8s.io/kueue")
    for name in ("tls", "ca"):
        files = ("-keyout", str(tmp_path / f"{name}.key"), "-out", str(tmp_path / f"{name}.crt"))
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=kueue", *files)
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": "0"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": free_port(), "certDir": str(tmp_path)},
        "leaderElection": {"leaderElect": False},
        "integrations": {"frameworks": ["batch/job"]},
        "featureGates": {"VisibilityOnDemand": False},
    }
    manifests = {
        "crds.yaml": kueue_definitions(module),
        "queues.yaml": QUEUES,
        "jobs.yaml": [queued_job(f"job-{number}", 10 * number) for number in range(1, 5)],
        "config.yaml": [configuration],
    }
    for name, documents in manifests.items():
        (tmp_path / name).write_text(yaml.safe_dump_all(documents))
    words = ["-p", "4 x 8cpu,32Gi", "--crd", tmp_path / "crds.yaml", "--objects", tmp_path / "queues.yaml"]
    command = f"{kueue} --config={{file:{tmp_path}/config.yaml}} --kubeconfig={{kubeconfig}}"
    done = batkube(*words, "-w", tmp_path / "jobs.yaml", *scheduler, "--program", f"kueue={command}", "--repeat", 2)
    assert done.exit_code == 0, done.stderr
    assert "all 2 agree, byte for byte" in done.stdout
    started = [float(pod["starting_time"]) for pod in done.rows("pods.csv")]
    # Two at a time, the others when those have ended.
    assert started == [pytest.approx(date, abs=0.5) for date in (10, 20, 72, 82)]
