"""Scenarios of Knavigator and Kueue, and traces of SimKube."""

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tests.batsim.hypothesis_profile  # noqa: F401
from batkube.batsim.workload import WorkloadError
from batkube.workloads.formats import reader_for
from batkube.workloads.msgpack import decoded
from batkube.workloads.reader import Record
from batkube.workloads.source import Source
from tests.workloads.documented import EXAMPLES
from tests.workloads.reading import records_of, refusal, workload_of

TEXTS = {example.format: example.text for example in EXAMPLES}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=20).map(tuple)
        | st.dictionaries(st.text(max_size=5) | st.integers(-9, 2**40), inner, max_size=20)
    ),
    max_leaves=30,
)


def packed(value: Any) -> bytes:
    """A value in MessagePack."""
    match value:
        case None | bool():
            return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
        case int() if value < 0:
            return struct.pack(">Bq", 0xD3, value)
        case int():
            return bytes([value]) if value < 0x80 else struct.pack(">BQ", 0xCF, value)
        case float():
            return struct.pack(">Bd", 0xCB, value)
        case str():
            text = value.encode()
            head = bytes([0xA0 | len(text)]) if len(text) < 32 else struct.pack(">BH", 0xDA, len(text))
            return head + text
        case tuple():
            head = bytes([0x90 | len(value)]) if len(value) < 16 else struct.pack(">BH", 0xDC, len(value))
            return head + b"".join(map(packed, value))
        case dict():
            head = bytes([0x80 | len(value)]) if len(value) < 16 else struct.pack(">BH", 0xDE, len(value))
            return head + b"".join(packed(key) + packed(one) for key, one in value.items())
    raise TypeError(value)


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """A pod of two containers."""
    container = {"name": "c", "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}}
    metadata = {"name": name, "namespace": "ns"}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": (container, container), **spec}}


def lived(*names: str) -> dict[Any, Any]:
    """The lives of pods, of 30 seconds each."""
    return {("v1.Pod", f"ns/{name}"): {7: ({"Finished": (1000, 1030)},)} for name in names}


def trace(path: Path, events: Any, lives: Any, version: int = 2) -> Path:
    """Write a trace."""
    path.write_bytes(packed({"version": version, "config": {}, "events": events, "index": {}, "pod_lifecycles": lives}))
    return path


@given(value=VALUES)
def test_what_is_packed_is_unpacked(value: Any) -> None:
    assert decoded(packed(value)) == value


@given(data=st.binary(max_size=80))
def test_any_bytes_are_a_value_or_an_error(data: bytes) -> None:
    try:
        decoded(data)
    except ValueError as error:
        told = str(error)
        assert told.startswith("byte ")


def test_pods_of_a_trace_are_jobs_of_the_length_that_was_seen(tmp_path: Path) -> None:
    events = (
        {"ts": 500, "applied_objs": (pod("a", nodeSelector={"zone": "x"}), {"kind": "Deployment", "metadata": {}})},
        {"ts": 560, "applied_objs": (pod("b"), pod("a"), pod("endless"))},
    )
    path = trace(tmp_path / "trace", events, lived("a", "b"))
    wants = {"cpu": "500m", "memory": "2147483648"}
    source = Source(path)
    assert list(reader_for(source).records(source)) == [
        Record("a", 0, 30, wants={**wants, "nodeSelector": {"zone": "x"}}),
        Record("b", 60, 30, wants=wants),
    ]
    assert source.skipped == {
        "are of kind Deployment, whose pods a controller makes": 1,
        "change a pod that is there already": 1,
        "are pods of which no end was seen": 1,
    }
    workload_of(path)


def test_a_trace_without_a_job_is_refused_with_the_reason(tmp_path: Path) -> None:
    path = trace(tmp_path / "trace", ({"ts": 0, "applied_objs": ({"kind": "CronJob", "metadata": {}},)},), {})
    why = "there is no job in it: 1 are of kind CronJob, whose pods a controller makes"
    assert refusal(path) == f"{path}: {why}"


@pytest.mark.parametrize(
    ("events", "version", "error"),
    [
        ((), 1, "expected a trace of SimKube of version 2"),
        (5, 2, "expected the members events and pod_lifecycles"),
        (({"ts": "x"},), 2, r"events\[0\].ts: expected a whole number of seconds"),
        (({"ts": 1, "applied_objs": (5,)},), 2, r"events\[0\]: expected objects of Kubernetes', not 5"),
        (({"ts": 1, "applied_objs": (pod("a", containers=5),)},), 2, "pod a: spec.containers: missing"),
    ],
)
def test_a_wrong_trace_is_told(tmp_path: Path, events: Any, version: int, error: str) -> None:
    with pytest.raises(WorkloadError, match=error):
        records_of(trace(tmp_path / "trace", events, lived("a"), version))


def test_tasks_of_knavigator(tmp_path: Path) -> None:
    path = tmp_path / "workflow"
    path.write_text(TEXTS["knavigator"])
    assert records_of(path) == [
        Record("first-1", 0, 120, 4),
        Record("first-2", 0, 120, 4),
        Record("second-1", 30, 90, 4),
    ]


def test_queues_of_kueue(tmp_path: Path) -> None:
    path = tmp_path / "generator"
    path.write_text(TEXTS["kueue"])
    records = records_of(path)
    assert len(records) == 2 * 3 * 4
    assert {record.wants["queue"] for record in records} == {f"cohort-{c}-cq-{q}" for c in (1, 2) for q in (1, 2, 3)}
    assert [record.submit for record in records[:5]] == [0, 0.1, 0.2, pytest.approx(0.3), 0]
    first = records[0]
    assert (first.id, first.duration, first.pods) == ("cohort-1-cq-1-1-small-1", 0.2, 2)
    assert first.wants == {
        "cpu": "500m",
        "priority": 50,
        "labels": {"batkube.io/class": "small"},
        "pod": {"metadata": {"annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}}},
        "queue": "cohort-1-cq-1",
    }


@pytest.mark.parametrize(
    ("name", "old", "new", "error"),
    [
        ("knavigator", "replicas: 4", "replicas: many", "tasks[0].params.params.replicas: expected a whole number"),
        ("knavigator", "ttl: 2m", "ttl: soon", "tasks[0].params.params.ttl: expected seconds, or such as 1h30m"),
        ("knavigator", "id: second", "id: first", "tasks[2].id: expected a name that no other task has, not 'first'"),
        ("kueue", "runtimeMs: 200", "runtimeMs: x", "workloads[0].runtimeMs: expected a whole number from 1 to"),
        ("kueue", "count: 4", "count: 9000000", "asks for 54000000 jobs: more than 10000000"),
        ("kueue", '"500m"', "lots", "workloads[0].request: expected a quantity"),
        ("kueue", "cohorts:\n", "cohorts: 5\nx:\n", "cohorts: expected a list of objects, not 5"),
        ("kueue", "count: 2", "count: {", "not YAML: "),
    ],
)
def test_a_wrong_member_is_named(tmp_path: Path, name: str, old: str, new: str, error: str) -> None:
    path = tmp_path / "scenario"
    path.write_text(TEXTS[name].replace(old, new, 1))
    why = refusal(path, name)
    assert why is not None
    assert why.startswith(f"{path}: ")
    assert error in why
