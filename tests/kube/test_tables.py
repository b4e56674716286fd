"""Tables: columns, cells and ages as kubectl users know them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.jsonpath import JSONPathError, find
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.codec.empty_objects import empty_fields
from batkube.kube.codec.tables import column_definitions, table, table_form
from batkube.kube.codec.tables.ages import human_duration
from batkube.kube.schema.resources import ResourceType, default_registry

from .conftest import EPOCH

REGISTRY = default_registry()
BORN = "2026-01-01T00:00:00Z"


def cells(resource: str, obj: dict[str, Any], age_seconds: float = 90) -> dict[str, Any]:
    """The cells of an object by the names of their columns."""
    kind = REGISTRY.named(resource)
    metadata = {"name": "x", "creationTimestamp": BORN, **obj.pop("metadata", {})}
    content = table(
        kind, [{"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata, **obj}], EPOCH + age_seconds
    )
    names = [column["name"] for column in content["columnDefinitions"]]
    return dict(zip(names, content["rows"][0]["cells"], strict=True))


def pod(status: dict[str, Any], containers: int = 1, **spec: Any) -> dict[str, Any]:
    named = [{"name": f"c{index}", "image": "img"} for index in range(containers)]
    return cells("pods", {"spec": {"containers": named, **spec}, "status": status})


def state(name: str, ready: bool = False, restarts: int = 0, last: str = "", **state: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": name, "ready": ready, "restartCount": restarts, "state": state}
    if last:
        found["lastState"] = {"terminated": {"exitCode": 1, "finishedAt": last}}
    return found


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (-1.5, "0s"),
        (0, "0s"),
        (119.9, "119s"),
        (120, "2m"),
        (330, "5m30s"),
        (600, "10m"),
        (10_799, "179m"),
        (10_800, "3h"),
        (12_000, "3h20m"),
        (28_800, "8h"),
        (172_800, "2d"),
        (190_800, "2d5h"),
        (691_200, "8d"),
        (63_072_000, "2y"),
        (63_072_000 + 86_400 * 3, "2y3d"),
        (252_288_000, "8y"),
    ],
)
def test_durations_in_words(seconds: float, text: str) -> None:
    assert human_duration(seconds) == text


def test_ages_are_counted_in_simulated_time() -> None:
    assert cells("configmaps", {"data": {"a": "1", "b": "2"}}, 3 * 86_400) == {"Name": "x", "Data": 2, "Age": "3d"}


def test_a_running_pod_and_its_restarts() -> None:
    running = state("c0", True, 2, last="2026-01-01T00:01:00Z", running={"startedAt": BORN})
    shown = pod({"phase": "Running", "containerStatuses": [running], "podIPs": [{"ip": "10.0.0.7"}]}, nodeName="n1")
    assert shown["Ready"] == "1/1"
    assert shown["Status"] == "Running"
    assert shown["Restarts"] == "2 (30s ago)"
    assert (shown["IP"], shown["Node"], shown["Nominated Node"]) == ("10.0.0.7", "n1", "<none>")


def test_the_word_for_a_pods_state() -> None:
    ended: dict[str, Any] = {"terminated": {"exitCode": 137, "signal": 9}}
    completed: dict[str, Any] = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    assert pod({"phase": "Failed", "reason": "DeadlineExceeded"})["Status"] == "DeadlineExceeded"
    assert pod({"phase": "Failed", "containerStatuses": [state("c0", **ended)]})["Status"] == "Signal:9"
    assert pod({"phase": "Succeeded", "containerStatuses": [state("c0", **completed)]})["Status"] == "Completed"
    gated = {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}
    assert pod(gated)["Status"] == "SchedulingGated"
    deleted = {"metadata": {"deletionTimestamp": BORN}, "spec": {}, "status": {"phase": "Running"}}
    assert cells("pods", deleted)["Status"] == "Terminating"


def test_a_pod_with_a_ready_container_beside_a_completed_one_runs() -> None:
    completed: dict[str, Any] = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    statuses = [state("c0", **completed), state("c1", True, running={})]
    ready = [{"type": "Ready", "status": "True"}]
    assert pod({"phase": "Running", "containerStatuses": statuses, "conditions": ready}, 2)["Status"] == "Running"
    assert pod({"phase": "Running", "containerStatuses": statuses}, 2)["Status"] == "NotReady"


def test_init_containers_and_sidecars() -> None:
    init = [{"name": "side", "restartPolicy": "Always"}, {"name": "init"}]
    side = state("side", True, 1, running={}) | {"started": True}
    shown = pod({"phase": "Pending", "initContainerStatuses": [side, state("init")]}, initContainers=init)
    assert (shown["Ready"], shown["Status"], shown["Restarts"]) == ("1/2", "Init:1/2", "1")


def test_a_finished_pod_has_a_condition_in_its_row() -> None:
    kind = REGISTRY.named("pods")
    obj = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x"}, "spec": {}, "status": {"phase": "Succeeded"}}
    row = table(kind, [obj], EPOCH)["rows"][0]
    assert row["conditions"][0]["reason"] == "Succeeded"
    assert row["cells"][4] == "<unknown>"


def test_nodes() -> None:
    labels = {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "gpu"}
    status = {
        "conditions": [{"type": "Ready", "status": "False"}],
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        "nodeInfo": {"kubeletVersion": "v1.36.3", "kernelVersion": "6.1", "architecture": "amd64"},
    }
    shown = cells("nodes", {"metadata": {"labels": labels}, "spec": {"unschedulable": True}, "status": status})
    assert shown["Status"] == "NotReady,SchedulingDisabled"
    assert shown["Roles"] == "gpu,worker"
    assert (shown["Internal-IP"], shown["External-IP"]) == ("10.0.0.1", "<none>")
    assert shown["Kernel-Version"] == "6.1 (amd64)"


def test_jobs() -> None:
    template = {"spec": {"containers": [{"name": "a", "image": "i"}, {"name": "b", "image": "j"}]}}
    spec = {"completions": 3, "template": template, "selector": {"matchLabels": {"job": "x"}}}
    done = [{"type": "Complete", "status": "True"}]
    status = {"succeeded": 3, "startTime": BORN, "completionTime": "2026-01-01T00:01:00Z", "conditions": done}
    shown = cells("jobs", {"spec": spec, "status": status})
    assert list(shown.values()) == ["x", "Complete", "3/3", "60s", "90s", "a,b", "i,j", "job=x"]
    running = cells("jobs", {"spec": {"parallelism": 4, "suspend": False}, "status": {"startTime": BORN}})
    assert (running["Status"], running["Completions"], running["Duration"]) == ("Running", "0/1 of 4", "90s")


def test_events_of_both_groups_have_the_same_cells() -> None:
    event = {
        "involvedObject": {"kind": "Pod", "name": "p"},
        "eventTime": "2026-01-01T00:00:30.000000Z",
        "reportingComponent": "default-scheduler",
        "reportingInstance": "host",
        "type": "Normal",
        "reason": "Scheduled",
        "message": "assigned\n",
    }
    shown = cells("events", dict(event))
    assert shown["Last Seen"] == "60s"
    assert shown["Object"] == "pod/p"
    assert shown["Source"] == "default-scheduler, host"
    assert (shown["Message"], shown["Count"]) == ("assigned", 1)


def test_every_built_in_kind_has_cells_for_its_columns() -> None:
    for resource in REGISTRY:
        if not resource.storable or resource.kind == "IPAddress":  # printers.go has one cell more than columns there
            continue
        metadata = {"name": "x", "creationTimestamp": BORN}
        obj = {
            "kind": resource.kind,
            "apiVersion": resource.api_version,
            "metadata": metadata,
            **empty_fields(resource),
        }
        content = table(resource, [obj], EPOCH)
        assert len(content["rows"][0]["cells"]) == len(content["columnDefinitions"]), resource


def test_kinds_without_columns_show_name_and_time() -> None:
    names = [column["name"] for column in column_definitions(REGISTRY.named("limitranges"))]
    assert names == ["Name", "Created At"]
    assert cells("limitranges", {}) == {"Name": "x", "Created At": BORN}


def test_what_rows_say_of_their_objects() -> None:
    kind = REGISTRY.named("configmaps")
    obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"a": "1"}}
    assert table(kind, [obj], EPOCH, "None")["rows"][0]["object"] is None
    assert table(kind, [obj], EPOCH, "Object")["rows"][0]["object"]["data"] == {"a": "1"}
    assert table(kind, [obj], EPOCH)["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    with pytest.raises(ApiError, match="includeObject"):
        table_form(kind, "v1", "Some", lambda: EPOCH)


def test_columns_of_custom_resources() -> None:
    columns = (
        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
        {"name": "Members", "type": "integer", "jsonPath": ".spec.members", "priority": 1},
        {"name": "Ready", "type": "string", "jsonPath": '.status.conditions[?(@.type=="Ready")].status'},
        {"name": "Since", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    )
    kind = ResourceType(
        group="example.com",
        version="v1",
        plural="groups",
        singular="group",
        kind="Group",
        namespaced=True,
        verbs=("get", "list"),
        storage="groups.example.com",
        printer_columns=columns,
        custom=True,
    )
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    obj = {"metadata": {"name": "g", "creationTimestamp": BORN}, "spec": {"members": 3.0}, "status": status}
    obj |= {"kind": "Group", "apiVersion": "example.com/v1"}
    content = table(kind, [obj], EPOCH + 60)
    assert [column["priority"] for column in content["columnDefinitions"]] == [0, 0, 1, 0, 0]
    assert content["rows"][0]["cells"] == ["g", "Running", 3, "True", "60s"]


def test_json_paths() -> None:
    obj = {"a": {"b.c": [1, {"d": "x"}]}, "list": [{"k": "v", "n": 2}, {"k": "w", "n": 3}]}
    assert find(r".a.b\.c[0]", obj) == [1]
    assert find(r".a['b\.c'][1].d", obj) == ["x"]
    assert find(".a['b.c'][1].d", obj) == []  # what kubectl takes for the key c in b
    assert find(".list[0,1].n", obj) == find("..n", obj) == [2, 3]
    assert find(".list[?(@.n>2)].k", obj) == find(".list[1:].k", obj) == ["w"]
    assert find(".list[?(@.k)].n", obj) == [2, 3]
    assert find(".list[*].n", obj) == [2, 3]
    assert find(".list[-1].k", obj) == ["w"]
    assert find(".list[?(@.k=='w')].n", obj) == [3]
    assert find(".missing.path", obj) == []
    with pytest.raises(JSONPathError, match="unterminated array"):
        find(".a[", obj)
    with pytest.raises(JSONPathError, match="out of bounds"):
        find(".list[2]", obj)


def test_paths_behind_a_path_are_looked_at_however_many_they_are() -> None:
    assert find(".a" + "}{.b" * 5_000, {"a": 1}) == [1]
    with pytest.raises(JSONPathError):
        find(".a" + "}{.b" * 5_000 + "}{#", {"a": 1})


async def test_a_scale_has_a_table_of_its_own(client: httpx.AsyncClient) -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    made = await client.post(deployments, json={"metadata": {"name": "web"}, "spec": spec})
    assert made.status_code == 201
    asked = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    content = (await client.get(f"{deployments}/web/scale", headers=asked)).json()
    assert [column["name"] for column in content["columnDefinitions"]] == ["Name", "Desired", "Available", "Age"]
    assert content["metadata"] == {"resourceVersion": made.json()["metadata"]["resourceVersion"]}
    (row,) = content["rows"]
    assert row["cells"][:3] == ["web", 3, 0]
    assert (row["object"]["kind"], row["object"]["metadata"]["name"]) == ("PartialObjectMetadata", "web")
