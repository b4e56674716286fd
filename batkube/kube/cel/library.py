"""All functions that expressions have, by name: those of Kubernetes 1.36 (`k8s.io/apiserver/pkg/cel/environment`)."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from .declarations import Overload, overloads
from .types import BOOL, BYTES, DOUBLE, DYN, INT, NULL, STRING, UINT, Type

_CONDITIONS = [
    *overloads("_&&_", ["bool, bool: bool"], lambda left, right: left and right),
    *overloads("_||_", ["bool, bool: bool"], lambda left, right: left or right),
    *overloads("_?_:_", ["bool, A, A: A"], lambda test, then, other: then if test else other),
    *overloads("@not_strictly_false", ["bool: bool"], lambda value: value),
]
"""The functions that are evaluated in a way of their own."""
_AUTHORIZER = "kubernetes.authorization"


def _of_authorizer() -> list[Overload]:
    """Declare what policies ask of an authorizer. None is ever evaluated here."""
    authorizer, text = _AUTHORIZER, f"{_AUTHORIZER}, string"
    builders = ("path", "group", "serviceAccount", "resource", "subresource", "namespace", "name", "check")
    more = ("fieldSelector", "labelSelector")
    found = [(name, f"{text}: {authorizer}") for name in (*builders, *more)]
    found += [
        ("serviceAccount", f"{text}, string: {authorizer}"),
        ("error", f"{authorizer}: string"),
        ("reason", f"{authorizer}: string"),
    ]
    found += [("allowed", f"{authorizer}: bool"), ("errored", f"{authorizer}: bool")]
    return [it for name, signature in found for it in overloads(name, [signature], _never, method=True)]


def _never(*arguments: object) -> None:
    raise AssertionError("nobody is asked here")


AUTHORIZER: Type = (_AUTHORIZER,)
TYPES: dict[str, Type] = {
    **{scalar[0]: scalar for scalar in (BOOL, BYTES, DOUBLE, INT, NULL, STRING, UINT)},
    "list": ("list", DYN),
    "map": ("map", DYN, DYN),
    "type": ("type",),
    "optional_type": ("optional_type", DYN),
    "google.protobuf.Timestamp": ("timestamp",),
    "google.protobuf.Duration": ("duration",),
    **{
        name: (name,)
        for name in (
            *("kubernetes.Quantity", "kubernetes.URL", "kubernetes.Semver", "kubernetes.NamedFormat", "net.IP"),
            "net.CIDR",
        )
    },
}
"""The types as values, by their names."""


@lru_cache(maxsize=1)
def functions() -> dict[str, list[Overload]]:
    """Return the overloads of each function. They are loaded here: most servers need none."""
    from . import conversions, kubernetes, lists, operators, strings, times

    found: dict[str, list[Overload]] = defaultdict(list)
    for module in (operators, times, conversions, strings, lists, kubernetes):
        for overload in module.OVERLOADS:
            found[overload.name].append(overload)
    for overload in (*_CONDITIONS, *_of_authorizer()):
        found[overload.name].append(overload)
    return dict(found)
