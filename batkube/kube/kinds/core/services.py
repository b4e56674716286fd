"""Services (`pkg/registry/core/service`, `validateService` in `pkg/apis/core/validation/validation.go`).

They get an address and node ports as they would in a real cluster, although nothing answers there.
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.addresses import unreachable
from ...apimachinery.metadata import Errors, problems, validate_labels
from ...apimachinery.names import cidr, dns_label, dns_subdomain, ip_address, port_name, port_number, qualified_name
from ...apimachinery.status import FieldError
from ...schema.internal_json import internal
from ..networking.ingresses import validate_balancer
from ..strategy import Context, Strategy
from .service_addresses import HEADLESS, is_headless, validate_addresses, validate_changed_addresses
from .service_allocation import SERVICES, allocate, needs_health_check
from .service_warnings import HINTS, MODE, warnings_of_service

__all__ = ["SERVICES", "Services"]
from ..published import validate_field

JSON = dict[str, Any]

_SPEC = "core/v1.ServiceSpec"
_EXTERNAL = ("LoadBalancer", "NodePort")
_TRAFFIC = ("Cluster", "Local")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_AFFINITY_SECONDS = 10_800
_MAX_AFFINITY_SECONDS = 86_400
_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
_BALANCERS_ONLY = "may only be used when `type` is 'LoadBalancer'"


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
        allocate(obj, None, ctx)
        obj["status"] = {"loadBalancer": {}}

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_service(obj, {})]
        ctx.warnings.extend(() if errors else warnings_of_service(obj))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default_service(new.setdefault("spec", {}))
        allocate(new, old, ctx)
        _drop_unused(new["spec"], old["spec"])
        if new["spec"]["type"] != "LoadBalancer":
            new["status"] = {**(new.get("status") or {}), "loadBalancer": {}}

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        _default_status(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        spec, before = new["spec"], old["spec"]
        errors += validate_changed_addresses(spec, before)
        balancer, was = spec.get("loadBalancerClass"), before.get("loadBalancerClass")
        if spec["type"] == before["type"] == "LoadBalancer" and balancer != was:
            errors.append(FieldError.invalid("spec.loadBalancerClass", balancer, "may not change once set"))
        errors += _validate_class(spec)  # and again with the rest, as the real server does
        checked = needs_health_check(spec) and needs_health_check(before)
        if checked and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
            errors.append(FieldError.forbidden("spec.healthCheckNodePort", "field is immutable"))
        errors += _validate_service(new, old)
        ctx.warnings.extend(() if errors else warnings_of_service(new))
        return errors

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_status(new, old, ctx)
        return [*errors, *_validate_status(new.get("status") or {}, new["spec"], ctx)]

    def field_labels(self, obj: JSON) -> dict[str, str]:
        spec = obj.get("spec", {})
        return {"spec.clusterIP": spec.get("clusterIP", ""), "spec.type": spec.get("type", "")}


def _is_external(spec: JSON) -> bool:
    """Return True if traffic comes from outside of the cluster."""
    return spec["type"] in _EXTERNAL or bool(spec["type"] == "ClusterIP" and spec.get("externalIPs"))


def _default_service(spec: JSON) -> None:
    affinity = spec["sessionAffinity"] = spec.get("sessionAffinity") or "None"
    if affinity == "ClientIP":
        client = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        client.setdefault("timeoutSeconds", _AFFINITY_SECONDS)
    elif affinity == "None":
        spec.pop("sessionAffinityConfig", None)
    kind = spec["type"] = spec.get("type") or "ClusterIP"
    for port in spec.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port.get("port", 0)
    if _is_external(spec):
        spec["externalTrafficPolicy"] = spec.get("externalTrafficPolicy") or "Cluster"
    if kind in (*_EXTERNAL, "ClusterIP") and spec.get("internalTrafficPolicy") is None:
        spec["internalTrafficPolicy"] = "Cluster"
    elif kind == "ExternalName" and spec.get("internalTrafficPolicy") in _TRAFFIC:
        del spec["internalTrafficPolicy"]  # a valid one is not shown
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)


def _default_status(service: JSON) -> None:
    balancer = service.setdefault("status", {}).setdefault("loadBalancer", {})
    for ingress in balancer.get("ingress") or () if service["spec"].get("type") == "LoadBalancer" else ():
        if ingress.get("ip") and ingress.get("ipMode") is None:
            ingress["ipMode"] = "VIP"


def _drop_unused(spec: JSON, before: JSON) -> None:
    """Drop the fields that the new type of service does not use, if the client did not change them
    (`dropTypeDependentFields`).
    """
    kind, was = spec["type"], before["type"]
    unused: list[str] = []
    if kind == "ExternalName" != was:
        if all(spec.get(key) == before.get(key) for key in ("clusterIP", "clusterIPs")):
            unused += ("clusterIP", "clusterIPs")
        unused += [key for key in ("ipFamilies", "ipFamilyPolicy") if spec.get(key) == before.get(key)]
    if needs_health_check(before) and not needs_health_check(spec):
        unused.append("healthCheckNodePort")
    if was == "LoadBalancer" != kind:
        unused += ("allocateLoadBalancerNodePorts", "loadBalancerClass")
    if _is_external(before) and not _is_external(spec):
        unused.append("externalTrafficPolicy")
    for key in unused:
        if spec.get(key) == before.get(key):
            spec.pop(key, None)
    if was in _EXTERNAL and kind not in _EXTERNAL:
        numbers = {port.get("nodePort") for port in before.get("ports") or ()}
        ports = spec.get("ports") or []
        if all(port.get("nodePort") in (None, 0, *numbers) for port in ports):
            for port in ports:
                port.pop("nodePort", None)


def _validate_service(service: JSON, old: JSON) -> Errors:
    errors = _validate_annotations(service["metadata"].get("annotations") or {})
    spec, before = service["spec"], old.get("spec") or {}
    kind, headless, ports = spec["type"], is_headless(spec), spec.get("ports") or []
    if not ports and not headless and kind != "ExternalName":
        errors.append(FieldError.required("spec.ports"))
    if kind in _EXTERNAL and headless:
        why = f"may not be set to 'None' for {kind} services"
        errors.append(FieldError.invalid("spec.clusterIPs[0]", HEADLESS, why))
    elif kind == "ExternalName":
        errors += _validate_external_name(spec)
    names: set[str] = set()
    for index, port in enumerate(ports):
        errors += _validate_port(port, f"spec.ports[{index}]", len(ports) > 1, names)
    errors += validate_labels(spec.get("selector") or {}, "spec.selector")
    errors += _validate_affinity(spec)
    errors += validate_addresses(spec, before)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        wrong = () if address in (before.get("externalIPs") or ()) else ip_address(address)
        errors += problems(f"spec.externalIPs[{index}]", address, wrong or unreachable(address))
    errors += validate_field(_SPEC, spec, "type", "spec")
    errors += _validate_numbers(ports, kind)
    errors += _validate_ranges(service, old)
    if kind != "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not None:
        errors.append(FieldError.forbidden("spec.allocateLoadBalancerNodePorts", _BALANCERS_ONLY))
    return [*errors, *_validate_class(spec), *_validate_traffic(spec)]


def _validate_annotations(annotations: JSON) -> Errors:
    hints, mode = annotations.get(HINTS), annotations.get(MODE)
    if hints is None or mode is None or hints == mode:
        return []
    why = f"must match annotations[{HINTS}] when both are specified"
    return [FieldError.invalid(f"metadata.annotations[{MODE}]", mode, why)]


def _validate_external_name(spec: JSON) -> Errors:
    errors = [
        FieldError.forbidden(f"spec.{key}", "may not be set for ExternalName services")
        for key in ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
        if spec.get(key)
    ]
    target = spec.get("externalName", "").removesuffix(".")
    if not target:
        return [*errors, FieldError.required("spec.externalName")]
    return errors + problems("spec.externalName", target, dns_subdomain(target))


def _validate_affinity(spec: JSON) -> Errors:
    if errors := validate_field(_SPEC, spec, "sessionAffinity", "spec"):
        return errors
    if spec["sessionAffinity"] == "None":
        return []
    seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
    if 0 < seconds <= _MAX_AFFINITY_SECONDS:
        return []
    why = f"must be greater than 0 and less than {_MAX_AFFINITY_SECONDS}"
    return [FieldError.invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why)]


def _validate_class(spec: JSON) -> Errors:
    name, path = spec.get("loadBalancerClass"), "spec.loadBalancerClass"
    if name is None:
        return []
    if spec["type"] != "LoadBalancer":
        return [FieldError.forbidden(path, _BALANCERS_ONLY)]
    return problems(path, name, qualified_name(name))


def _validate_ranges(service: JSON, old: JSON) -> Errors:
    """Check the addresses that may use a load balancer: given in a field or, in old manifests, in an annotation."""
    errors: Errors = []
    spec, path = service["spec"], "spec.LoadBalancerSourceRanges"
    ranges = spec.get("loadBalancerSourceRanges") or []
    known = {text.strip() for text in (old.get("spec") or {}).get("loadBalancerSourceRanges") or ()}
    where = [f"{path}[{index}]" for index in range(len(ranges))]
    if not ranges:
        path = f"metadata.annotations[{_RANGES}]"
        annotation, was = ((each.get("metadata") or {}).get("annotations", {}).get(_RANGES) for each in (service, old))
        if annotation is None:
            return []
        ranges = annotation.split(",") if annotation.strip() and annotation != was else []
        where = [path] * len(ranges)
    if spec["type"] != "LoadBalancer":
        errors.append(FieldError.forbidden(path, _BALANCERS_ONLY))
    for at, text in zip(where, ranges, strict=True):
        value = text.strip()
        errors += [] if value in known else problems(at, value, cidr(value))
    return errors


def _validate_traffic(spec: JSON) -> Errors:
    """Check the traffic policies and the port of the health check."""
    errors: Errors = []
    policy, path = spec.get("externalTrafficPolicy"), "spec.externalTrafficPolicy"
    if policy and not _is_external(spec):
        errors.append(FieldError.invalid(path, policy, "may only be set for externally-accessible services"))
    else:
        errors += validate_field(_SPEC, spec, "externalTrafficPolicy", "spec")
    number, path = spec.get("healthCheckNodePort", 0), "spec.healthCheckNodePort"
    if needs_health_check(spec):
        errors += problems(path, number, port_number(number)) if number else [FieldError.required(path)]
    elif number:
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.append(FieldError.invalid(path, number, why))
    errors += validate_field(_SPEC, spec, "internalTrafficPolicy", "spec")
    value = spec.get("trafficDistribution")
    if value is not None and value not in _DISTRIBUTIONS:
        errors.append(FieldError.not_supported("spec.trafficDistribution", value, _DISTRIBUTIONS))
    return errors


def _validate_port(port: JSON, path: str, named: bool, names: set[str]) -> Errors:
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
    errors += validate_field("core/v1.ServicePort", port, "protocol", path)
    wrong = port_name(target) if isinstance(target, str) else port_number(target)
    return [*errors, *problems(f"{path}.targetPort", target, wrong)]


def _validate_numbers(ports: list[JSON], kind: str) -> Errors:
    """Check that only services with ports of nodes name such ports, and that no two entries are for the same port."""
    errors: Errors = []
    if kind == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                why = "may not be used when `type` is 'ClusterIP'"
                errors.append(FieldError.forbidden(f"spec.ports[{index}].nodePort", why))
    for key in ("nodePort", "port"):
        seen: set[tuple[str, int]] = set()
        for index, port in enumerate(ports):
            protocol, number = port["protocol"], port.get(key, 0)
            path, shown = f"spec.ports[{index}]", internal("core/v1.ServicePort", {"protocol": protocol, key: number})
            if key == "nodePort":
                path, shown = f"{path}.nodePort", number
            if (protocol, number) in seen:
                errors.append(FieldError.duplicate(path, shown))
            if number or key == "port":
                seen.add((protocol, number))
    return errors


def _validate_status(status: JSON, spec: JSON, ctx: Context) -> Errors:
    """Check the addresses at which a load balancer says that it listens (`ValidateLoadBalancerStatus`)."""
    path, given = "status.loadBalancer.ingress", (status.get("loadBalancer") or {}).get("ingress") or []
    if given and spec["type"] != "LoadBalancer":
        return [FieldError.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
    errors = validate_balancer(status, ctx)
    for index, ingress in enumerate(given):
        mode, where = ingress.get("ipMode"), f"{path}[{index}].ipMode"
        if mode is not None and not ingress.get("ip"):
            errors.append(FieldError.forbidden(where, "may not be specified when `ip` is not set"))
        elif mode is not None and mode not in ("Proxy", "VIP"):
            errors.append(FieldError.not_supported(where, mode, ("Proxy", "VIP")))
    return errors
