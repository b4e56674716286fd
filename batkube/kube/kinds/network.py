"""Services, endpoints, endpoint slices, network policies (`pkg/apis/core`, `pkg/apis/discovery`,
`pkg/apis/networking`).

Services get an address and node ports as they would in a real cluster, although nothing answers there.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from .. import metadata
from ..label_selectors import validate_label_selector
from ..metadata import Errors, problems, validate_labels
from ..names import dns_label, dns_subdomain, ip_address, port_name, port_number
from ..status import FieldError
from ..strategy import Context, Strategy, keep

JSON = dict[str, Any]

SERVICES = "services"
_ADDRESSES = ipaddress.ip_network("10.96.0.0/16")
_NODE_PORTS = range(30_000, 32_768)
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_EXTERNAL = ("LoadBalancer", "NodePort")
_HEADLESS = "None"
_AFFINITY_SECONDS = 10_800
_MAX_AFFINITY_SECONDS = 86_400
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")


class Services(Strategy):
    """Rules of services."""

    name_rule = staticmethod(dns_label)
    selectable_fields = frozenset(("spec.clusterIP", "spec.type"))
    create_on_update = True
    answers_deleted_object = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_service(obj.setdefault("spec", {}))
        _allocate(obj["spec"], ctx)
        obj["status"] = {"loadBalancer": {}}

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_service(obj["spec"])]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        if ctx.subresource == "status":
            new.setdefault("status", {}).setdefault("loadBalancer", {})
            return
        spec, before = new.setdefault("spec", {}), old["spec"]
        if spec.get("type", "ClusterIP") == before.get("type") != "ExternalName":
            for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                if not spec.get(key):
                    keep(spec, before, key)
        _default_service(spec)
        _keep_node_ports(spec, before)
        _allocate(spec, ctx)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return errors
        spec, before = new["spec"], old["spec"]
        address, was = spec.get("clusterIP", ""), before.get("clusterIP", "")
        if address not in ("", was) and was == _HEADLESS and len(spec.get("ipFamilies") or ()) > 1:
            # A service that has just become one with addresses asks for both families of them.
            why = "this cluster is not configured for dual-stack services"
            errors.append(FieldError.invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy", ""), why))
            errors.append(FieldError.invalid("spec.ipFamilies[1]", "IPv6", "not configured on this cluster"))
            return errors
        if was and "ExternalName" not in (spec.get("type"), before.get("type")) and address != was:
            errors.append(FieldError.invalid("spec.clusterIPs[0]", [address], "may not change once set"))
        return [*errors, *_validate_service(spec)]

    def field_labels(self, obj: JSON) -> dict[str, str]:
        spec = obj.get("spec", {})
        return {"spec.clusterIP": spec.get("clusterIP", ""), "spec.type": spec.get("type", "")}


def _default_service(spec: JSON) -> None:
    affinity = spec["sessionAffinity"] = spec.get("sessionAffinity") or _HEADLESS
    if affinity == "ClientIP":
        client = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        client.setdefault("timeoutSeconds", _AFFINITY_SECONDS)
    else:
        spec.pop("sessionAffinityConfig", None)
    kind = spec["type"] = spec.get("type") or "ClusterIP"
    for port in spec.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if kind in _EXTERNAL or spec.get("externalIPs"):
        spec["externalTrafficPolicy"] = spec.get("externalTrafficPolicy") or "Cluster"
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    if kind == "ExternalName":
        return
    spec["internalTrafficPolicy"] = spec.get("internalTrafficPolicy") or "Cluster"
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    elif spec.get("clusterIPs") and not spec.get("clusterIP"):
        spec["clusterIP"] = spec["clusterIPs"][0]
    both = spec.get("clusterIP") == _HEADLESS and not spec.get("selector")
    spec["ipFamilyPolicy"] = spec.get("ipFamilyPolicy") or ("RequireDualStack" if both else "SingleStack")
    if not spec.get("ipFamilies"):
        spec["ipFamilies"] = ["IPv4", "IPv6"] if both else ["IPv4"]


def _keep_node_ports(spec: JSON, before: JSON) -> None:
    """A port keeps its node port where the client leaves it out, as kubectl apply does."""
    if spec["type"] not in _EXTERNAL:
        return
    known = {(port.get("protocol"), port.get("port")): port.get("nodePort") for port in before.get("ports") or ()}
    for port in spec.get("ports") or ():
        number = known.get((port["protocol"], port.get("port")))
        if number and not port.get("nodePort"):
            port["nodePort"] = number


def _allocate(spec: JSON, ctx: Context) -> None:
    """Give the service the first free address and node ports that it needs and does not name."""
    if spec["type"] != "ExternalName" and not spec.get("clusterIP") and spec.get("ports"):
        taken = {each["spec"].get("clusterIP") for each in ctx.store.list(SERVICES)}
        free = next((str(address) for address in _ADDRESSES.hosts() if str(address) not in taken), "")
        if free:
            spec["clusterIP"], spec["clusterIPs"] = free, [free]
    missing = [port for port in spec.get("ports") or () if not port.get("nodePort")]
    if spec["type"] not in _EXTERNAL or not missing or spec.get("allocateLoadBalancerNodePorts") is False:
        return
    used = {port.get("nodePort") for each in ctx.store.list(SERVICES) for port in each["spec"].get("ports") or ()}
    used |= {port.get("nodePort") for port in spec["ports"]}
    for port, number in zip(missing, (number for number in _NODE_PORTS if number not in used), strict=False):
        port["nodePort"] = number


def _validate_service(spec: JSON) -> Errors:
    errors: Errors = []
    kind, headless = spec.get("type"), spec.get("clusterIP") == _HEADLESS
    ports = spec.get("ports") or []
    if not ports and not headless and kind != "ExternalName":
        errors.append(FieldError.required("spec.ports"))
    if kind in _EXTERNAL and headless:
        why = f"may not be set to 'None' for {kind} services"
        errors.append(FieldError.invalid("spec.clusterIPs[0]", _HEADLESS, why))
    elif kind == "ExternalName":
        target = spec.get("externalName", "").removesuffix(".")
        if not target:
            errors.append(FieldError.required("spec.externalName"))
        else:
            errors += problems("spec.externalName", target, dns_subdomain(target.lower()))
    names: set[str] = set()
    for index, port in enumerate(ports):
        errors += _validate_port(port, f"spec.ports[{index}]", len(ports) > 1, headless, names)
    errors += _duplicate_ports(ports)
    errors += validate_labels(spec.get("selector") or {}, "spec.selector")
    affinity = spec.get("sessionAffinity", "")
    if affinity not in ("ClientIP", _HEADLESS):
        errors.append(FieldError.not_supported("spec.sessionAffinity", affinity, ("ClientIP", "None")))
    elif affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _MAX_AFFINITY_SECONDS:
            why = f"must be greater than 0 and less than {_MAX_AFFINITY_SECONDS}"
            errors.append(FieldError.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why))
    if kind not in _TYPES:
        errors.append(FieldError.not_supported("spec.type", kind, _TYPES))
    for index, address in enumerate(spec.get("externalIPs") or ()):
        errors += problems(f"spec.externalIPs[{index}]", address, ip_address(address))
    for key in ("externalTrafficPolicy", "internalTrafficPolicy"):
        policy = spec.get(key)
        if policy is not None and policy not in ("Cluster", "Local"):
            errors.append(FieldError.not_supported(f"spec.{key}", policy, ("Cluster", "Local")))
    if spec.get("clusterIP") and not headless:
        for index, address in enumerate(spec.get("clusterIPs") or ()):
            errors += problems(f"spec.clusterIPs[{index}]", address, ip_address(address))
    return errors


def _validate_port(port: JSON, path: str, named: bool, headless: bool, names: set[str]) -> Errors:
    errors: Errors = []
    name, number, target = port.get("name", ""), port.get("port", 0), port.get("targetPort", 0)
    if named and not name:
        errors.append(FieldError.required(f"{path}.name"))
    elif name:
        errors += problems(f"{path}.name", name, dns_label(name))
        if name in names:
            errors.append(FieldError.duplicate(f"{path}.name", name))
        names.add(name)
    errors += problems(f"{path}.port", number, port_number(number))
    protocol = port.get("protocol", "")
    if protocol not in _PROTOCOLS:
        errors.append(FieldError.not_supported(f"{path}.protocol", protocol, _PROTOCOLS))
    wrong = port_name(target) if isinstance(target, str) else port_number(target)
    return [*errors, *problems(f"{path}.targetPort", target, wrong)]


def _duplicate_ports(ports: list[JSON]) -> Errors:
    errors: Errors = []
    for key in ("port", "nodePort"):
        seen: set[tuple[str, int]] = set()
        for index, port in enumerate(ports):
            known = (port.get("protocol", ""), port.get(key, 0))
            if known[1] and known in seen:
                shown = {"Name": "", "Protocol": known[0], "Port": known[1]}
                errors.append(FieldError.duplicate(f"spec.ports[{index}]", shown))
            seen.add(known)
    return errors


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
    return [*errors, *problems(f"{path}.ip", ip, _unreachable(ip))]


def _unreachable(ip: str) -> tuple[str, ...]:
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
        elif len(addresses) > 100:
            errors.append(FieldError.too_many(f"{path}.addresses", len(addresses), 100))
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
        return [FieldError.invalid(path, address, f"must be an {kind} address")]
    return problems(path, address, _unreachable(address))


class NetworkPolicies(Strategy):
    """Rules of network policies: none is ever enforced here."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_policy(obj.setdefault("spec", {}))
        super().prepare_create(obj, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        selector = obj["spec"].get("podSelector")
        return [*super().validate_create(obj, ctx), *validate_label_selector(selector, "spec.podSelector")]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_policy(new.setdefault("spec", {}))
        super().prepare_update(new, old, ctx)


def _default_policy(spec: JSON) -> None:
    for key in ("ingress", "egress"):
        for rule in spec.get(key) or ():
            for port in rule.get("ports") or ():
                port["protocol"] = port.get("protocol") or "TCP"
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
