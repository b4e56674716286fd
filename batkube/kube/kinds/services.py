"""Services (`pkg/registry/core/service`, `validateService` in `pkg/apis/core/validation/validation.go`).

They get an address and node ports as they would in a real cluster, although nothing answers there.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from ..addresses import unreachable
from ..internal_json import internal
from ..metadata import Errors, problems, validate_labels
from ..names import dns_label, dns_subdomain, ip_address, port_name, port_number, qualified_name
from ..status import FieldError
from ..strategy import Context, Strategy, keep

JSON = dict[str, Any]

SERVICES = "services"
_ADDRESSES = ipaddress.ip_network("10.96.0.0/16")
_NODE_PORTS = range(30_000, 32_768)
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_EXTERNAL = ("LoadBalancer", "NodePort")
_FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_HEADLESS = "None"
_AFFINITY_SECONDS = 10_800
_MAX_AFFINITY_SECONDS = 86_400


class Services(Strategy):
    """Rules of services."""

    set_by_admission = frozenset(("spec.clusterIP", "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy"))

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
        errors += problems(f"spec.externalIPs[{index}]", address, ip_address(address) or unreachable(address))
    errors += _validate_traffic(spec, kind in _EXTERNAL or bool(spec.get("externalIPs")))
    if spec.get("clusterIP") and not headless:
        for index, address in enumerate(spec.get("clusterIPs") or ()):
            errors += problems(f"spec.clusterIPs[{index}]", address, ip_address(address))
    return errors


def _validate_traffic(spec: JSON, external: bool) -> Errors:
    """How traffic finds its way, and by which families of addresses."""
    errors: Errors = []
    for key in ("externalTrafficPolicy", "internalTrafficPolicy"):
        policy = spec.get(key)
        if key.startswith("external") and policy and not external:
            why = "may only be set for externally-accessible services"
            errors.append(FieldError.invalid(f"spec.{key}", policy, why))
        elif policy is not None and policy not in ("Cluster", "Local"):
            errors.append(FieldError.not_supported(f"spec.{key}", policy, ("Cluster", "Local")))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(FieldError.not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS))
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _FAMILY_POLICIES:
        errors.append(FieldError.not_supported("spec.ipFamilyPolicy", policy, _FAMILY_POLICIES))
    families = spec.get("ipFamilies") or []
    if families[:1] == ["IPv6"]:
        errors.append(FieldError.invalid("spec.ipFamilies[0]", "IPv6", "not configured on this cluster"))
    if spec.get("type") == "ClusterIP":
        for index, port in enumerate(spec.get("ports") or ()):
            if port.get("nodePort"):
                why = "may not be used when `type` is 'ClusterIP'"
                errors.append(FieldError.forbidden(f"spec.ports[{index}].nodePort", why))
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
    application = port.get("appProtocol")
    if application is not None:
        errors += problems(f"{path}.appProtocol", application, qualified_name(application))
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
                shown = internal("core/v1.ServicePort", {"protocol": known[0], key: known[1]})
                errors.append(FieldError.duplicate(f"spec.ports[{index}]", shown))
            seen.add(known)
    return errors
