"""Network policies (`pkg/apis/networking`): they have no effect here."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Any

from ...apimachinery.addresses import cidr_warnings
from ...apimachinery.label_selectors import validate_label_selector
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import CIDR_WRONG, cidr, port_name, port_number
from ...apimachinery.status import FieldError
from ..published import validate_field
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_POLICY_TYPES = ("Ingress", "Egress")
_PEERS = (("ingress", "from"), ("egress", "to"))


class NetworkPolicies(Strategy):
    """Rules of network policies."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_policy(obj.setdefault("spec", {}))
        super().prepare_create(obj, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_policy(obj["spec"], ())]
        ctx.warnings.extend(() if errors else _warnings(obj["spec"]))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_policy(new.setdefault("spec", {}))
        super().prepare_update(new, old, ctx)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        known = tuple(text for _, texts in _cidrs(old["spec"]) for text in texts)
        errors = [*super().validate_update(new, old, ctx), *_validate_policy(new["spec"], known)]
        ctx.warnings.extend(() if errors else _warnings(new["spec"]))
        return errors


def _cidrs(spec: JSON) -> Iterator[tuple[str, list[str]]]:
    """Yield the lists of CIDRs of all peers, each list with its path."""
    for key, peers in _PEERS:
        for index, rule in enumerate(spec.get(key) or ()):
            for at, peer in enumerate(rule.get(peers) or ()):
                block, path = peer.get("ipBlock") or {}, f"spec.{key}[{index}].{peers}[{at}].ipBlock"
                yield f"{path}.cidr", [block["cidr"]] if block.get("cidr") else []
                for place, text in enumerate(block.get("except") or ()):
                    yield f"{path}.except[{place}]", [text]


def _warnings(spec: JSON) -> list[str]:
    return [text for path, values in _cidrs(spec) for text in cidr_warnings(path, values)]


def _default_policy(spec: JSON) -> None:
    for key in ("ingress", "egress"):
        for rule in spec.get(key) or ():
            for port in rule.get("ports") or ():
                if port.get("protocol") is None:
                    port["protocol"] = "TCP"
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _validate_policy(spec: JSON, known: Sequence[str]) -> Errors:
    """Check the spec. `known` are CIDRs that were there before: they are accepted as they are."""
    errors = validate_label_selector(spec.get("podSelector"), "spec.podSelector")
    for key, peers in _PEERS:
        for index, rule in enumerate(spec.get(key) or ()):
            path = f"spec.{key}[{index}]"
            for at, port in enumerate(rule.get("ports") or ()):
                errors.extend(_validate_port(port, f"{path}.ports[{at}]"))
            for at, peer in enumerate(rule.get(peers) or ()):
                errors.extend(_validate_peer(peer, known, f"{path}.{peers}[{at}]"))
    types = spec.get("policyTypes") or []
    if len(types) > len(_POLICY_TYPES):
        errors.append(FieldError.invalid("spec.policyTypes", types, "may not specify more than two policyTypes"))
        return errors
    for index, kind in enumerate(types):
        if kind not in _POLICY_TYPES:
            errors.append(FieldError.not_supported(f"spec.policyTypes[{index}]", kind, _POLICY_TYPES))
    return errors


def _validate_port(port: JSON, path: str) -> Errors:
    errors: Errors = []
    protocol, number, end = port.get("protocol", ""), port.get("port"), port.get("endPort")
    if protocol not in _PROTOCOLS:
        errors.append(FieldError.not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    if number is None:
        if end is not None:
            why = "may not be specified when `port` is not specified"
            errors.append(FieldError.invalid(f"{path}.endPort", end, why))
        return errors
    if isinstance(number, str):
        if end is not None:
            errors.append(FieldError.invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric"))
        return [*errors, *problems(f"{path}.port", number, port_name(number))]
    errors.extend(problems(f"{path}.port", number, port_number(number)))
    if end is not None:
        if end < number:
            errors.append(FieldError.invalid(f"{path}.endPort", number, "must be greater than or equal to `port`"))
        errors.extend(problems(f"{path}.endPort", end, port_number(end)))
    return errors


def _validate_peer(peer: JSON, known: Sequence[str], path: str) -> Errors:
    errors: Errors = []
    for key in ("podSelector", "namespaceSelector"):
        errors.extend(validate_label_selector(peer.get(key), f"{path}.{key}"))
    block = peer.get("ipBlock")
    if block is not None:
        errors.extend(_validate_block(block, known, f"{path}.ipBlock"))
    others = sum(peer.get(key) is not None for key in ("podSelector", "namespaceSelector"))
    if not others and block is None:
        errors.append(FieldError.required(path, "must specify a peer"))
    elif others and block is not None:
        errors.append(FieldError.forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _validate_block(block: JSON, known: Sequence[str], path: str) -> Errors:
    if errors := validate_field("networking/v1.IPBlock", block, "cidr", path):
        return errors
    whole = block["cidr"]
    errors = _validate_cidr(whole, known, f"{path}.cidr")
    if cidr(whole) == (CIDR_WRONG,):
        return errors
    network = ipaddress.ip_network(whole, strict=False)
    for index, text in enumerate(block.get("except") or ()):
        where = f"{path}.except[{index}]"
        errors.extend(_validate_cidr(text, known, where))
        if cidr(text) == (CIDR_WRONG,):
            continue
        part = ipaddress.ip_network(text, strict=False)
        if part.version != network.version or part == network or not part.subnet_of(network):  # type: ignore[arg-type]
            errors.append(FieldError.invalid(where, text, "must be a strict subset of `cidr`"))
    return errors


def _validate_cidr(text: str, known: Sequence[str], path: str) -> Errors:
    return [] if text in known else problems(path, text, cidr(text))
