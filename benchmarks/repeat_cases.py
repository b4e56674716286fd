"""The cases that are repeated, to see the same each time: inputs and schedulers in which much happens at one date."""

import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from inputs import JSON, write_platform, write_workload
from processes import StartError
from servers import built_tool

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
EXTENDER = ROOT / "tests" / "run" / "extender.py"
SCHEDULER_CONFIG = "kubescheduler.config.k8s.io/v1"


@dataclass(frozen=True)
class Stage:
    """The place for a case's files, and for the programs that it needs beside the scheduler."""

    folder: Path
    version: str
    """Of kube-scheduler."""
    programs: ExitStack
    """The programs that end with it."""

    @property
    def binary(self) -> Path:
        """The kube-scheduler. Raises StartError."""
        return built_tool(f"kube-scheduler-{self.version}")

    def inputs(self, jobs: list[JSON], delays: list[float], *, hosts: int, cores: int | None = None) -> list[str]:
        """Write platform and workload, job after job with its delay; hosts of several ``cores`` are shared."""
        given = [{"id": number, "profile": f"p{number}", **job} for number, job in enumerate(jobs)]
        profiles = {f"p{number}": {"type": "delay", "delay": delay} for number, delay in enumerate(delays)}
        workload = write_workload(self.folder, {"nb_res": hosts, "jobs": given, "profiles": profiles})
        platform = write_platform(self.folder, hosts, cores=cores or 1, memory="16Gi")
        words = ["--platform", str(platform), "--workload", str(workload)]
        return [*words, "--enable-compute-sharing"] if cores else words

    def kube_scheduler(self, **configuration: Any) -> list[str]:
        """The words that choose it; with a KubeSchedulerConfiguration where one is given."""
        words = ["--scheduler", "kube-scheduler", "--scheduler-binary", str(self.binary)]
        if not configuration:
            return words
        config = {"apiVersion": SCHEDULER_CONFIG, "kind": "KubeSchedulerConfiguration", **configuration}
        return [*words, "--scheduler-config", str(self.write("scheduler.yaml", yaml.safe_dump(config)))]

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.folder / name
        path.write_text(text)
        return path


def command(*words: object) -> list[str]:
    """Return the words that choose a program of one's own."""
    return ["--scheduler-cmd", shlex.join(map(str, words))]


def found(name: str) -> str:
    """Find a program on PATH. Raises StartError."""
    path = shutil.which(name)
    if path is None:
        raise StartError(f"{name} is not on this machine")
    return path


def crowded(rng: random.Random, count: int, *, together: int, apart: float) -> list[float]:
    """Draw dates of submission: so many at one date, the next so much later on average."""
    dates: list[float] = []
    date = 0.0
    for number in range(count):
        if number and number % together == 0:
            date += round(rng.expovariate(1 / apart), 3)
        dates.append(date)
    return dates


def delays(rng: random.Random, count: int, mean: float) -> list[float]:
    """Draw run times: exponential, a second at least."""
    return [round(1 + rng.expovariate(1 / mean), 3) for _ in range(count)]


def gangs(stage: Stage, *, priorities: bool = False) -> list[str]:
    """Jobs of 1 to 16 pods on 16 hosts, five at a date, more than can run."""
    rng = random.Random(1)
    jobs: list[JSON] = [
        {"subtime": date, "res": rng.randint(1, 16)} for date in crowded(rng, 20, together=5, apart=300)
    ]
    times = delays(rng, len(jobs), 300)
    if priorities:
        jobs = [{**job, "priority": rng.choice((0, 0, 1000, 2000))} for job in jobs]
    return stage.inputs(jobs, times, hosts=16) + stage.kube_scheduler()


def gangs_preemption(stage: Stage) -> list[str]:
    """The same with three priorities."""
    return gangs(stage, priorities=True)


