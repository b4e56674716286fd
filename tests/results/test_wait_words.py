"""Messages of schedulers, understood."""

import pytest

from batkube.results.wait_words import Kind, parse


def test_a_message_of_kube_scheduler_1_34() -> None:
    words = parse(
        "0/15 nodes are available: 12 Insufficient cpu, 3 node(s) had untolerated taint "
        "{node.kubernetes.io/unreachable: }. preemption: 0/15 nodes are available: 12 No preemption victims found for "
        "incoming pod, 3 Preemption is not helpful for scheduling."
    )
    assert words.nodes == 15
    assert [(one.nodes, one.plugin, one.kind) for one in words.refusals] == [
        (12, "NodeResourcesFit", Kind.CAPACITY),
        (3, "TaintToleration", Kind.CONSTRAINT),
    ]
    assert words.refusals[1].phrase == "node(s) had untolerated taint {node.kubernetes.io/unreachable: }"
    assert words.preemption.startswith("preemption: 0/15")
    assert words.constraint is None


def test_a_message_of_kube_scheduler_1_36() -> None:
    words = parse(
        "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 Too many pods, 1 node(s) had untolerated taint(s). "
        "no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )
    assert [one.plugin for one in words.refusals] == ["NodeResourcesFit", "NodeResourcesFit", "TaintToleration"]
    assert words.preemption.startswith("no new claims to deallocate, ")


@pytest.mark.parametrize(
    ("phrase", "plugin"),
    [
        ("node(s) were unschedulable", "NodeUnschedulable"),
        ("node(s) didn't match the requested node name", "NodeName"),
        ("node(s) didn't match Pod's node affinity/selector", "NodeAffinity"),
        ("node(s) didn't match scheduler-enforced node affinity", "NodeAffinity"),
        ("node(s) didn't have free ports for the requested pod ports", "NodePorts"),
        ("node(s) had no available disk", "VolumeRestrictions"),
        ("node(s) exceed max volume count", "NodeVolumeLimits"),
        ("node(s) didn't find available persistent volumes to bind", "VolumeBinding"),
        ("node(s) didn't match PersistentVolume's node affinity", "VolumeBinding"),
        ("node(s) had no available volume zone", "VolumeZone"),
        ("node(s) didn't match pod topology spread constraints", "PodTopologySpread"),
        ("node(s) didn't match pod topology spread constraints (missing required label)", "PodTopologySpread"),
        ("node(s) didn't match pod affinity rules", "InterPodAffinity"),
        ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity"),
        ("node(s) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"),
        ("cannot allocate all claims", "DynamicResources"),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity]", "NodeAffinity"),
        ("node(s) didn't match Pod's required features", "NodeDeclaredFeatures"),
    ],
)
def test_the_rules_of_the_plugins(phrase: str, plugin: str) -> None:
    constraint = parse(f"0/4 nodes are available: 4 {phrase}.").constraint
    assert constraint is not None
    assert (constraint.nodes, constraint.phrase, constraint.plugin) == (4, phrase, plugin)


def test_the_rule_of_a_prefilter_stands_for_all_nodes() -> None:
    words = parse(
        "0/5 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: 0/5 nodes are "
        "available: 5 Preemption is not helpful for scheduling."
    )
    constraint = words.constraint
    assert constraint is not None
    assert (constraint.nodes, constraint.plugin) == (5, "VolumeBinding")


def test_the_rule_that_depends_on_other_pods_goes_before_one_on_the_node_alone() -> None:
    constraint = parse(
        "0/9 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 Insufficient cpu, "
        "5 node(s) didn't match Pod's node affinity/selector."
    ).constraint
    assert constraint is not None
    assert constraint.plugin == "InterPodAffinity"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("0/2 nodes are available.", Kind.CAPACITY),
        ("1/2 nodes are available, 2 wanted at once.", Kind.CAPACITY),
        ("the host is taken", Kind.CAPACITY),
        ("waiting for minCount pods from a gang to appear in scheduling queue", Kind.GANG),
        ("rejected due to timeout after waiting 10m0s at plugin Coscheduling", Kind.GANG),
        ("Scheduling is blocked due to non-empty scheduling gates", Kind.GATE),
        ("exceeded quota: team-a", Kind.GATE),
        ("not today", Kind.OTHER),
    ],
)
def test_words_of_others(message: str, kind: Kind) -> None:
    words = parse(message)
    assert [one.kind for one in words.refusals] == [kind]
    assert words.constraint is None


def test_no_words() -> None:
    assert parse("").refusals == ()
