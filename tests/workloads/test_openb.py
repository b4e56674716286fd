"""Pods of Alibaba's openb trace."""

from pathlib import Path

import pytest

from batkube.batsim.workload import WorkloadError
from batkube.workloads.formats import reader_for
from batkube.workloads.source import Source
from tests.workloads.reading import records_of, workload_of

HEADER = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A pod of each kind."""
    path = tmp_path / "pods.csv"
    path.write_text(
        f"{HEADER}share,1500,2048,1,460,,LS,Running,10,110,12\nwhole,8000,1024,2,1000,V100M16|V100M32,BE,Failed,20,25,20\n"
        "plain,500,1024,0,0,,LS,Running,30,31,30\nwaits,500,1024,0,0,,LS,Pending,40,50,\nshort,500,1024,0,0,,LS,Failed,41,50,50\n"
    )
    return path


def test_pods_run_as_long_as_they_did(trace: Path) -> None:
    records = records_of(trace)
    assert [(record.id, record.submit, record.duration) for record in records] == [
        ("share", 10, 98),
        ("whole", 20, 5),
        ("plain", 30, 1),
    ]
    workload_of(trace)
    source = Source(trace)
    assert len(list(reader_for(source).records(source))) == 3
    assert source.skipped == {
        "were never scheduled or deleted, so that nobody knows how long they run": 1,
        "ended when they were scheduled, or before": 1,
    }


def test_gpus_are_shared_as_in_the_trace(trace: Path) -> None:
    share, whole, plain = (record.wants for record in records_of(trace))
    asked = {"alibabacloud.com/gpu-milli": "460"}
    assert {name: share[name] for name in ("cpu", "memory")} == {"cpu": "1500m", "memory": "2Gi"}
    assert "gpu" not in share
    assert share["pod"]["spec"]["containers"] == [{"name": "job", "resources": {"requests": asked, "limits": asked}}]
    assert share["pod"]["metadata"]["annotations"] == {"alibabacloud.com/gpu-count": "1", **asked}
    assert whole["gpu"] == "2"
    assert whole["pod"]["spec"]["containers"][0]["resources"]["requests"] == {"alibabacloud.com/gpu-milli": "2000"}
    (term,) = whole["pod"]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
        "nodeSelectorTerms"
    ]
    assert term["matchExpressions"][0]["values"] == ["V100M16", "V100M32"]
    assert plain["pod"] == {"metadata": {"labels": {"alibabacloud.com/qos": "LS"}}}


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ("a,x,1,0,0,,LS,Running,0,1,0", "line 2: cpu_milli: expected a whole number from 0 to 1000000000000, not 'x'"),
        ("a,1,1,0,0,,LS,Running,soon,1,0", "line 2: creation_time: expected a number, not 'soon'"),
        ("a!b,1,1,0,0,,LS,Running,0,1,0", "line 2: name: expected a name that no other pod has, not 'a!b'"),
        ("a,1,1,0", "line 2: expected 11 fields, found 4"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, row: str, error: str) -> None:
    path = tmp_path / "pods.csv"
    path.write_text(f"{HEADER}{row}\n")
    with pytest.raises(WorkloadError) as raised:
        records_of(path)
    assert str(raised.value) == f"{path}: {error}"


def test_a_list_without_times_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\na,1,1,0,0\n")
    with pytest.raises(WorkloadError, match="line 1: the column creation_time is missing"):
        records_of(path)
