"""Validation of a pod's spec, field by field. The fields are those that a kube-apiserver 1.36.3 named."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.kinds.pods.debugging import validate_debugging
from batkube.kube.kinds.pods.defaults import default_pod
from batkube.kube.kinds.pods.quality import quality_of_service
from batkube.kube.kinds.pods.resize import validate_resize
from batkube.kube.kinds.pods.scheduling_keys import merge_label_keys
from batkube.kube.kinds.pods.status import default_status, keep_observed_generations, validate_status
from batkube.kube.kinds.pods.updates import same, validate_spec_change
from batkube.kube.kinds.pods.validation import validate_new_pod
from batkube.kube.kinds.pods.warnings import warnings_of

JSON = dict[str, Any]

SPREAD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod(container: JSON | None = None, **spec: Any) -> JSON:
    made: JSON = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i:1", **(container or {})}]},
    }
    made["spec"].update(spec)
    default_pod(made)
    return made


def wrong(made: JSON) -> list[str]:
    return sorted(error.field for error in validate_new_pod(made))


def test_a_plain_pod_is_fine() -> None:
    assert validate_new_pod(pod()) == []
    assert warnings_of(pod()) == []


@pytest.mark.parametrize(
    ("container", "fields"),
    [
        ({"image": ""}, ["image"]),
        ({"name": "A.b"}, ["name"]),
        ({"resources": {"limits": {"foo": "1"}}}, ["resources.limits[foo]"] * 2 + ["resources.requests[foo]"] * 2),
        ({"resources": {"requests": {"nvidia.com/gpu": "1"}}}, ["resources.limits"]),
        (
            {"resources": {"limits": {"hugepages-2Mi": "3Mi", "cpu": "1"}}},
            ["resources.limits[hugepages-2Mi]", "resources.requests[hugepages-2Mi]"],
        ),
        ({"env": [{"name": "A", "valueFrom": {}}]}, ["env[0].valueFrom"]),
        (
            {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "nope"}}}]},
            ["env[0].valueFrom.fieldRef.fieldPath"],
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "10m"}}}]},
            ["env[0].valueFrom.resourceFieldRef.divisor"],
        ),
        ({"envFrom": [{}]}, ["envFrom"]),
        (
            {"volumeMounts": [{"name": "none", "mountPath": "/a", "subPath": "/b"}]},
            ["volumeMounts.subPath", "volumeMounts[0].name"],
        ),
        ({"livenessProbe": {"exec": {"command": ["x"]}, "successThreshold": 2}}, ["livenessProbe.successThreshold"]),
        ({"readinessProbe": {}}, ["readinessProbe"]),
        ({"lifecycle": {"preStop": {"sleep": {"seconds": 31}}}}, ["lifecycle.preStop.sleep"]),
        ({"restartPolicyRules": [{"action": "Restart"}]}, ["restartPolicy", "restartPolicyRules[0].exitCodes"]),
        ({"securityContext": {"runAsUser": -1}}, ["securityContext.runAsUser"]),
        ({"ports": [{"containerPort": 80, "name": "a--b"}]}, ["ports[0].name"]),
    ],
)
def test_containers(container: JSON, fields: list[str]) -> None:
    assert wrong(pod(container)) == [f"spec.containers[0].{field}" for field in fields]


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"volumes": [{"name": "v"}, {"name": "v"}]}, ["volumes[1].name"]),
        ({"volumes": [{"name": "v", "secret": {}}]}, ["volumes[0].secret.secretName"]),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/a/../b"}}]}, ["volumes[0].hostPath.path"]),
        ({"volumes": [{"name": "v", "nfs": {"server": "s", "path": "rel"}}]}, ["volumes[0].nfs.path"]),
        ({"tolerations": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 1}]}, ["tolerations[0].effect"]),
        (
            {"topologySpreadConstraints": [SPREAD, SPREAD]},
            ["topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}"],
        ),
        ({"topologySpreadConstraints": [{**SPREAD, "minDomains": 0}]}, ["topologySpreadConstraints[0].minDomains"]),
        (
            {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}},
            [f"affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"],
        ),
        ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, ["schedulingGates[1]"]),
        ({"schedulingGates": [{"name": "a"}], "nodeName": "n"}, ["nodeName"]),
        ({"dnsPolicy": "None"}, ["dnsConfig"]),
        ({"hostUsers": False, "hostPID": True}, ["HostPID"]),
        ({"readinessGates": [{"conditionType": "a b"}]}, ["readinessGates[0].conditionType"]),
        ({"resources": {"limits": {"nvidia.com/gpu": "1"}}}, ["resources.limits[nvidia.com/gpu]"]),
        ({"ephemeralContainers": [{"name": "d", "image": "d"}]}, ["ephemeralContainers"]),
        ({"hostAliases": [{"ip": "x", "hostnames": ["A_"]}]}, ["hostAliases[0].hostnames[0]", "hostAliases[0].ip"]),
    ],
)
def test_the_spec(spec: JSON, fields: list[str]) -> None:
    assert wrong(pod(**spec)) == sorted(f"spec.{field}" for field in fields)


def test_an_init_container_that_ends_is_not_probed() -> None:
    init = {"name": "i", "image": "i", "livenessProbe": {"exec": {"command": ["x"]}}}
    assert wrong(pod(initContainers=[init])) == ["spec.initContainers[0].livenessProbe"]
    assert wrong(pod(initContainers=[{**init, "restartPolicy": "Always"}])) == []


def test_a_negative_grace_period_becomes_one_second() -> None:
    assert pod(terminationGracePeriodSeconds=-5)["spec"]["terminationGracePeriodSeconds"] == 1


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("localhost:5000/x", "Always"),
        ("x:latest@sha256:" + "a" * 64, "Always"),
        ("x@sha256:" + "a" * 64, "IfNotPresent"),
        ("a//b", "IfNotPresent"),
        ("Upper", "IfNotPresent"),
        ("a" * 64, "IfNotPresent"),
        ("a" * 248, "IfNotPresent"),
        ("a..b/c", "IfNotPresent"),
        ("[::1]:5000/x", "Always"),
    ],
)
def test_names_of_images_are_read_as_docker_reads_them(image: str, policy: str) -> None:
    assert pod({"image": image})["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_resources_of_the_whole_pod_decide_its_class() -> None:
    made = pod({"resources": {"requests": {"cpu": "1"}}}, resources={"limits": {"cpu": "2", "memory": "1Gi"}})
    assert made["spec"]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert quality_of_service(made["spec"]) == "Burstable"
    same_as_limits = {"cpu": "2", "memory": "1Gi"}
    assert quality_of_service({"resources": {"limits": same_as_limits, "requests": same_as_limits}}) == "Guaranteed"


def test_keys_of_the_pods_own_labels_are_merged_into_selectors() -> None:
    spec = {"topologySpreadConstraints": [{**SPREAD, "labelSelector": {}, "matchLabelKeys": ["hash", "absent"]}]}
    merge_label_keys(spec, {"hash": "1"})
    selector = spec["topologySpreadConstraints"][0]["labelSelector"]
    assert selector == {"matchExpressions": [{"key": "hash", "operator": "In", "values": ["1"]}]}


def changed(old: JSON, **spec: Any) -> list[str]:
    return sorted(error.field for error in validate_spec_change({**old["spec"], **spec}, old["spec"]))


def test_what_may_change_in_a_spec() -> None:
    old = pod(activeDeadlineSeconds=100, tolerations=[{"key": "a", "operator": "Exists"}])
    image = [{**old["spec"]["containers"][0], "image": "i:2"}]
    assert changed(old, containers=image, activeDeadlineSeconds=50) == []
    assert changed(old, activeDeadlineSeconds=200) == ["spec.activeDeadlineSeconds"]
    assert changed(old, tolerations=[]) == ["spec.tolerations"]
    assert changed(old, containers=[*image, {"name": "d", "image": "d"}]) == ["spec.containers"]
    assert changed(old, nodeName="n") == ["spec"]


def test_a_gated_pod_may_only_be_narrowed() -> None:
    term = {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}
    old = pod(schedulingGates=[{"name": "a"}], nodeSelector={"a": "b"}, affinity=affinity)
    more = {"matchExpressions": [*term["matchExpressions"], {"key": "z", "operator": "Exists"}]}
    narrowed = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [more]}}}
    assert changed(old, nodeSelector={"a": "b", "c": "d"}, affinity=narrowed, schedulingGates=[]) == []
    assert changed(old, nodeSelector={"c": "d"}) == ["spec.nodeSelector"]
    assert changed(old, affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term, more]}}}) == [
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    ]
    assert changed(old, schedulingGates=[{"name": "b"}]) == ["spec.schedulingGates[0].name"]


def test_amounts_are_compared_not_their_spelling() -> None:
    assert same({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "1073741824"}})
    assert not same({"limits": {"memory": "1Gi"}}, {"limits": {"memory": "1G"}})


def test_a_status_keeps_what_older_kubelets_leave_out() -> None:
    old = {"qosClass": "BestEffort", "observedGeneration": 3, "conditions": [{"type": "A", "observedGeneration": 2}]}
    status: JSON = {"podIP": "1.1.1.1", "conditions": [{"type": "A"}]}
    default_status(status, old)
    keep_observed_generations(status, old)
    assert status["podIPs"] == [{"ip": "1.1.1.1"}]
    assert (status["qosClass"], status["observedGeneration"]) == ("BestEffort", 3)
    assert status["conditions"] == [{"type": "A", "observedGeneration": 2}]


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        ({"phase": "Anything", "qosClass": "BestEffort"}, []),
        ({"qosClass": "Guaranteed"}, ["status.qosClass"]),
        ({"qosClass": "BestEffort", "conditions": [{"type": "a b"}]}, ["status.conditions[0].Type"]),
        ({"qosClass": "BestEffort", "podIPs": [{"ip": "1.1.1.1"}, {"ip": "2.2.2.2"}]}, ["status.podIPs"]),
        ({"qosClass": "BestEffort", "hostIPs": [{"ip": "1.1.1.1"}]}, ["status.hostIPs[0].ip"]),
        ({"qosClass": "BestEffort", "nominatedNodeName": "n"}, ["status.nominatedNodeName"]),
    ],
)
def test_statuses(status: JSON, fields: list[str]) -> None:
    old = {**pod(nodeName="m"), "status": {"qosClass": "BestEffort"}}
    assert [error.field for error in validate_status(status, old)] == fields


@pytest.mark.parametrize(
    ("policy", "code", "runs_again"),
    [("Never", 1, False), ("OnFailure", 0, False), ("OnFailure", 1, True), ("Always", 0, True)],
)
def test_a_container_runs_again_only_where_its_policy_says_so(policy: str, code: int, runs_again: bool) -> None:
    ended = {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": code}}}]}
    old = {**pod(restartPolicy=policy), "status": ended}
    errors = validate_status({"containerStatuses": [{"name": "c", "state": {"running": {}}}]}, old)
    assert (errors == []) is runs_again


def test_resizing_takes_nothing_away_and_keeps_the_class() -> None:
    old = {**pod({"resources": {"requests": {"cpu": "1"}}}), "status": {"qosClass": "Burstable"}}

    def resized(resources: JSON) -> list[str]:
        new = {**pod({"resources": resources}), "status": old["status"]}
        return [error.field for error in validate_resize(new, old)]

    assert resized({"requests": {"cpu": "2"}}) == []
    assert resized({}) == ["spec", "spec.containers[0].resources.requests"]


def test_debug_containers_come_and_never_go() -> None:
    one = {"name": "d", "image": "d"}
    assert validate_debugging({"ephemeralContainers": [one]}, {}) == []
    gone = validate_debugging({}, {"ephemeralContainers": [one]})
    assert [error.field for error in gone] == ["spec.ephemeralContainers"]


def test_warnings_tell_of_what_is_hardly_meant() -> None:
    made = pod(
        {
            "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
            "resources": {"limits": {"memory": "500m"}},
        },
        nodeSelector={"beta.kubernetes.io/os": "linux"},
        topologySpreadConstraints=[SPREAD],
    )
    fields = [text.split(": ")[0] for text in warnings_of(made)]
    assert fields == [
        "spec.nodeSelector[beta.kubernetes.io/os]",
        "spec.topologySpreadConstraints[0].labelSelector",
        "spec.containers[0].resources.limits[memory]",
        "spec.containers[0].resources.requests[memory]",
        "spec.containers[0].env[1]",
    ]
