"""Random lives of clusters beside the jobs of workloads: what clients make, what users do, what becomes of machines."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.mixes.platforms import Site

JSON = dict[str, Any]

HORIZON = 240.0
"""Simulated seconds before which all is over that users do and that becomes of machines: a simulation lasts so long."""
DEEDS = (
    "create-pod", "create-pod", "create-pod", "delete-pod", "delete-pod", "evict", "resize", "resize", "cordon",
    "uncordon", "delete-node", "create-node", "create-node", "scale", "delete-owner",
)  # fmt: skip


@dataclass(frozen=True)
class Deed:
    """Something that a user does. What it is done to is drawn from what there is then, by ``pick``."""

    date: float
    """Simulated seconds."""
    kind: str
    pick: int
    obj: JSON | None = None
    """The object that is created."""


@dataclass(frozen=True)
class Life:
    """All of it."""

    objects: tuple[JSON, ...] = ()
    """The objects that are there from the start."""
    deeds: tuple[Deed, ...] = ()
    machines: tuple[JSON, ...] = ()
    """The entries of a file of events (YAML)."""
    failures: tuple[str, ...] = ()
    requeue: str = "never"
    controllers: bool = False
    oom_killer: bool = False
    spare: tuple[str, ...] = ()
    """The hosts without a node at first."""

    def parts(self) -> Iterator["Life"]:
        """Yield the same with something left out."""
        for name in ("objects", "deeds", "machines", "failures", "spare"):
            whole: tuple[Any, ...] = getattr(self, name)
            half = len(whole) // 2
            fewer = [(), whole[:half], whole[half:]] if whole else []
            fewer += [whole[:index] + whole[index + 1 :] for index in range(len(whole))]
            for smaller in fewer:
                changed: JSON = {name: smaller}
                yield replace(self, **changed)
        if self.controllers:
            yield replace(self, controllers=False)
        if self.requeue != "never":
            yield replace(self, requeue="never")
        if self.oom_killer:
            yield replace(self, oom_killer=False)


def random_life(random: Random, site: Site) -> Life:
    """Return a life on the hosts of ``site``."""
    controllers = random.random() < 0.7
    objects = [random_pod(random, f"there-{index}", site) for index in range(random.randint(0, 6))]
    if controllers:
        objects += [_owner(random, f"own-{index}", site) for index in range(random.randint(0, 5))]
    deeds = [_deed(random, number, site) for number in range(random.randint(0, 16))]
    return Life(
        tuple(objects),
        tuple(sorted(deeds, key=lambda deed: deed.date)),
        tuple(_machine_event(random, site) for _ in range(random.choice((0, 0, 1, 2, 4)))),
        ("mtbf=120,mttr=15,for=200",) if random.random() < 0.3 else (),
        random.choice(("never", "restart", "restart", "checkpoint:3")),
        controllers,
        oom_killer=random.random() < 0.5,
        spare=_spare(random, site),
    )


def _spare(random: Random, site: Site) -> tuple[str, ...]:
    names = [machine.name for machine in site.machines]
    if random.random() < 0.6 or len(names) < 2:
        return ()
    return tuple(random.sample(names, random.randint(1, min(4, len(names) - 1))))


def random_pod(random: Random, name: str, site: Site) -> JSON:
    """Return a pod of any restartPolicy, perhaps with init containers, sidecars and more containers."""
    notes = {"batkube.io/duration": str(random.choice((0, 1, 7.5, 30, 60.25, "forever")))}
    if random.random() < 0.3:
        notes["batkube.io/exit-code"] = "1"
    if random.random() < 0.2:
        notes["batkube.io/termination-duration"] = str(random.choice((1, 4.5, "forever")))
    if random.random() < 0.2:
        notes["batkube.io/usage"] = f"memory={random.choice(('1Gi', '600Mi'))}; 5 cpu=2,memory=500Gi"
    spec = _pod_spec(random, site, random.choice(("Never", "Never", "OnFailure", "Always")))
    if random.random() < 0.2:
        spec["activeDeadlineSeconds"] = random.choice((1, 20, 100))
    metadata = {"name": name, "namespace": "default", "annotations": notes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _pod_spec(random: Random, site: Site, policy: str) -> JSON:
    most = max(machine.cores for machine in site.machines)
    cpu = random.choice(("250m", "1", "1", str(most)))
    spec: JSON = {"restartPolicy": policy, "containers": [_container("main", {"requests": {"cpu": cpu}})]}
    if random.random() < 0.3:
        spec["initContainers"] = [_run(random, f"init-{index}") for index in range(random.randint(1, 3))]
        for each in spec["initContainers"]:
            if random.random() < 0.3:
                each["restartPolicy"] = "Always"
    if random.random() < 0.2:
        spec["containers"].append(_run(random, "beside"))
    return spec


def _container(name: str, resources: JSON | None = None) -> JSON:
    return {"name": name, "image": "app", **({"resources": resources} if resources else {})}


def _run(random: Random, name: str) -> JSON:
    command = f"sleep {random.choice((0, 2, 5.5, 20, 'infinity'))}; exit {random.choice((0, 0, 0, 1))}"
    return {**_container(name), "command": ["sh", "-c", command]}


def _owner(random: Random, name: str, site: Site) -> JSON:
    """Return what controllers make pods of, or a budget for those."""
    metadata = {"name": name, "namespace": "default"}
    labels = {"app": name}
    kind = random.choice(("Job", "Job", "CronJob", "Deployment", "StatefulSet", "DaemonSet", "PodDisruptionBudget"))
    if kind == "PodDisruptionBudget":
        selector = {"matchLabels": {"app": f"own-{random.randint(0, 4)}"}}
        spec: JSON = {"selector": selector, random.choice(("minAvailable", "maxUnavailable")): 1}
        return {"apiVersion": "policy/v1", "kind": kind, "metadata": metadata, "spec": spec}
    if kind == "Job":
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": _job_spec(random, labels)}
    if kind == "CronJob":
        spec = {"schedule": "* * * * *", "concurrencyPolicy": random.choice(("Allow", "Forbid", "Replace"))}
        spec["jobTemplate"] = {"spec": _job_spec(random, labels)}
        # Each Job would come to its deadline as the next one begins, for ever where a job of a workload waits for ever.
        spec["jobTemplate"]["spec"].pop("activeDeadlineSeconds", None)
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": metadata, "spec": spec}
    container = _container("main", {"requests": {"cpu": random.choice(("250m", "1"))}})
    template: JSON = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    if random.random() < 0.3:  # servers that fall over now and then
        template["metadata"]["annotations"] = {"batkube.io/duration": "33.5", "batkube.io/exit-code": "2"}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    if kind != "DaemonSet":
        spec["replicas"] = random.randint(1, 3)
    if kind == "StatefulSet":
        spec["serviceName"] = name
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def _job_spec(random: Random, labels: JSON) -> JSON:
    command = f"sleep {random.choice((1, 4.25, 12, 40))}; exit {random.choice((0, 0, 0, 1))}"
    container = {**_container("main", {"requests": {"cpu": "1"}}), "command": ["sh", "-c", command]}
    pod = {"restartPolicy": random.choice(("Never", "OnFailure")), "containers": [container]}
    spec: JSON = {"template": {"metadata": {"labels": labels}, "spec": pod}, "backoffLimit": random.randint(0, 2)}
    spec |= {"parallelism": random.randint(1, 3), "completions": random.randint(1, 4)}
    if random.random() < 0.2:
        spec["activeDeadlineSeconds"] = random.choice((5, 60))
    if random.random() < 0.2:
        spec["ttlSecondsAfterFinished"] = random.choice((0, 20))
    return spec


def _date(random: Random) -> float:
    """Return a date at which something else may happen, too, or one of its own."""
    whole = float(random.randint(0, int(HORIZON) - 30))
    return whole if random.random() < 0.3 else whole + round(random.random(), 6)


def _deed(random: Random, number: int, site: Site) -> Deed:
    kind = random.choice(DEEDS)
    obj = random_pod(random, f"made-{number}", site) if kind == "create-pod" else None
    return Deed(_date(random), kind, random.randrange(10**6), obj)


def _machine_event(random: Random, site: Site) -> JSON:
    nodes = [machine.name for machine in site.machines]
    event: JSON = {"at": _date(random), "node": random.sample(nodes, random.choice((1, 1, min(2, len(nodes)))))}
    length = random.choice((2.5, 10, 30))
    event["drain" if random.random() < 0.6 else "down"] = length
    if random.random() < 0.2 and event["at"] < HORIZON / 2:
        event |= {"every": length + 5, "times": 2}
    return event
