"""Whole lives of clusters beside a real Batsim: what comes of them is what comes of the exact built-in simulator."""

import json
from pathlib import Path
from random import Random

import pytest

from tests.batsim.real import REAL, needs_batsim
from tests.run.conftest import Batkube

FILES = ("events.jsonl", "jobs.csv", "pods.csv", "nodes.csv")
OBJECTS = """
apiVersion: v1
kind: Pod
metadata: {name: once, annotations: {batkube.io/duration: 12.5s}}
spec:
  restartPolicy: Never
  initContainers:
  - {name: sidecar, image: a, restartPolicy: Always}
  - {name: first, image: a, command: [sleep, "3"]}
  containers: [{name: main, image: a, resources: {requests: {cpu: "1"}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: unlucky, annotations: {batkube.io/duration: "5", batkube.io/exit-code: "1"}}
spec: {restartPolicy: OnFailure, activeDeadlineSeconds: 300, containers: [{name: main, image: a}]}
---
apiVersion: v1
kind: Pod
metadata: {name: hungry, annotations: {batkube.io/duration: "40", batkube.io/usage: "memory=1Gi; 10 memory=20Gi"}}
spec:
  restartPolicy: OnFailure
  activeDeadlineSeconds: 500
  containers: [{name: main, image: a, resources: {requests: {cpu: "1"}, limits: {memory: 4Gi}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: a, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      completions: 2
      template:
        spec: {restartPolicy: OnFailure, containers: [{name: main, image: a, command: [sh, -c, "sleep 50"]}]}
"""
EVENTS = """
events:
- {at: 300, node: [node-1, node-2], drain: 10m}
- {at: 900, node: node-3, down: 2m, every: 10m, times: 2}
"""
STARTUP = "created: {lognormal: {median: 0.5, sigma: 0.4}}\nstarted: 0.25\nended: 1\n"
WITHOUT: list[str] = []
DISRUPTED = ["--failures", "mtbf=15m,mttr=2m,for=25m", "--requeue", "checkpoint:60", "--oom-killer"]


@needs_batsim
@pytest.mark.parametrize("more", [WITHOUT, DISRUPTED, [*DISRUPTED, "--decision-time", "0.05"]])
def test_a_life_is_the_same_with_both(batkube: Batkube, tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "objects.yaml").write_text(OBJECTS)
    (tmp_path / "events.yaml").write_text(EVENTS)
    (tmp_path / "startup.yaml").write_text(STARTUP)
    draw = Random(4)
    jobs = [
        {"id": str(number), "subtime": draw.randint(0, 1500), "res": draw.randint(1, 3), "profile": draw.choice("dpf")}
        for number in range(40)
    ]
    profiles = {
        "d": {"type": "delay", "delay": 200},
        "p": {"type": "parallel_homogeneous", "cpu": 1e11, "com": 1e6},
        "f": {"type": "delay", "delay": 77.7, "ret": 3},
    }
    (tmp_path / "jobs.json").write_text(json.dumps({"nb_res": 6, "jobs": jobs, "profiles": profiles}))
    given = ["-p", "6 x 4cpu,16Gi", "-w", tmp_path / "jobs.json", "--enable-compute-sharing", "--until", "40m"]
    given += ["--objects", tmp_path / "objects.yaml", "--events", tmp_path / "events.yaml"]
    given += ["--startup", tmp_path / "startup.yaml", "--spare-hosts", "1", "--on-deadlock", "reject", *more]
    told = []
    for simulator in (["--simulator", "batsim", "--batsim-binary", REAL], ["--exact"]):
        done = batkube(*given, *simulator)
        assert done.exit_code == 0, done.stderr
        told.append([(done.out / name).read_text() for name in FILES])
    for real, built_in in zip(*told, strict=True):
        assert real == built_in
