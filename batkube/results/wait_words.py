"""The words of schedulers on a pod that they could not place: which of kube-scheduler's plugins refused how many nodes.

kube-scheduler's message is ``FitError.Error`` (k8s.io/kubernetes, pkg/scheduler/framework/types.go): the number of
nodes, then either what a PreFilter plugin said of the pod, or how often each reason was given for a node, then what
became of preemption. The reasons are those of 1.34 and 1.36, as the plugins' sources have them.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

UNSCHEDULABLE, NODE_NAME, TAINTS, NODE_AFFINITY = "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity"
NODE_PORTS, RESOURCES = "NodePorts", "NodeResourcesFit"
VOLUME_RESTRICTIONS, VOLUME_LIMITS = "VolumeRestrictions", "NodeVolumeLimits"
VOLUME_BINDING, VOLUME_ZONE = "VolumeBinding", "VolumeZone"
SPREAD, POD_AFFINITY = "PodTopologySpread", "InterPodAffinity"
DEVICES, FEATURES, GANGS, GATES = "DynamicResources", "NodeDeclaredFeatures", "GangScheduling", "SchedulingGates"

FILTERS = (
    UNSCHEDULABLE, NODE_NAME, TAINTS, NODE_AFFINITY, NODE_PORTS, RESOURCES, VOLUME_RESTRICTIONS, VOLUME_LIMITS,
    VOLUME_BINDING, VOLUME_ZONE, SPREAD, POD_AFFINITY, DEVICES, FEATURES,
)  # fmt: skip
"""The filters in the order in which kube-scheduler asks them by default: the first that refuses a node gives the
reason for it (apis/config/v1/default_plugins.go)."""
OF_THE_POD_ALONE = (UNSCHEDULABLE, NODE_NAME, TAINTS, NODE_AFFINITY)
"""The filters whose answer depends on the pod and the node, and not on other pods."""


class Kind(Enum):
    """A sort of reason."""

    CAPACITY = "capacity"
    """The node has too little left."""
    CONSTRAINT = "constraint"
    """The node has room, or would have, and a rule keeps the pod away from it."""
    GANG = "gang"
    """Other pods of the group have no place, or are not there."""
    GATE = "gate"
    """The pod is not to be scheduled yet."""
    OTHER = "other"
    """Words that are not known."""


PHRASES = {
    UNSCHEDULABLE: "node(s) were unschedulable",
    NODE_NAME: "node(s) didn't match the requested node name",
    TAINTS: "node(s) had untolerated taint(s)",
    NODE_AFFINITY: "node(s) didn't match Pod's node affinity/selector",
}
"""kube-scheduler's words for what batkube finds out by itself (1.36)."""

_KNOWN: tuple[tuple[str, str, Kind], ...] = (
    (r"Insufficient .+", RESOURCES, Kind.CAPACITY),
    (r"Too many pods", RESOURCES, Kind.CAPACITY),
    (r"node\(s\) were unschedulable|node\(s\) had unknown conditions", UNSCHEDULABLE, Kind.CONSTRAINT),
    (r"node\(s\) didn't match the requested node name", NODE_NAME, Kind.CONSTRAINT),
    (r"node\(s\) had untolerated taint.*|node\(s\) had taints? .*didn't tolerate", TAINTS, Kind.CONSTRAINT),
    (r"node\(s\) didn't match Pod's node affinity.*", NODE_AFFINITY, Kind.CONSTRAINT),
    (r"node\(s\) didn't match scheduler-enforced node affinity", NODE_AFFINITY, Kind.CONSTRAINT),
    (r"pod affinity terms conflict", NODE_AFFINITY, Kind.CONSTRAINT),
    (r"node\(s\) didn't have free ports for the requested pod ports", NODE_PORTS, Kind.CONSTRAINT),
    (r"node\(s\) had no available disk", VOLUME_RESTRICTIONS, Kind.CONSTRAINT),
    (r"node\(s\) unavailable due to PersistentVolumeClaim with ReadWriteOncePod.*", VOLUME_RESTRICTIONS,
     Kind.CONSTRAINT),
    (r"node\(s\) exceed max volume count|\S+ CSI driver is not installed on the node", VOLUME_LIMITS, Kind.CONSTRAINT),
    (r"node\(s\) didn't find available persistent volumes to bind", VOLUME_BINDING, Kind.CONSTRAINT),
    (r"node\(s\) (didn't match PersistentVolume's|had volume) node affinity.*", VOLUME_BINDING, Kind.CONSTRAINT),
    (r"node\(s\) did not have enough free storage", VOLUME_BINDING, Kind.CONSTRAINT),
    (r"node\(s\) unavailable due to one or more pvc\(s\).*", VOLUME_BINDING, Kind.CONSTRAINT),
    (r"pod has unbound immediate PersistentVolumeClaims.*", VOLUME_BINDING, Kind.CONSTRAINT),
    (r"(waiting for ephemeral volume controller to create the )?persistentvolumeclaim .*", VOLUME_BINDING,
     Kind.CONSTRAINT),
    (r"node\(s\) had no available volume zone|PersistentVolume(Claim)? had no .*|VolumeBindingMode not set .*",
     VOLUME_ZONE, Kind.CONSTRAINT),
    (r"node\(s\) didn't match pod topology spread constraints.*", SPREAD, Kind.CONSTRAINT),
    (r"node\(s\) didn't (match pod (anti-)?affinity.*|satisfy existing pods anti-affinity rules)", POD_AFFINITY,
     Kind.CONSTRAINT),
    (r"node\(s\) didn't match Pod's required features", FEATURES, Kind.CONSTRAINT),
    (r"cannot allocate all claims|resourceclaim .*|resource claim .*|request .*device class .* does not exist",
     DEVICES, Kind.CONSTRAINT),
    (r"cannot schedule extended resource claim|cannot fit resource|asked by caller to stop allocating devices.*",
     DEVICES, Kind.CONSTRAINT),
    (r"waiting for (pods?'?s? )?pod group .*|waiting for minCount pods .*|pod group is .*", GANGS, Kind.GANG),
    (r"(pod .*)?rejected due to timeout after waiting .* at plugin .*|.*minMember.*|.*gang .*", GANGS, Kind.GANG),
    (r"waiting for scheduling gates.*|Scheduling is blocked due to non-empty scheduling gates", GATES, Kind.GATE),
    (r".*\b[Qq]uota\b.*|.*\b[Ss]uspended\b.*", GATES, Kind.GATE),
    (r"the host is taken|node \".*\" (is in use|has not enough).*", RESOURCES, Kind.CAPACITY),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), plugin, kind) for pattern, plugin, kind in _KNOWN)