def victims(stage: Stage) -> list[str]:
    """Urgent gangs come to more full nodes than kube-scheduler looks at when it looks for victims (a hundred)."""
    full: list[JSON] = [{"subtime": number // 10, "res": 1, "cpu": 1, "priority": 0} for number in range(150)]
    urgent: list[JSON] = [{"subtime": 100 + number, "res": 4, "cpu": 1, "priority": 10} for number in range(6)]
    words = stage.inputs([*full, *urgent], [500.0] * len(full) + [100.0] * len(urgent), hosts=150, cores=1)
    return [*words, *stage.kube_scheduler(), "--requeue", "restart"]


def dra(stage: Stage) -> list[str]:
    """Jobs of one to three pods that ask for a device each (DRA), twice as many as there are."""
    rng = random.Random(1)
    devices: list[JSON] = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "DeviceClass",
            "metadata": {"name": "gpu"},
            "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]},
        },
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "one-gpu", "namespace": "default"},
            "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}},
        },
    ]
    for node in ("node-0", "node-1", "node-2"):
        pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
        spec: JSON = {"driver": "gpu.example.com", "nodeName": node, "pool": pool}
        spec["devices"] = [{"name": f"gpu-{number}"} for number in range(3)]
        devices.append(
            {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": node}, "spec": spec}
        )
    objects = stage.write("devices.yaml", yaml.safe_dump_all(devices))
    container = {"name": "job", "resources": {"claims": [{"name": "gpu"}]}}
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    asks = {"spec": {"resourceClaims": claims, "containers": [container]}}
    jobs: list[JSON] = [
        {"subtime": date, "res": rng.randint(1, 3), "cpu": 1, **({"pod": asks} if number % 4 else {})}
        for number, date in enumerate(crowded(rng, 20, together=5, apart=300))
    ]
    words = stage.inputs(jobs, delays(rng, len(jobs), 300), hosts=4, cores=8)
    return [*words, *stage.kube_scheduler(), "--objects", str(objects)]


def ties(stage: Stage) -> list[str]:
    """300 single pods, ten at a date, and 16 equal nodes."""
    rng = random.Random(1)
    jobs: list[JSON] = [{"subtime": date, "res": 1, "cpu": 1} for date in crowded(rng, 300, together=10, apart=100)]
    return stage.inputs(jobs, delays(rng, len(jobs), 300), hosts=16, cores=4) + stage.kube_scheduler()


def extenders(stage: Stage) -> list[str]:
    """One HTTP extender that filters and prioritizes nodes."""
    rng = random.Random(1)
    started = subprocess.Popen(
        [sys.executable, str(EXTENDER)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    stage.programs.enter_context(started)
    stage.programs.callback(started.kill)
    assert started.stdout is not None
    port = started.stdout.readline().strip()
    asked: JSON = {"urlPrefix": f"http://127.0.0.1:{port}", "filterVerb": "filter", "prioritizeVerb": "prioritize"}
    asked |= {"weight": 1, "nodeCacheCapable": True, "httpTimeout": "1m"}
    jobs: list[JSON] = [
        {"subtime": date, "res": rng.randint(1, 3), "cpu": rng.randint(1, 4)}
        for date in crowded(rng, 20, together=5, apart=300)
    ]
    words = stage.inputs(jobs, delays(rng, len(jobs), 300), hosts=8, cores=4)
    return words + stage.kube_scheduler(extenders=[asked])


TWO_SCHEDULERS = """\
#!/bin/sh
# Two kube-schedulers, each for the pods that ask for it.
for name in default-scheduler second-scheduler; do
  cat > "$KUBECONFIG.$name" <<END
apiVersion: {api_version}
kind: KubeSchedulerConfiguration
clientConnection: {{kubeconfig: "$KUBECONFIG", qps: 5000, burst: 5000}}
leaderElection: {{leaderElect: false}}
profiles: [{{schedulerName: $name}}]
END
  {binary} --config="$KUBECONFIG.$name" --secure-port=0 &
done
wait
"""


def two_schedulers(stage: Stage) -> list[str]:
    """Two kube-schedulers at once, for half of the pods each, on the same nodes."""
    rng = random.Random(1)
    text = TWO_SCHEDULERS.format(api_version=SCHEDULER_CONFIG, binary=shlex.quote(str(stage.binary)))
    jobs: list[JSON] = [
        {"subtime": date, "res": 1, "cpu": rng.randint(1, 4), "scheduler": rng.choice(("default", "second-scheduler"))}
        for date in crowded(rng, 30, together=6, apart=300)
    ]
    words = stage.inputs(jobs, delays(rng, len(jobs), 300), hosts=4, cores=4)
    return words + command("sh", stage.write("two-schedulers.sh", text))


CONTROLLER_MANAGER = """\
#!/bin/sh
# kube-controller-manager and kube-scheduler, with one kubeconfig.
common="--kubeconfig=$KUBECONFIG --leader-elect=false --secure-port=0 --kube-api-qps=5000 --kube-api-burst=5000"
{manager} $common --controllers={controllers} --flex-volume-plugin-dir="$(dirname "$KUBECONFIG")" &
{scheduler} $common &
wait
"""
CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "job-controller",
    "disruption-controller",
    "resourcequota-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "namespace-controller",
    "serviceaccount-controller",
    "garbage-collector-controller",
)
"""Those that follow the pods of jobs, and some that the objects below give something to do."""


def controller_manager(stage: Stage) -> list[str]:
    """kube-controller-manager writes beside kube-scheduler: budgets, quotas, endpoints, a Deployment's pods."""
    rng = random.Random(1)
    common = {"namespace": "default"}
    labels = {"app": "job"}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "web"}], "nodeSelector": {"none": "has-it"}},
    }
    objects: list[JSON] = [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "jobs", **common},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
        },
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "pods", **common},
            "spec": {"hard": {"pods": "1000"}},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "jobs", **common},
            "spec": {"selector": labels, "ports": [{"port": 80}]},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", **common},
            "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template},
        },
    ]
    path = stage.write("objects.yaml", yaml.safe_dump_all(objects))
    text = CONTROLLER_MANAGER.format(
        manager=shlex.quote(str(built_tool("kube-controller-manager-1.36.3"))),
        scheduler=shlex.quote(str(stage.binary)),
        controllers=",".join(CONTROLLERS),
    )
    jobs: list[JSON] = [
        {"subtime": date, "res": 1, "cpu": rng.randint(1, 4), "labels": labels}
        for date in crowded(rng, 18, together=6, apart=300)
    ]
    words = stage.inputs(jobs, delays(rng, len(jobs), 300), hosts=4, cores=4)
    return [*words, "--objects", str(path), *command("sh", stage.write("controller-manager.sh", text))]


