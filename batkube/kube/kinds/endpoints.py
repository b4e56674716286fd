"""Endpoints and endpoint slices (`pkg/apis/core/validation`, `pkg/apis/discovery/validation`)."""

from __future__ import annotations

import ipaddress
from typing import Any

from .. import metadata
from ..metadata import Errors, problems
from ..names import dns_label, dns_subdomain, ip_address, port_number
from ..status import FieldError
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MAX_ADDRESSES = 100


class Endpoints(Strategy):
    """Rules of endpoints, which older clients still write."""

    name_rule = staticmethod(dns_subdomain)
    create_on_update = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_endpoints(obj)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_subsets(obj.get("subsets") or [])]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_endpoints(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_update(new, old, ctx), *_validate_subsets(new.get("subsets") or [])]

    def deprecation(self, version: str) -> str:
        return "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"


def _default_endpoints(obj: JSON) -> None:
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            port["protocol"] = port.get("protocol") or "TCP"


def _validate_subsets(subsets: list[JSON]) -> Errors:
    errors: Errors = []
    for index, subset in enumerate(subsets):
        path = f"subsets[{index}]"
        ready, unready = subset.get("addresses") or [], subset.get("notReadyAddresses") or []
        if not ready and not unready:
            errors.append(FieldError.required(path, "must specify `addresses` or `notReadyAddresses`"))
        for key, addresses in (("addresses", ready), ("notReadyAddresses", unready)):
            for at, address in enumerate(addresses):
                errors += _validate_address(address, f"{path}.{key}[{at}]")
        ports = subset.get("ports") or []
        for at, port in enumerate(ports):
            errors += _validate_endpoint_port(port, f"{path}.ports[{at}]", len(ports) > 1)
    return errors


def _validate_address(address: JSON, path: str) -> Errors:
    ip = address.get("ip", "")
    errors = problems(f"{path}.ip", ip, ip_address(ip))
    if address.get("hostname"):
        errors += problems(f"{path}.hostname", address["hostname"], dns_label(address["hostname"]))
    if address.get("nodeName"):
        errors += problems(f"{path}.nodeName", address["nodeName"], dns_subdomain(address["nodeName"]))
    if errors and errors[0].field == f"{path}.ip":
        return [*errors, FieldError.invalid(f"{path}.ip", ip, "must be a valid IP address")]
    return [*errors, *problems(f"{path}.ip", ip, unreachable(ip))]


def unreachable(ip: str) -> tuple[str, ...]:
    address = ipaddress.ip_address(ip)
    if address.is_unspecified:
        return (f"may not be unspecified ({ip})",)
    if address.is_loopback:
        return ("may not be in the loopback range (127.0.0.0/8, ::1/128)",)
    if address.is_link_local:
        return ("may not be in the link-local range (169.254.0.0/16, fe80::/10)",)
    if address.is_multicast:
        return ("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",)
    return ()


def _validate_endpoint_port(port: JSON, path: str, named: bool) -> Errors:
    errors: Errors = []
    name, number, protocol = port.get("name", ""), port.get("port", 0), port.get("protocol", "")
    if named and not name:
        errors.append(FieldError.required(f"{path}.name"))
    elif name:
        errors += problems(f"{path}.name", name, dns_label(name))
    errors += problems(f"{path}.port", number, port_number(number))
    if protocol not in _PROTOCOLS:
        errors.append(FieldError.not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    return errors


class EndpointSlices(Strategy):
    """Rules of endpoint slices."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_slice(obj)
        obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_slice(obj)]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_slice(new)
        parts = ("endpoints", "ports", "addressType")
        labels = ("labels", "annotations")
        if any(new.get(part) != old.get(part) for part in parts) or any(
            new["metadata"].get(key) != old["metadata"].get(key) for key in labels
        ):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_update(new, old, ctx), *_validate_slice(new)]
        return [*errors, *metadata.immutable("addressType", new.get("addressType", ""), old.get("addressType", ""))]


def _default_slice(obj: JSON) -> None:
    for port in obj.get("ports") or ():
        if port.get("name") is None:
            port["name"] = ""
        if not port.get("protocol"):
            port["protocol"] = "TCP"


def _validate_slice(obj: JSON) -> Errors:
    errors: Errors = []
    kind = obj.get("addressType", "")
    if not kind:
        errors.append(FieldError.required("addressType"))
    elif kind not in _ADDRESS_TYPES:
        errors.append(FieldError.not_supported("addressType", kind, _ADDRESS_TYPES))
    for index, endpoint in enumerate(obj.get("endpoints") or ()):
        path = f"endpoints[{index}]"
        addresses = endpoint.get("addresses") or []
        if not addresses:
            errors.append(FieldError.required(f"{path}.addresses", "must contain at least 1 address"))
        elif len(addresses) > _MAX_ADDRESSES:
            errors.append(FieldError.too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES))
        for at, address in enumerate(addresses):
            errors += _validate_slice_address(kind, address, f"{path}.addresses[{at}]")
        for key, rule in (("nodeName", dns_subdomain), ("hostname", dns_label)):
            if endpoint.get(key) is not None:
                errors += problems(f"{path}.{key}", endpoint[key], rule(endpoint[key]))
    names: set[str] = set()
    for index, port in enumerate(obj.get("ports") or ()):
        path, name, protocol = f"ports[{index}]", port.get("name") or "", port.get("protocol", "")
        if name:
            errors += problems(f"{path}.name", name, dns_label(name))
        if name in names:
            errors.append(FieldError.duplicate(f"{path}.name", name))
        names.add(name)
        if protocol not in _PROTOCOLS:
            errors.append(FieldError.not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    return errors


def _validate_slice_address(kind: str, address: str, path: str) -> Errors:
    if kind == "FQDN":
        return problems(path, address, dns_subdomain(address))
    errors = problems(path, address, ip_address(address))
    if errors:
        return errors
    version = ipaddress.ip_address(address).version
    if kind in ("IPv4", "IPv6") and kind != f"IPv{version}":
        errors.append(FieldError.invalid(path.rpartition("[")[0], address, f"must be an {kind} address"))
    return errors + problems(path, address, unreachable(address))
