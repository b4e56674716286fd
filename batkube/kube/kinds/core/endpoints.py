"""Endpoints and endpoint slices (`pkg/apis/core/validation`, `pkg/apis/discovery/validation`)."""

from __future__ import annotations

import ipaddress
from typing import Any

from ...apimachinery import metadata
from ...apimachinery.addresses import ip_warnings, unreachable
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import (
    IP_WRONG,
    dns_label,
    dns_subdomain,
    full_domain_name,
    ip_address,
    label_value,
    port_number,
    qualified_name,
)
from ...apimachinery.status import FieldError
from ..published import validate_field
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_MAX_ADDRESSES, _MAX_ENDPOINTS, _MAX_HINTS, _MAX_PORTS = 100, 1_000, 8, 20_000


class Endpoints(Strategy):
    """Rules of endpoints, which older clients still write."""

    revalidates_metadata = True
    name_rule = staticmethod(dns_subdomain)
    create_on_update = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_endpoints(obj)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_subsets(obj.get("subsets") or [])]
        ctx.warnings.extend(() if errors else _endpoints_warnings(obj))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_endpoints(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if new.get("subsets") != old.get("subsets"):
            errors += _validate_subsets(new.get("subsets") or [])
        ctx.warnings.extend(() if errors else _endpoints_warnings(new))
        return errors

    def deprecation(self, version: str) -> str:
        return "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"


def _endpoints_warnings(obj: JSON) -> list[str]:
    return [
        text
        for index, subset in enumerate(obj.get("subsets") or ())
        for key in ("addresses", "notReadyAddresses")
        for at, address in enumerate(subset.get(key) or ())
        for text in ip_warnings(f"subsets[{index}].{key}[{at}].ip", address["ip"])
    ]


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
    if address.get("nodeName") is not None:
        errors += problems(f"{path}.nodeName", address["nodeName"], dns_subdomain(address["nodeName"]))
    if ip_address(ip) == (IP_WRONG,):
        return [*errors, FieldError.invalid(f"{path}.ip", ip, "must be a valid IP address")]
    if ip_address(ip):
        return errors
    return [*errors, *problems(f"{path}.ip", ip, unreachable(ip))]


def _validate_endpoint_port(port: JSON, path: str, named: bool) -> Errors:
    errors: Errors = []
    name, number = port.get("name", ""), port.get("port", 0)
    if named and not name:
        errors.append(FieldError.required(f"{path}.name"))
    elif name:
        errors += problems(f"{path}.name", name, dns_label(name))
    errors += problems(f"{path}.port", number, port_number(number))
    errors += validate_field("core/v1.EndpointPort", port, "protocol", path)
    return errors + _validate_application(port, path)


def _validate_application(port: JSON, path: str) -> Errors:
    application = port.get("appProtocol")
    return [] if application is None else problems(f"{path}.appProtocol", application, qualified_name(application))


class EndpointSlices(Strategy):
    """Rules of endpoint slices."""

    revalidates_metadata = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_slice(obj)
        _drop_topology(obj)
        obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_slice(obj, None)]
        if obj.get("addressType") == "FQDN" and not errors:
            ctx.warnings.append("spec.addressType: FQDN endpoints are deprecated")
        ctx.warnings.extend(() if errors else _slice_warnings(obj))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_slice(new)
        parts = ("endpoints", "ports", "addressType")
        labels = (each["metadata"].get("labels") for each in (new, old))
        if any(new.get(part) != old.get(part) for part in parts) or next(labels) != next(labels):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if new.get("endpoints") != old.get("endpoints"):
            _drop_topology(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_update(new, old, ctx), *_validate_slice(new, old)]
        errors += metadata.immutable("addressType", new.get("addressType", ""), old.get("addressType", ""))
        ctx.warnings.extend(() if errors else _slice_warnings(new))
        return errors


def _slice_warnings(obj: JSON) -> list[str]:
    return [
        text
        for index, endpoint in enumerate(obj.get("endpoints") or ())
        for at, address in enumerate(endpoint.get("addresses") or ())
        for text in ip_warnings(f"endpoints[{index}].addresses[{at}]", address)
    ]


