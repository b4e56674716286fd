"""The cluster as a policy sees it, by what a watch tells."""

from batkube.schedulers.policies import Cluster, Plan, first_fit
from tests.schedulers.manifests import JSON, node, pod


def cluster(*nodes: JSON) -> Cluster:
    made = Cluster(["mine"])
    for each in nodes:
        made.node_event("ADDED", each)
    return made


def test_amounts_are_whole_numbers_as_kube_scheduler_counts_them() -> None:
    seen = cluster(node("a", cpu="1500m"))
    seen.pod_event("ADDED", pod("p", cpu="0.1", requests={"memory": "1.5Ki", "nvidia.com/gpu": "1"}))
    (waiting,) = seen.pending.values()
    assert waiting.requests == {"cpu": 100, "memory": 1536, "nvidia.com/gpu": 1, "pods": 1}
    assert seen.nodes["a"].allocatable == {"cpu": 1500, "memory": 4 << 30, "pods": 10}


def test_init_containers_and_overhead_count() -> None:
    seen = cluster()
    manifest = pod("p", cpu="1")
    manifest["spec"]["containers"].append({"resources": {"requests": {"cpu": "2"}}})
    manifest["spec"]["initContainers"] = [{"resources": {"requests": {"cpu": "5"}}}, {}]
    manifest["spec"]["overhead"] = {"cpu": "250m"}
    seen.pod_event("ADDED", manifest)
    assert seen.pending["p"].requests == {"cpu": 5250, "pods": 1}


def test_what_waits_is_bound_and_ends() -> None:
    seen = cluster(node("b"), node("a"))
    assert list(seen.nodes) == ["a", "b"]
    seen.pod_event("ADDED", pod("p", cpu="2"))
    seen.pod_event("ADDED", pod("q"))
    assert list(seen.pending) == ["p", "q"]
    seen.now = 5.0
    seen.assume(seen.pending["p"], "a")
    assert list(seen.pending) == ["q"]
    assert seen.nodes["a"].free("cpu") == 0
    assert [one.name for one in seen.candidates(seen.pending["q"])] == ["b"]
    # The watch tells of it later, and of the time before.
    assert not seen.pod_event("MODIFIED", pod("p", cpu="2"))
    assert not seen.pod_event("MODIFIED", pod("p", cpu="2", spec={"nodeName": "a"}))
    assert (seen.bound["p"].node, seen.bound["p"].bound, seen.bound["p"].started) == ("a", 5.0, None)
    seen.now = 7.0
    assert not seen.pod_event("MODIFIED", pod("p", cpu="2", spec={"nodeName": "a"}, phase="Running"))
    assert seen.bound["p"].started == 7.0
    assert seen.pod_event("MODIFIED", pod("p", cpu="2", spec={"nodeName": "a"}, phase="Failed"))
    assert not seen.bound
    assert seen.nodes["a"].free("cpu") == 2000
    assert [one.name for one in seen.candidates(seen.pending["q"])] == ["a", "b"]


def test_pods_outlive_their_node_and_are_found_on_it_again() -> None:
    seen = cluster(node("a"))
    seen.pod_event("ADDED", pod("p", spec={"nodeName": "a"}))
    seen.node_event("DELETED", node("a"))
    assert not seen.nodes
    seen.node_event("ADDED", node("a"))
    assert seen.nodes["a"].free("cpu") == 1000
    seen.pod_event("DELETED", pod("p", spec={"nodeName": "a"}))
    assert seen.nodes["a"].free("cpu") == 2000


def test_a_gated_pod_does_not_wait_yet() -> None:
    seen = cluster()
    seen.pod_event("ADDED", pod("p", spec={"schedulingGates": [{"name": "g"}]}))
    assert not seen.pending
    seen.pod_event("MODIFIED", pod("p"))
    assert list(seen.pending) == ["p"]


def test_a_resized_pod_takes_what_it_asks_for_now() -> None:
    seen = cluster(node("a"))
    seen.pod_event("ADDED", pod("p", cpu="1", spec={"nodeName": "a"}))
    assert seen.pod_event("MODIFIED", pod("p", cpu="2", spec={"nodeName": "a"}))
    assert seen.nodes["a"].free("cpu") == 0
    assert [one.name for one in seen.candidates(seen.bound["p"])] == []


def test_walltimes_come_from_the_annotation_or_the_deadline() -> None:
    seen = cluster(node("a"))
    seen.pod_event("ADDED", pod("p", annotations={"batkube.io/walltime": "10.5"}, spec={"activeDeadlineSeconds": 10}))
    seen.pod_event("ADDED", pod("q", spec={"activeDeadlineSeconds": 10}))
    seen.pod_event("ADDED", pod("r"))
    assert [one.walltime for one in seen.pending.values()] == [10.5, 10.0, None]
    assert [one.expected_end(100.0) for one in seen.pending.values()] == [110.5, 110.0, None]


def test_a_plan_leaves_the_cluster_as_it_is() -> None:
    seen = cluster(node("a"))
    seen.pod_event("ADDED", pod("p", cpu="2", spec={"nodeName": "a"}))
    seen.pod_event("ADDED", pod("q", cpu="2"))
    waiting = [seen.pending["q"]]
    assert first_fit(seen, waiting) is None
    plan = Plan(seen)
    plan.end([seen.bound["p"]])
    later = plan.copy()
    assert [(one.name, where.name) for one, where in plan.first_fit(waiting) or ()] == [("q", "a")]
    assert plan.first_fit(waiting) is None
    assert later.first_fit(waiting) is not None
    assert first_fit(seen, waiting) is None