_PLUGIN_NAMED = re.compile(r"node\(s\) didn't satisfy plugin(?:\(s\))? \[?(\w+)")
_AVAILABLE = re.compile(r"\d+/(\d+) nodes are available(?:, \d+ wanted at once)?[.:]? ?")
_COUNTED = re.compile(r"(\d+) (.+?)(?:, (?=\d+ )|$)")
_END = re.compile(r"\.(?: |$)")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason that was given for some of the nodes."""

    nodes: int
    """The number of nodes; all of them if the pod itself was the reason."""
    phrase: str
    plugin: str
    """The plugin of kube-scheduler that gives it; empty if it is not known."""
    kind: Kind


@dataclass(frozen=True, slots=True)
class Words:
    """A scheduler's message on a pod that it could not place, understood."""

    message: str
    nodes: int = 0
    """The number of nodes that it knew."""
    refusals: tuple[Refusal, ...] = ()
    preemption: str = ""
    """The end of the message, on preemption."""

    def has(self, kind: Kind) -> bool:
        """Tell whether one of its reasons is of this kind."""
        return any(refusal.kind is kind for refusal in self.refusals)

    @property
    def constraint(self) -> Refusal | None:
        """The rule that kept the pod away from nodes with room for it; None if capacity alone may have done so.

        That is the one named for most nodes of those that depend on other pods, volumes, ports or devices. A rule on
        the node alone (selector, taint) counts only where no node lacked capacity: who knows the nodes knows those.
        """
        rules = [refusal for refusal in self.refusals if refusal.kind is Kind.CONSTRAINT]
        among_pods = [refusal for refusal in rules if refusal.plugin not in OF_THE_POD_ALONE]
        if not among_pods and self.has(Kind.CAPACITY):
            return None
        return max(among_pods or rules, key=lambda refusal: (refusal.nodes, -_rank(refusal.plugin)), default=None)


def _rank(plugin: str) -> int:
    return FILTERS.index(plugin) if plugin in FILTERS else len(FILTERS)


@lru_cache(4096)
def parse(message: str) -> Words:
    """Understand the message of an event FailedScheduling, or of the condition PodScheduled."""
    text = message.strip()
    head = _AVAILABLE.match(text)
    if head is None:
        return Words(message, refusals=(_refusal(0, text.rstrip(".")),) if text else ())
    nodes = int(head.group(1))
    rest = text[head.end() :]
    end = _END.search(rest)
    said, preemption = (rest[: end.start()], rest[end.end() :]) if end else (rest, "")
    if not said:  # one of batkube's policies: so many nodes would take it
        return Words(message, nodes, (Refusal(nodes, "", RESOURCES, Kind.CAPACITY),))
    if not said[0].isdigit():
        return Words(message, nodes, (_refusal(nodes, said),), preemption)
    counted = tuple(_refusal(int(count), phrase) for count, phrase in _COUNTED.findall(said))
    return Words(message, nodes, counted, preemption)


def _refusal(nodes: int, phrase: str) -> Refusal:
    for pattern, plugin, kind in _PATTERNS:
        if pattern.fullmatch(phrase):
            return Refusal(nodes, phrase, plugin, kind)
    if named := _PLUGIN_NAMED.match(phrase):
        kind = Kind.CAPACITY if named.group(1) == RESOURCES else Kind.CONSTRAINT
        return Refusal(nodes, phrase, named.group(1), kind)
    return Refusal(nodes, phrase, "", Kind.OTHER)
