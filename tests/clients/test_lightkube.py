"""lightkube: every way to write, and a controller that plays kubelet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lightkube
import pytest
from lightkube.core.exceptions import ApiError
from lightkube.models.core_v1 import Container, PodSpec, PodStatus
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Namespace, Pod
from lightkube.types import CascadeType, PatchType

from .conftest import DEPLOYMENT


@pytest.fixture
def light(kubeconfig: Path, namespace: str) -> lightkube.Client:
    settings = lightkube.KubeConfig.from_file(kubeconfig)
    return lightkube.Client(settings, namespace=namespace, field_manager="tests", trust_env=False)


def test_it_writes_in_every_way(light: lightkube.Client) -> None:
    made = light.create(ConfigMap(metadata=ObjectMeta(name="c"), data={"a": "1"}))
    assert made.data is not None
    made.data["b"] = "2"
    light.replace(made)
    with pytest.raises(ApiError) as refused:
        light.replace(made)
    assert refused.value.status.reason == "Conflict"
    for kind, body in (
        (PatchType.STRATEGIC, {"data": {"a": None}}),
        (PatchType.MERGE, {"data": {"c": "3"}}),
        (PatchType.JSON, [{"op": "add", "path": "/data/d", "value": "4"}]),
    ):
        light.patch(ConfigMap, "c", body, patch_type=kind)
    assert light.get(ConfigMap, "c").data == {"b": "2", "c": "3", "d": "4"}
    deployment: Any = Deployment.from_dict(DEPLOYMENT)
    first = light.apply(deployment)
    assert first.metadata is not None
    again = light.apply(deployment)
    assert again.metadata is not None
    assert again.metadata.resourceVersion == first.metadata.resourceVersion
    light.delete(Deployment, "web", cascade=CascadeType.FOREGROUND)
    with pytest.raises(ApiError) as refused:
        light.get(Pod, "nobody")
    assert (refused.value.status.code, refused.value.status.reason) == (404, "NotFound")
    assert "default" in [one.metadata.name for one in light.list(Namespace) if one.metadata]


def test_it_runs_a_controller(light: lightkube.Client) -> None:
    """The controller plays the kubelet: pods that are seen run, and then succeed."""
    spec = PodSpec(containers=[Container(name="main", image="job")])
    for number in range(4):
        light.create(Pod(metadata=ObjectMeta(name=f"p{number}"), spec=spec))
    ended: set[str] = set()
    phases = {"Pending": "Running", "Running": "Succeeded"}
    # The server ends the watch after a second; the client goes on.
    for _, pod in light.watch(Pod, server_timeout=1):
        assert pod.metadata is not None
        assert pod.status is not None
        phase = phases.get(pod.status.phase or "")
        if phase is None:
            ended.add(pod.metadata.name or "")
            if len(ended) == 4:
                break
        else:
            status = Pod.Status(metadata=ObjectMeta(name=pod.metadata.name), status=PodStatus(phase=phase))
            light.patch(Pod.Status, pod.metadata.name or "", status)
    assert ended == {f"p{number}" for number in range(4)}
    light.deletecollection(Pod)
    assert list(light.list(Pod)) == []
