"""Errors in jobs and platforms are told before anything runs; slips are warned of."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batkube.api_settings import ApiSettings
from batkube.batsim.options import BatsimOptions
from batkube.batsim.platform import PlatformError
from batkube.bridge.errors import InputError
from batkube.session.inputs import read_inputs
from batkube.settings import RunSettings

PLATFORM = '<platform version="4.1"><zone id="z" routing="Full">{}</zone></platform>'
HOSTS = (
    '<host id="node" speed="1Gf" core="4"><prop id="memory" value="4Gi"/></host><host id="master_host" speed="1Gf"/>'
)
DELAY = {"p": {"type": "delay", "delay": 10}}

Read = Callable[..., list[str]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read the inputs of a run with one job, and return what is warned of."""

    def warnings(
        job: dict[str, Any],
        profiles: dict[str, Any] = DELAY,
        hosts: str = HOSTS,
        sharing: bool = False,
        objects: str = "",
        without: tuple[str, ...] = (),
    ) -> list[str]:
        platform, workload = tmp_path / "p.xml", tmp_path / "w.json"
        platform.write_text(PLATFORM.format(hosts))
        jobs = [{"id": "7", "subtime": 0, "res": 1, "profile": "p", **job}]
        workload.write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
        given = tmp_path / "objects.yaml"
        given.write_text(objects)
        settings = RunSettings(
            platform=platform,
            workloads=(workload,),
            batsim=BatsimOptions(compute_sharing=sharing),
            api=ApiSettings(objects=(given,) if objects else (), disable_admission_plugins=without),
        )
        return read_inputs(settings).warnings

    return warnings


@pytest.mark.parametrize(
    ("job", "field"),
    [
        ({"pod": {"spec": {"containers": [{"name": "Not A Name", "image": "i"}]}}}, "spec.containers[0].name"),
        ({"pod": {"spec": {"restartPolicy": "Sometimes"}}}, "spec.restartPolicy"),
        ({"pod": {"spec": {"containers": "none"}}}, "pod: "),
        ({"pod": {"metadata": {"labels": {"x": 5}}}}, "labels"),
        ({"labels": {"not a key": "v"}}, "metadata.labels"),
        ({"batkube": {"labels": {"k": "not a value!"}}}, "metadata.labels"),
        ({"nodeSelector": {"not a key": "v"}}, "spec.nodeSelector"),
        ({"priority": 5_000_000_000}, "priority is 5000000000"),
        ({"priority": "Not A Name"}, "priority is Not A Name: no PriorityClass"),
        ({"priority": "high"}, "priority is high: no PriorityClass with name high was found (objects that"),
        ({"pod": {"spec": {"priorityClassName": "high"}}}, "no PriorityClass with name high was found"),
        ({"pod": {"spec": {"runtimeClassName": "kata"}}}, 'RuntimeClass "kata" not found'),
        ({"pod": {"spec": {"priority": 5}}}, "must not be provided in pod spec"),
        ({"pod": {"spec": {"overhead": {"cpu": "1"}}}}, "Pod Overhead set without"),
        ({"pod": {"metadata": {"namespace": "team"}}}, "namespace"),
        ({"gpu": 0.5}, "nvidia.com/gpu"),
        ({"subtime": -1}, "subtime is -1"),
        ({"cpu": "lots"}, "cpu is 'lots'"),
    ],
    ids=str,
)
def test_a_job_that_can_never_be_a_pod_is_bad_input(read: Read, job: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError, match=r"w\.json: job 7: ") as refused:
        read(job)
    assert field in str(refused.value)
    assert "\n" not in str(refused.value)


PRIORITY_CLASS = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 7
"""
RUNTIME_CLASS = """\
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
"""


@pytest.mark.parametrize(
    ("job", "objects"),
    [
        ({"priority": "high"}, PRIORITY_CLASS),
        ({"pod": {"spec": {"priorityClassName": "high", "priority": 7}}}, PRIORITY_CLASS),
        ({"priority": "system-node-critical"}, ""),
        ({"priority": 7}, PRIORITY_CLASS),
        ({"pod": {"spec": {"runtimeClassName": "kata"}}}, RUNTIME_CLASS),
        ({"pod": {"spec": {"serviceAccountName": "robot"}}}, ""),
    ],
)
def test_objects_that_the_cluster_has_from_its_start_may_be_named(
    read: Read, job: dict[str, Any], objects: str
) -> None:
    assert read(job, objects=objects) == []


def test_a_class_that_no_plugin_looks_for_may_be_missing(read: Read) -> None:
    assert read({"priority": "high"}, without=("Priority",)) == []


LIMIT_RANGE = """\
apiVersion: v1
kind: LimitRange
metadata: {name: small}
spec: {limits: [{type: Container, max: {cpu: "2"}}]}
"""
QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {name: little}
spec: {hard: {requests.memory: 1Gi}}
status: {hard: {requests.memory: 1Gi}, used: {requests.memory: 512Mi}}
"""


