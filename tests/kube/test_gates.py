"""Feature gates and API versions, said in kube-apiserver's words."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.schema.gated_fields import drop_disabled
from batkube.kube.schema.gates import GateError, read_gates, without_effect
from batkube.kube.schema.resources import default_registry
from batkube.kube.schema.runtime_config import RuntimeConfigError, read_runtime_config
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

COMPARING = {"TaintTolerationComparisonOperators": True}


def pod(*tolerations: JSON) -> JSON:
    return {"metadata": {"name": "p"}, "spec": template(*tolerations)["spec"]}


def template(*tolerations: JSON) -> JSON:
    return {"spec": {"containers": [{"name": "c", "image": "i"}], "tolerations": list(tolerations)}}


def toleration(value: str, operator: str = "Gt") -> JSON:
    return {"key": "sla", "operator": operator, "value": value, "effect": "NoSchedule"}


def test_gates_are_read_as_kube_apiserver_does() -> None:
    assert read_gates(["A=true,B=false", " C = T ,A=0"]) == {"A": False, "B": False, "C": True}
    assert without_effect({"Nothing": True, **COMPARING}) == ["Nothing"]


@pytest.mark.parametrize("text", ["A", "A=", "A=yes", "=true"])
def test_a_gate_that_cannot_be_read(text: str) -> None:
    with pytest.raises(GateError, match="--feature-gates: expected NAME=true or NAME=false, not"):
        read_gates([text])


def test_tolerations_compare_numbers_where_a_gate_says_so() -> None:
    server = ApiServer(now=lambda: 0.0, feature_gates=COMPARING)
    made = server.create("pods", pod(toleration("950"), toleration("-3", "Lt")))
    assert made["spec"]["tolerations"][:2] == [toleration("950"), toleration("-3", "Lt")]
    with pytest.raises(ApiError, match='Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"'):
        ApiServer(now=lambda: 0.0).create("pods", pod(toleration("950")))


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("x", 'must be a valid decimal integer in canonical form, .*strconv.ParseInt: parsing "x": invalid syntax'),
        ("05", "must be a valid decimal integer in canonical form$"),
        ("", 'must be non-empty, .*strconv.ParseInt: parsing "": invalid syntax'),
        (str(1 << 63), 'strconv.ParseInt: parsing "9223372036854775808": value out of range$'),
    ],
)
def test_what_is_no_number_is_refused(value: str, complaint: str) -> None:
    with pytest.raises(ApiError, match=complaint):
        ApiServer(now=lambda: 0.0, feature_gates=COMPARING).create("pods", pod(toleration(value)))


@pytest.mark.parametrize(
    ("resource", "obj"),
    [
        ("podtemplates", lambda template: {"template": template}),
        (
            "jobs.batch",
            lambda template: {"spec": {"template": {"spec": {**template["spec"], "restartPolicy": "Never"}}}},
        ),
        (
            "deployments.apps",
            lambda template: {
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {**template, "metadata": {"labels": {"a": "b"}}},
                }
            },
        ),
    ],
)
def test_the_gate_holds_for_templates_as_well(resource: str, obj: Callable[[JSON], JSON]) -> None:
    body = {"metadata": {"name": "x"}, **obj(template(toleration("1")))}
    ApiServer(now=lambda: 0.0, feature_gates=COMPARING).create(resource, body)
    with pytest.raises(ApiError, match='Unsupported value: "Gt"'):
        ApiServer(now=lambda: 0.0).create(resource, body)


def shown(*texts: str) -> set[str]:
    registry = default_registry(runtime_config=read_runtime_config(texts))
    return {
        f"{group}/{version}/{resource.plural}".lstrip("/")
        for group in registry.groups()
        for version in registry.versions(group)
        for resource in registry.resources(group, version)
    }


def test_versions_that_are_off_by_default_can_be_shown() -> None:
    groups = "scheduling.k8s.io/v1alpha2/podgroups"
    assert groups not in shown()
    assert groups in shown("scheduling.k8s.io/v1alpha2=true")
    assert groups in shown("scheduling.k8s.io/v1alpha2/podgroups")
    assert groups in shown("api/alpha=true")
    assert groups not in shown("api/beta=true")
    assert groups not in shown("api/all=true,scheduling.k8s.io/v1alpha2=false")
    everything = shown("api/all=true")
    assert shown() < everything
    assert "scheduling.k8s.io/v1alpha3/podgroups" not in everything  # of a later release
    assert "policy/v1beta1/poddisruptionbudgets" not in everything  # of an earlier one
    assert "batch/v1/jobs" not in shown("batch/v1=false")
    assert shown("v1=false") == {each for each in shown() if not each.startswith("v1/")}


@pytest.mark.parametrize("text", ["api/some=true", "pods=true", "apps/v1/pods/status=true", "apps/v1=maybe"])
def test_a_version_that_cannot_be_read(text: str) -> None:
    with pytest.raises(RuntimeConfigError, match="--runtime-config: expected"):
        read_runtime_config([text])


def test_fields_without_their_gate_are_dropped_unless_the_object_had_them() -> None:
    def deployment(container: JSON, **fields: Any) -> JSON:
        return {"spec": {"template": {"spec": {"containers": [container], **fields}}}}

    plain: JSON = {"name": "c"}
    stopped: JSON = {"name": "c", "lifecycle": {"stopSignal": "SIGHUP"}}
    bundle = [{"name": "v", "projected": {"sources": [{"clusterTrustBundle": {"name": "b", "path": "p"}}]}}]
    bare = [{"name": "v", "projected": {"sources": [{}]}}]

    def left(old: JSON | None, *gates: str) -> JSON:
        new = deployment({"name": "c", "lifecycle": {"stopSignal": "SIGHUP"}}, volumes=deepcopy(bundle))
        drop_disabled("deployments.apps", new, old, gates)
        return new

    assert left(None) == deployment(plain, volumes=bare)
    assert left(deployment(stopped)) == deployment(stopped, volumes=bare)
    assert left(deployment(plain, volumes=bundle)) == deployment(plain, volumes=bundle)
    assert left(None, "ClusterTrustBundleProjection") == deployment(plain, volumes=bundle)
    both = ("ClusterTrustBundleProjection", "ContainerStopSignals")
    assert left(None, *both) == deployment(stopped, volumes=bundle)
