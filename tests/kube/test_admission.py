"""Admission plugins by name: done without, or asked for."""

from typing import Any

import pytest

from batkube.kube.admission.plugin import Elsewhere
from batkube.kube.admission.plugins import OPTIONAL, PLUGINS, AdmissionError
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

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


def test_tolerations_of_devices_are_added_when_the_namespace_has_had_its_say() -> None:
    both = server(("ExtendedResourceToleration", "PodTolerationRestriction"), ("DefaultTolerationSeconds",))
    allowed = {"scheduler.alpha.kubernetes.io/tolerationsWhitelist": '[{"key": "team", "operator": "Exists"}]'}
    both.create("namespaces", {"metadata": {"name": "mine", "annotations": allowed}})
    gpu = {"example.com/gpu": "1"}
    best_effort = {"name": "c", "image": "i", "resources": {"requests": gpu, "limits": gpu}}
    made = both.create("pods", {"metadata": {"name": "p"}, "spec": {"containers": [best_effort]}}, "mine")
    assert tolerated(made) == ["example.com/gpu"]


def test_a_limit_range_refuses_before_a_runtime_class_does() -> None:
    api = server()
    most = {"type": "Pod", "max": {"cpu": "1"}}
    api.create("limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [most]}})
    large = {"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}}}
    beyond = {"metadata": {"name": "p"}, "spec": {"containers": [large], "overhead": {"cpu": "1"}}}
    with pytest.raises(ApiError, match="maximum cpu usage per Pod is 1"):
        api.create("pods", beyond)
    api.delete("limitranges", "l")
    with pytest.raises(ApiError, match="Pod Overhead set without corresponding RuntimeClass"):
        api.create("pods", beyond)


def test_a_quota_is_not_charged_for_what_is_not_stored() -> None:
    api = server()
    api.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "5"}}})
    counted = {**api.get("resourcequotas", "q"), "status": {"hard": {"pods": "5"}, "used": {"pods": "0"}}}
    api.update("resourcequotas", counted, "status")
    api.create("pods", pod())
    with pytest.raises(ApiError, match="already exists"):
        api.create("pods", pod())
    assert api.get("resourcequotas", "q")["status"]["used"] == {"pods": "1"}


def test_each_plugin_has_a_module_of_its_name() -> None:
    here = [plugin for plugin in PLUGINS if type(plugin) is not Elsewhere]
    modules = {type(plugin).__module__.rpartition(".")[2].replace("_", "") for plugin in here}
    assert modules == {plugin.name.lower() for plugin in here}


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
