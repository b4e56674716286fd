"""Rules that keep a pod away from a node whatever else runs there: cordons, taints, node selector, node affinity.

They are read as kube-scheduler's plugins NodeUnschedulable, TaintToleration and NodeAffinity read them (1.36). A
preference (PreferNoSchedule, preferred affinity) keeps no pod away.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from batkube.results.wait_words import NODE_AFFINITY, TAINTS, UNSCHEDULABLE

JSON = Mapping[str, Any]
_HARD = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node (core/v1)."""

    key: str
    value: str = ""
    effect: str = "NoSchedule"


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration of a pod (core/v1); an empty key with Exists covers all taints, an empty effect all effects."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def covers(self, taint: Taint) -> bool:
        """Tell whether the pod tolerates the taint."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.operator == "Exists":
            return not self.key or self.key == taint.key
        return self.key == taint.key and self.value == taint.value


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement on one label of a node (core/v1 NodeSelectorRequirement)."""

    key: str
    operator: str
    """``In``, ``NotIn``, ``Exists``, ``DoesNotExist``, ``Gt`` or ``Lt``."""
    values: tuple[str, ...] = ()

    def met(self, value: str | None) -> bool:
        """Tell whether a label with this value, or none, meets it."""
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                try:
                    have, bound = int(value or ""), int(self.values[0])
                except (ValueError, IndexError):
                    return False
                return have > bound if self.operator == "Gt" else have < bound
        return False


@dataclass(frozen=True, slots=True)
class Term:
    """Requirements that a node meets together."""

    labels: tuple[Requirement, ...] = ()
    names: tuple[Requirement, ...] = ()
    """``matchFields``: requirements on the node's name."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """The rules of a pod."""

    selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[Term, ...] | None = None
    """The terms of the required node affinity, of which one must hold; None if there is none."""
    tolerations: tuple[Toleration, ...] = ()

    @classmethod
    def of(cls, spec: JSON) -> "Constraints":
        """Read the rules of a pod's ``spec``."""
        selector, affinity, tolerations = spec.get("nodeSelector"), spec.get("affinity"), spec.get("tolerations")
        if not (selector or affinity or tolerations):
            return UNCONSTRAINED
        required = ((affinity or {}).get("nodeAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution")
        return cls(
            tuple(sorted((selector or {}).items())),
            None if required is None else tuple(_term(term) for term in required.get("nodeSelectorTerms") or ()),
            tuple(_toleration(one) for one in tolerations or ()),
        )


UNCONSTRAINED = Constraints()
"""The rules of the many pods that have none."""


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The parts of a node that pods' rules look at."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    """The taints that keep pods away: NoSchedule and NoExecute."""
    unschedulable: bool = False
    """True if it is cordoned."""

    @classmethod
    def of(cls, node: JSON) -> "NodeFacts":
        """Read a Node."""
        metadata, spec = node["metadata"], node.get("spec") or {}
        return cls(
            metadata["name"],
            metadata.get("labels") or {},
            tuple(
                Taint(taint["key"], taint.get("value") or "", taint["effect"])
                for taint in spec.get("taints") or ()
                if taint["effect"] in _HARD
            ),
            bool(spec.get("unschedulable")),
        )


_CORDON = Taint("node.kubernetes.io/unschedulable")


def refusing(constraints: Constraints, node: NodeFacts) -> str | None:
    """Return the plugin of kube-scheduler that keeps the pod away from the node; None if it may go there."""
    tolerations = constraints.tolerations
    if node.unschedulable and not _tolerated(_CORDON, tolerations):
        return UNSCHEDULABLE
    if any(not _tolerated(taint, tolerations) for taint in node.taints if taint.effect in _HARD):
        return TAINTS
    if any(node.labels.get(key) != value for key, value in constraints.selector):
        return NODE_AFFINITY
    if constraints.affinity is not None and not any(_holds(term, node) for term in constraints.affinity):
        return NODE_AFFINITY
    return None


def _tolerated(taint: Taint, tolerations: Sequence[Toleration]) -> bool:
    return any(toleration.covers(taint) for toleration in tolerations)


def _holds(term: Term, node: NodeFacts) -> bool:
    """Tell whether a term holds; an empty one never does."""
    return bool(term.labels or term.names) and (
        all(one.met(node.labels.get(one.key)) for one in term.labels) and all(one.met(node.name) for one in term.names)
    )


def _term(term: JSON) -> Term:
    return Term(
        tuple(_requirement(one) for one in term.get("matchExpressions") or ()),
        tuple(_requirement(one) for one in term.get("matchFields") or ()),
    )


def _requirement(one: JSON) -> Requirement:
    return Requirement(one["key"], one["operator"], tuple(one.get("values") or ()))


def _toleration(one: JSON) -> Toleration:
    return Toleration(
        one.get("key") or "", one.get("operator") or "Equal", one.get("value") or "", one.get("effect") or ""
    )
