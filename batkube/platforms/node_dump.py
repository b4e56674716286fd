"""Nodes as ``kubectl get nodes -o yaml`` (or ``json``) writes them."""

from pathlib import Path
from typing import Any

from batkube.batsim.input_file import quote
from batkube.batsim.platform import PlatformError
from batkube.bridge.hosts import speed_of
from batkube.kube.apimachinery.lists import members
from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.kube.codec.yaml_scalars import YamlError
from batkube.kube.codec.yaml_text import documents
from batkube.platforms.machine import Machine

JSON = dict[str, Any]

OF_THE_CLUSTER = (
    "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/network-unavailable",
)  # fmt: skip
"""Taints that a cluster sets by the state of a node."""
_OWN_LABELS = ("kubernetes.io/arch", "kubernetes.io/os", "kubernetes.io/hostname")


def read_dump(path: Path, content: bytes) -> tuple[list[Machine], dict[str, int]]:
    """Return the nodes of a dump, and how many objects of other kinds are left out. Raises PlatformError."""
    machines: list[Machine] = []
    others: dict[str, int] = {}
    try:
        for line, document in documents(content):
            for obj in members(document) if isinstance(document, dict) else ():
                if not isinstance(obj, dict):
                    continue
                if obj.get("kind") != "Node":
                    kind = str(obj.get("kind"))
                    others[kind] = others.get(kind, 0) + 1
                    continue
                try:
                    machines.append(_machine(obj))
                except ValueError as error:
                    name = obj.get("metadata", {}).get("name") if isinstance(obj.get("metadata"), dict) else None
                    raise PlatformError(f"{path}: document at line {line}: node {quote(name)}: {error}") from None
    except YamlError as error:
        raise PlatformError(f"{path}: line {error.line}: {error.why}") from None
    if not machines:
        found = ", ".join(f"{count} of kind {quote(kind)}" for kind, count in others.items())
        raise PlatformError(f"{path}: there is no Node in it{f', but {found}' if found else ''}")
    return machines, others


def _machine(obj: JSON) -> Machine:
    metadata, spec, status = (_mapping(obj, name) for name in ("metadata", "spec", "status"))
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("metadata.name: missing")
    offers = {key: _quantity(key, value) for key, value in _mapping(status, "allocatable").items()}
    offers = offers or {key: _quantity(key, value) for key, value in _mapping(status, "capacity").items()}
    if "cpu" not in offers:
        raise ValueError("status.allocatable.cpu: missing")
    labels = {key: str(value) for key, value in _mapping(metadata, "labels").items() if key not in _OWN_LABELS}
    taints = spec.get("taints") or []
    if not isinstance(taints, list) or not all(isinstance(taint, dict) and taint.get("key") for taint in taints):
        raise ValueError("spec.taints: expected a list of taints with keys")
    kept = [
        {name: taint[name] for name in ("key", "value", "effect") if name in taint}
        for taint in taints
        if taint["key"] not in OF_THE_CLUSTER
    ]
    return Machine(
        name,
        offers.pop("cpu"),
        offers.pop("memory", None),
        offers.pop("pods", None),
        {key: amount for key, amount in offers.items() if "/" in key},
        labels,
        kept,
        spec.get("unschedulable") is True,
        speed_of(obj),
    )


def _mapping(of: JSON, name: str) -> JSON:
    value = of.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"{name}: expected an object, not {quote(value)}")
    return value


def _quantity(name: str, value: object) -> str:
    try:
        return str(Quantity.parse(str(value)))
    except QuantityError:
        raise ValueError(f"{name}: expected a quantity, not {quote(value)}") from None
