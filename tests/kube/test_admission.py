"""Admission plugins by name: done without, or asked for."""

from typing import Any

import pytest

from batkube.kube.admission import OPTIONAL, AdmissionError
from batkube.kube.server import ApiServer
from batkube.kube.status import ApiError

JSON = dict[str, Any]


def server(enable: tuple[str, ...] = (), disable: tuple[str, ...] = ()) -> ApiServer:
    return ApiServer(now=lambda: 0.0, enable_admission_plugins=enable, disable_admission_plugins=disable)


def pod(**spec: Any) -> JSON:
    container = {"name": "c", "image": "img", "resources": {"limits": {"example.com/gpu": "1"}}}
    return {"metadata": {"name": "p"}, "spec": {"containers": [container], **spec}}


def tolerated(made: JSON) -> list[str]:
    return [toleration["key"] for toleration in made["spec"].get("tolerations", [])]


def test_a_pod_without_the_plugins_that_fill_it_in() -> None:
    made = server(disable=("DefaultTolerationSeconds", "Priority")).create("pods", pod())
    assert tolerated(made) == []
    assert "priority" not in made["spec"]


def test_a_namespace_need_not_exist_without_namespace_lifecycle() -> None:
    assert server(disable=("NamespaceLifecycle",)).create("pods", pod(), "nowhere")["metadata"]["name"] == "p"
    with pytest.raises(ApiError):
        server().create("pods", pod(), "nowhere")


def test_pods_tolerate_the_taints_of_their_devices() -> None:
    assert "example.com/gpu" not in tolerated(server().create("pods", pod()))
    assert "example.com/gpu" in tolerated(server(("ExtendedResourceToleration",)).create("pods", pod()))


def test_pods_may_not_keep_others_off_a_zone() -> None:
    term = {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    apart = pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})
    server().create("pods", apart)
    with pytest.raises(ApiError, match=r"only key kubernetes\.io/hostname is allowed"):
        server(("LimitPodHardAntiAffinityTopology",)).create("pods", apart)


def test_a_namespace_says_what_its_pods_tolerate() -> None:
    plugins = server(("PodTolerationRestriction",), ("DefaultTolerationSeconds",))
    annotations = {
        "scheduler.alpha.kubernetes.io/defaultTolerations": '[{"key": "team", "operator": "Exists"}]',
        "scheduler.alpha.kubernetes.io/tolerationsWhitelist": '[{"operator": "Exists", "effect": "NoSchedule"}, '
        '{"key": "team", "operator": "Exists"}]',
    }
    plugins.create("namespaces", {"metadata": {"name": "mine", "annotations": annotations}})
    narrow = {"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}
    other = {"key": "other", "operator": "Exists", "effect": "NoSchedule"}
    made = plugins.create("pods", pod(tolerations=[narrow, other]), "mine")
    pressure = "node.kubernetes.io/memory-pressure"
    assert [(each["key"], each.get("value")) for each in made["spec"]["tolerations"]] == [
        ("other", None),
        ("team", None),
    ]
    burstable = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    asking: JSON = {"metadata": {"name": "q"}, "spec": {"containers": [burstable]}}
    assert tolerated(plugins.create("pods", asking, "mine")) == ["team", pressure]
    assert tolerated(plugins.create("pods", asking)) == [pressure]
    evicted = {**other, "effect": "NoExecute"}
    with pytest.raises(ApiError, match="conflict with its namespace whitelist") as refused:
        plugins.create("pods", {**asking, "spec": {**asking["spec"], "tolerations": [evicted]}}, "mine")
    assert refused.value.code == 500


@pytest.mark.parametrize(
    ("enable", "disable", "complaint"),
    [
        ((), ("Prority",), "--disable-admission-plugins: kube-apiserver has no plugin 'Prority'"),
        (("PodNodeSelector",), (), f"PodNodeSelector is not there.*{OPTIONAL[-1]}"),
        (("Priority",), ("Priority",), "Priority is to be disabled as well"),
    ],
)
def test_what_cannot_be_chosen_is_said(enable: tuple[str, ...], disable: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(AdmissionError, match=complaint):
        server(enable, disable)
