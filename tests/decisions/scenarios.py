"""Clusters and pods at random, of all that kube-scheduler looks at. The same number is the same scenario."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

JSON = dict[str, Any]

# Left out are those in which kube-scheduler takes one of two at random, on kube-apiserver as well: of two nodes with
# the same score in 1 (and in 15, for kube-scheduler 1.34), of two victims in 9. In the last four pods are preempted.
SCENARIOS = (0, *range(2, 9), *range(10, 15), *range(16, 21), 29, 37, 41, 47)
ZONE, HOST, DISK = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "disk"
GPU = "example.com/gpu"
DRIVER = "devices.example.com"
_APPS = ("web", "db", "batch")


class Scenario(NamedTuple):
    """The objects that there are before, by collection, and the pods that come one after the other."""

    objects: list[tuple[str, JSON]]
    claims: dict[str, JSON]  # of pods, by their names; made just before them
    pods: list[JSON]


def scenario(number: int) -> Scenario:
    """One of SCENARIOS."""
    chance = random.Random(number)
    objects: list[tuple[str, JSON]] = []
    for name, value in (("low", 10), ("high", 1000)):
        named = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        objects.append(("/apis/scheduling.k8s.io/v1/priorityclasses", {**named, "value": value}))
    nodes = [_node(chance, index) for index in range(chance.randint(4, 9))]
    objects += [("/api/v1/nodes", node) for node in nodes]
    with_devices = number % 4 == 3
    if with_devices:
        objects += _devices(chance, [node["metadata"]["name"] for node in nodes])
    pods = [_pod(chance, index, number) for index in range(chance.randint(14, 24))]
    claims = {}
    if with_devices:
        for pod in pods[::3]:
            name = pod["metadata"]["name"]
            claims[name] = _claim(chance, name)
            pod["spec"]["resourceClaims"] = [{"name": "device", "resourceClaimName": name}]
            pod["spec"]["containers"][0]["resources"]["claims"] = [{"name": "device"}]
    return Scenario(objects, claims, pods)


def _node(chance: random.Random, index: int) -> JSON:
    name = f"node-{index}"
    labels = {HOST: name, ZONE: f"zone-{chance.randrange(3)}", DISK: chance.choice(["ssd", "hdd"])}
    resources = {"cpu": str(chance.choice([2, 4, 6])), "memory": f"{chance.choice([4, 8])}Gi", "pods": "8"}
    if chance.random() < 0.3:
        resources[GPU] = "2"
    taints = []
    if chance.random() < 0.3:
        effect = chance.choice(["NoSchedule", "PreferNoSchedule"])
        taints.append({"key": "dedicated", "value": "batch", "effect": effect})
    images = [{"names": [f"{app}:1"], "sizeBytes": 300_000_000} for app in _APPS if chance.random() < 0.4]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints, "unschedulable": chance.random() < 0.08},
        "status": {"capacity": resources, "allocatable": resources, "images": images},
    }


def _pod(chance: random.Random, index: int, number: int) -> JSON:
    app = chance.choice(_APPS)
    requests = {"cpu": chance.choice(["100m", "500m", "1", "1500m", "3"]), "memory": chance.choice(["256Mi", "1Gi"])}
    resources: JSON = {"requests": requests}
    if chance.random() < 0.1:
        resources["limits"] = {GPU: "1"}
    spec: JSON = {
        "containers": [{"name": "main", "image": f"{app}:1", "resources": resources}],
        "terminationGracePeriodSeconds": 0,  # nobody plays kubelet: a victim goes at once
        "priorityClassName": "high" if number % 2 and index > 10 and chance.random() < 0.4 else "low",
    }
    affinity: JSON = {}
    if chance.random() < 0.25:
        terms = [{"matchExpressions": [{"key": DISK, "operator": "In", "values": ["ssd"]}]}]
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    # Of nodes with the same score kube-scheduler takes one at random, each time another: so each is liked otherwise.
    likes = [
        {
            "weight": weight,
            "preference": {"matchExpressions": [{"key": HOST, "operator": "In", "values": [f"node-{n}"]}]},
        }
        for n, weight in enumerate(chance.sample(range(1, 100), 9))
    ]
    affinity.setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = likes
    if chance.random() < 0.35:
        kind = chance.choice(["podAffinity", "podAntiAffinity"])
        selector = {"matchLabels": {"app": chance.choice(_APPS)}}
        term: JSON = {"labelSelector": selector, "topologyKey": chance.choice([ZONE, HOST])}
        if chance.random() < 0.5:
            affinity[kind] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        else:
            weighted = [{"weight": chance.randint(1, 100), "podAffinityTerm": term}]
            affinity[kind] = {"preferredDuringSchedulingIgnoredDuringExecution": weighted}
    if affinity:
        spec["affinity"] = affinity
    if chance.random() < 0.3:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": chance.choice(["DoNotSchedule", "ScheduleAnyway"]),
                "labelSelector": {"matchLabels": {"app": app}},
            }
        ]
    if chance.random() < 0.3:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}]
    if chance.random() < 0.1:
        spec["nodeSelector"] = {ZONE: f"zone-{chance.randrange(4)}"}
    if chance.random() < 0.05:
        spec["schedulingGates"] = [{"name": "example.com/wait"}]
    metadata = {"name": f"pod-{index:02}", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _devices(chance: random.Random, nodes: list[str]) -> list[tuple[str, JSON]]:
    group = "/apis/resource.k8s.io/v1"
    expression = f"device.driver == '{DRIVER}'"
    device_class = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": "device"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }
    found: list[tuple[str, JSON]] = [(f"{group}/deviceclasses", device_class)]
    for node in nodes:
        if chance.random() < 0.6:
            devices = [{"name": f"d{index}", "attributes": {"size": {"int": index}}} for index in range(2)]
            pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
            spec = {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices}
            named = {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{node}-devices"},
            }
            found.append((f"{group}/resourceslices", {**named, "spec": spec}))
    return found


def _claim(chance: random.Random, name: str) -> JSON:
    exactly: JSON = {"deviceClassName": "device"}
    if chance.random() < 0.5:
        expression = f"device.attributes['{DRIVER}'].size == {chance.randrange(3)}"
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name},
        "spec": {"devices": {"requests": [{"name": "one", "exactly": exactly}]}},
    }