def bash(stage: Stage) -> list[str]:
    """The example in a shell, which starts kubectl and curl."""
    rng = random.Random(1)
    tools = stage.folder / "bin"
    tools.mkdir()
    (tools / "kubectl").symlink_to(built_tool("kubectl-1.36.3"))
    path = f"PATH={tools}:{os.environ['PATH']}"
    words = ["env", path, f"HOME={stage.folder}", found("bash"), EXAMPLES / "bash-scheduler" / "scheduler.sh", 20]
    jobs: list[JSON] = [{"subtime": date, "res": 1} for date in crowded(rng, 6, together=2, apart=60)]
    return stage.inputs(jobs, delays(rng, len(jobs), 60), hosts=2) + command(*words)


def python(stage: Stage) -> list[str]:
    """The example with the official Python client, a thread for each of two watches."""
    words = [sys.executable, EXAMPLES / "python-scheduler" / "scheduler.py", "--period", 20]
    return _few_sizes(stage) + command(*words)


def java(stage: Stage) -> list[str]:
    """The example in Java."""
    return _few_sizes(stage) + command(
        found("java"),
        "-XX:-UsePerfData",
        "-XX:+UseSerialGC",
        EXAMPLES / "java-scheduler" / "Scheduler.java",
        "{server}",
    )


def _few_sizes(stage: Stage) -> list[str]:
    rng = random.Random(1)
    jobs: list[JSON] = [
        {"subtime": date, "res": rng.randint(1, 3), "cpu": rng.randint(1, 4)}
        for date in crowded(rng, 15, together=5, apart=60)
    ]
    return stage.inputs(jobs, delays(rng, len(jobs), 30), hosts=4, cores=4)


CASES: dict[str, Callable[[Stage], list[str]]] = {
    "gangs": gangs,
    "gangs-preemption": gangs_preemption,
    "victims": victims,
    "dra": dra,
    "ties": ties,
    "extenders": extenders,
    "two-schedulers": two_schedulers,
    "controller-manager": controller_manager,
    "bash": bash,
    "python": python,
    "java": java,
}
"""By name, what writes the inputs and gives the words of ``batkube run``. They raise StartError for what is missing."""