@pytest.mark.parametrize(
    ("job", "objects", "sharing", "complaint"),
    [
        ({}, LIMIT_RANGE, False, "maximum cpu usage per Container is 2, but limit is 4"),
        ({"cpu": 3}, LIMIT_RANGE, True, "maximum cpu usage per Container is 2, but limit is 3"),
        ({"memory": "1Gi"}, QUOTA, True, "exceeded quota: little"),
    ],
)
def test_objects_of_the_cluster_that_refuse_a_job(
    read: Read, job: dict[str, Any], objects: str, sharing: bool, complaint: str
) -> None:
    limits = {"pod": {"spec": {"containers": [{"name": "job", "resources": {"limits": {"cpu": job.get("cpu", 4)}}}]}}}
    with pytest.raises(InputError, match=r"w\.json: job 7: ") as refused:
        read(job | limits, objects=objects, sharing=sharing)
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)
    assert read({"cpu": 1, "memory": "1Mi"}, objects=QUOTA, sharing=True) == []


STORAGE_HOSTS = HOSTS + '<host id="disk" speed="1Gf"><prop id="role" value="storage"/></host>'
TWO_STORAGES = STORAGE_HOSTS + '<host id="tape" speed="1Gf"><prop id="role" value="storage"/></host>'


@pytest.mark.parametrize(
    ("hosts", "job", "complaint"),
    [
        (HOSTS, {}, "uses the storage 'pfs', and nobody says which host that is"),
        (TWO_STORAGES, {}, "the platform has disk, tape"),
        (STORAGE_HOSTS, {"batkube": {"storage": {"pfs": "cloud"}}}, "there is no storage host 'cloud'"),
        (STORAGE_HOSTS, {}, None),
        (TWO_STORAGES, {"batkube": {"storage": {"pfs": "tape"}}}, None),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_storage_that_no_host_has(
    read: Read, hosts: str, job: dict[str, Any], complaint: str | None, nested: bool
) -> None:
    leaf = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1, "bytes_to_write": 1, "storage": "pfs"}
    profiles = {"p": {"type": "composed", "seq": ["leaf"]}, "leaf": leaf} if nested else {"p": leaf}
    if complaint is None:
        assert read(job, profiles, hosts) == []
        return
    with pytest.raises(InputError, match=r"w\.json: job 7: ") as refused:
        read(job, profiles, hosts)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("profile", [{"batkube": {"labels": {"a b": "c"}}}, {"extra_data": {"labels": {"a b": "c"}}}])
def test_what_a_profile_asks_for_is_checked_too(read: Read, profile: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"w\.json: job 7: metadata\.labels"):
        read({}, {"p": {"type": "delay", "delay": 10, **profile}})


@pytest.mark.parametrize(
    ("hosts", "complaint"),
    [
        ('<host id="master_host" speed="1Gf"/>', "no host computes"),
        ('<cluster id="c" prefix="n" suffix="" radical="" speed="1Gf" bw="1Bps" lat="1us"/>', "radical"),
        ('<cluster id="c" prefix="n" suffix="" radical="3-1" speed="1Gf" bw="1Bps" lat="1us"/>', "radical"),
    ],
)
def test_a_platform_on_which_nothing_can_run(read: Read, hosts: str, complaint: str) -> None:
    with pytest.raises((InputError, PlatformError), match=rf"p\.xml: .*{complaint}"):
        read({}, hosts=hosts)


@pytest.mark.parametrize(
    ("job", "profile", "slip", "meant"),
    [
        ({"memroy": "1Gi"}, {}, "memroy", "memory"),
        ({"nodeselector": {"a": "b"}}, {}, "nodeselector", "nodeSelector"),
        ({"walltme": 5}, {}, "walltme", "walltime"),
        ({"batkube": {"label": {"a": "b"}}}, {}, "label", "labels"),
        ({"pod": {"spec": {"restartPolcy": "Never"}}}, {}, "spec.restartPolcy", ""),
        ({}, {"priorty": 5}, "priorty", "priority"),
    ],
    ids=str,
)
def test_a_field_that_looks_like_a_slip(
    read: Read, job: dict[str, Any], profile: dict[str, Any], slip: str, meant: str
) -> None:
    (warning,) = read(job, {"p": {"type": "delay", "delay": 10, **profile}})
    assert "w.json: " in warning
    assert slip in warning
    assert warning.endswith(f"did you mean {meant}?") == bool(meant)


def test_a_property_of_a_host_that_looks_like_a_slip(read: Read) -> None:
    (warning,) = read({}, hosts=HOSTS.replace('id="memory"', 'id="memroy"'))
    assert "host node: prop: memroy means nothing here; did you mean memory?" in warning


def test_fields_of_the_users_own_are_nobodys_business(read: Read) -> None:
    own = {"comment": "first", "user": "ann", "project": {"id": 5}, "origin": "trace"}
    assert read(own, {"p": {"type": "delay", "delay": 10, **own}}) == []


def test_less_than_a_host_on_exclusive_hosts(read: Read) -> None:
    (warning,) = read({"cpu": "500m"})
    assert "job 7 asks for cpu 500m" in warning
    assert "--enable-compute-sharing" in warning
    assert read({"cpu": "500m"}, sharing=True) == []
    assert read({"cpu": 4}) == []