def _default_slice(obj: JSON) -> None:
    for port in obj.get("ports") or ():
        if port.get("name") is None:
            port["name"] = ""
        if port.get("protocol") is None:
            port["protocol"] = "TCP"


def _drop_topology(obj: JSON) -> None:
    """Drop the topology of endpoints, which no client may write any more (`dropTopologyOnV1`)."""
    for endpoint in obj.get("endpoints") or ():
        endpoint.pop("deprecatedTopology", None)


def _validate_slice(obj: JSON, old: JSON | None) -> Errors:
    kind = obj.get("addressType", "")
    errors = validate_field("discovery/v1.EndpointSlice", obj, "addressType", "")
    errors += _validate_slice_ports(obj.get("ports") or [])
    endpoints = obj.get("endpoints") or []
    if old is not None and endpoints == (old.get("endpoints") or []):
        return errors
    if len(endpoints) > _MAX_ENDPOINTS:
        return [*errors, FieldError.too_many("endpoints", len(endpoints), _MAX_ENDPOINTS)]
    for index, endpoint in enumerate(endpoints):
        errors += _validate_endpoint(endpoint, kind, f"endpoints[{index}]")
    return errors


def _validate_endpoint(endpoint: JSON, kind: str, path: str) -> Errors:
    addresses = endpoint.get("addresses") or []
    missing = "must contain at least 1 address"
    errors = validate_field("discovery/v1.Endpoint", endpoint, "addresses", path, missing=missing)
    if len(addresses) > _MAX_ADDRESSES:
        errors.append(FieldError.too_many(f"{path}.addresses", len(addresses), _MAX_ADDRESSES))
    for at, address in enumerate(addresses):
        errors += _validate_slice_address(kind, address, f"{path}.addresses[{at}]")
    for key, rule in (("nodeName", dns_subdomain), ("hostname", dns_label)):
        if endpoint.get(key) is not None:
            errors += problems(f"{path}.{key}", endpoint[key], rule(endpoint[key]))
    hints = endpoint.get("hints") or {}
    for key, rule in (("forZones", label_value), ("forNodes", dns_subdomain)):
        where, names = f"{path}.hints.{key}", [hint.get("name", "") for hint in hints.get(key) or ()]
        if len(names) > _MAX_HINTS:
            return [*errors, FieldError.too_many(where, len(names), _MAX_HINTS)]
        for at, name in enumerate(names):
            if name in names[:at]:
                errors.append(FieldError.duplicate(f"{where}[{at}].name", name))
            errors += problems(f"{where}[{at}].name", name, rule(name))
    return errors


def _validate_slice_ports(ports: list[JSON]) -> Errors:
    if len(ports) > _MAX_PORTS:
        return [FieldError.too_many("ports", len(ports), _MAX_PORTS)]
    errors: Errors = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        path, name = f"ports[{index}]", port["name"]
        if name:
            errors += problems(f"{path}.name", name, dns_label(name))
        if name in names:
            errors.append(FieldError.duplicate(f"{path}.name", name))
        names.add(name)
        errors += validate_field("discovery/v1.EndpointPort", port, "protocol", path)
        errors += _validate_application(port, path)
    return errors


def _validate_slice_address(kind: str, address: str, path: str) -> Errors:
    if kind == "FQDN":
        return problems(path, address, full_domain_name(address)) if address else [FieldError.required(path)]
    if kind not in ("IPv4", "IPv6"):
        return []
    errors = problems(path, address, ip_address(address))
    if errors:
        return errors
    parsed = ipaddress.ip_address(address)
    if kind == "IPv6" and str(parsed) != address:
        return [FieldError.invalid(path, address, f'must be in canonical form ("{parsed}")')]
    if kind != f"IPv{parsed.version}":
        errors.append(FieldError.invalid(path.rpartition("[")[0], address, f"must be an {kind} address"))
    return errors + problems(path, address, unreachable(address))
