"""Network policies and ingresses (`pkg/apis/networking`): none has an effect here."""

from __future__ import annotations

import ipaddress
from typing import Any

from ..label_selectors import validate_label_selector
from ..metadata import Errors, immutable, problems
from ..names import cidr, dns_subdomain, domain_prefixed_path, port_name, port_number
from ..status import FieldError
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_POLICY_TYPES = ("Ingress", "Egress")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")


class NetworkPolicies(Strategy):
    """Rules of network policies."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_policy(obj.setdefault("spec", {}))
        super().prepare_create(obj, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_policy(obj["spec"])]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_policy(new.setdefault("spec", {}))
        super().prepare_update(new, old, ctx)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_update(new, old, ctx), *_validate_policy(new["spec"])]


def _default_policy(spec: JSON) -> None:
    for key in ("ingress", "egress"):
        for rule in spec.get(key) or ():
            for port in rule.get("ports") or ():
                port["protocol"] = port.get("protocol") or "TCP"
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _validate_policy(spec: JSON) -> Errors:
    errors = validate_label_selector(spec.get("podSelector"), "spec.podSelector")
    for key, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(key) or ()):
            path = f"spec.{key}[{index}]"
            for at, port in enumerate(rule.get("ports") or ()):
                errors.extend(_validate_port(port, f"{path}.ports[{at}]"))
            for at, peer in enumerate(rule.get(peers) or ()):
                errors.extend(_validate_peer(peer, f"{path}.{peers}[{at}]"))
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
            errors.append(FieldError.invalid(f"{path}.endPort", end, "must be greater than or equal to `port`"))
        errors.extend(problems(f"{path}.endPort", end, port_number(end)))
    return errors


def _validate_peer(peer: JSON, path: str) -> Errors:
    errors: Errors = []
    for key in ("podSelector", "namespaceSelector"):
        errors.extend(validate_label_selector(peer.get(key), f"{path}.{key}"))
    block = peer.get("ipBlock")
    if block is not None:
        errors.extend(_validate_block(block, f"{path}.ipBlock"))
    others = sum(peer.get(key) is not None for key in ("podSelector", "namespaceSelector"))
    if not others and block is None:
        errors.append(FieldError.required(path, "must specify a peer"))
    elif others and block is not None:
        errors.append(FieldError.forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _validate_block(block: JSON, path: str) -> Errors:
    whole = block.get("cidr", "")
    if not whole:
        return [FieldError.required(f"{path}.cidr")]
    errors = problems(f"{path}.cidr", whole, cidr(whole))
    if errors:
        return errors
    network = ipaddress.ip_network(whole, strict=False)
    for index, text in enumerate(block.get("except") or ()):
        where = f"{path}.except[{index}]"
        wrong = problems(where, text, cidr(text))
        if not wrong:
            part = ipaddress.ip_network(text, strict=False)
            inside = part.version == network.version and part.subnet_of(network) and part != network  # type: ignore[arg-type]
            wrong = [] if inside else [FieldError.invalid(where, text, "must be a strict subset of `cidr`")]
        errors.extend(wrong)
    return errors


class Ingresses(Strategy):
    """Rules of ingresses."""

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_ingress(obj.get("spec") or {})]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return errors if ctx.subresource == "status" else [*errors, *_validate_ingress(new.get("spec") or {})]


def _validate_ingress(spec: JSON) -> Errors:
    errors: Errors = []
    backend, rules, name = spec.get("defaultBackend"), spec.get("rules") or [], spec.get("ingressClassName")
    if backend is None and not rules:
        why = "either `defaultBackend` or `rules` must be specified"
        errors.append(FieldError.invalid("spec", None, why))
    if backend is not None:
        errors.extend(_validate_backend(backend, "spec.defaultBackend"))
    for index, rule in enumerate(rules):
        host = rule.get("host", "")
        if host:
            errors.extend(problems(f"spec.rules[{index}].host", host, dns_subdomain(host.removeprefix("*."))))
        for at, path in enumerate((rule.get("http") or {}).get("paths") or ()):
            errors.extend(_validate_path(path, f"spec.rules[{index}].http.paths[{at}]"))
    if name is not None:
        errors.extend(problems("spec.ingressClassName", name, dns_subdomain(name)))
    return errors


def _validate_path(path: JSON, where: str) -> Errors:
    kind, text = path.get("pathType"), path.get("path", "")
    if kind is None:
        return [FieldError.required(f"{where}.pathType", "pathType must be specified")]
    errors: Errors = []
    if kind not in _PATH_TYPES:
        errors.append(FieldError.not_supported(f"{where}.pathType", kind, _PATH_TYPES))
    elif not text.startswith("/") and (kind != "ImplementationSpecific" or text):
        errors.append(FieldError.invalid(f"{where}.path", text, "must be an absolute path"))
    return [*errors, *_validate_backend(path.get("backend") or {}, f"{where}.backend")]


def _validate_backend(backend: JSON, path: str) -> Errors:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        return [FieldError.invalid(path, "", "cannot set both resource and service backends")]
    if service is None and resource is None:
        return [FieldError.invalid(path, "", "resource or service backend is required")]
    if service is None:
        return []
    errors: Errors = []
    port = service.get("port") or {}
    if not service.get("name"):
        errors.append(FieldError.required(f"{path}.service.name"))
    if not port.get("name") and not port.get("number"):
        errors.append(FieldError.required(path, "port name or number is required"))
    elif port.get("number"):
        errors.extend(problems(f"{path}.service.port.number", port["number"], port_number(port["number"])))
    return errors


class IngressClasses(Strategy):
    """Rules of ingress classes."""

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        controller = (obj.get("spec") or {}).get("controller", "")
        errors = super().validate_create(obj, ctx)
        if not controller:
            errors.append(FieldError.required("spec.controller"))
        elif wrong := domain_prefixed_path(controller, "spec.controller"):
            errors.append(FieldError.invalid("spec.controller", controller, wrong))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        controllers = [(obj.get("spec") or {}).get("controller", "") for obj in (new, old)]
        return [*super().validate_update(new, old, ctx), *immutable("spec.controller", *controllers)]
