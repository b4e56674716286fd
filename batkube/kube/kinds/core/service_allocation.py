"""The parts of a service that its author did not ask for: families of addresses, addresses, ports of nodes
(`pkg/registry/core/service/storage`).

They are set before the service is validated. The cluster has one family of addresses, IPv4. Its range of addresses is
not that of any real cluster: an address that an author chose is taken wherever it is.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from ...apimachinery.status import ApiError, FieldError
from ..strategy import Context
from .service_addresses import HEADLESS, IPV4, IPV6, family_of, validate_addresses

JSON = dict[str, Any]

SERVICES = "services"
_ADDRESSES = ipaddress.ip_network("10.96.0.0/16")
_NODE_PORTS = range(30_000, 32_768)
_FIRST_GUESS = 32_769  # what a dry run shows for a port that it does not take
_EXTERNAL = ("LoadBalancer", "NodePort")
_SINGLE, _PREFER, _REQUIRE = "SingleStack", "PreferDualStack", "RequireDualStack"
_PARTS = (
    ("clusterIPs", "cluster IPs", "the secondary cluster IP"),
    ("ipFamilies", "IP families", "the secondary IP family"),
)


def allocate(obj: JSON, old: JSON | None, ctx: Context) -> None:
    """Fill in the spec of a new (`old` None) or changed service. Raise ApiError if that is impossible."""
    spec, before = obj["spec"], old["spec"] if old is not None else {}
    if old is not None:
        _keep_allocated(spec, before)
    _pair_addresses(spec, before)
    name = obj["metadata"]["name"]
    if errors := _choose_families(spec, before):
        raise ApiError.invalid("Service", name, errors)
    if not before or before["type"] == "ExternalName":
        _take_addresses(spec, name, ctx)
    _Ports(ctx, before).take(spec, name)


def needs_health_check(spec: JSON) -> bool:
    """Return True if a load balancer has to know which nodes have an endpoint."""
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def allocates_node_ports(spec: JSON) -> bool:
    kind = spec.get("type")
    return kind == "NodePort" or (kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is not False)


def _keep_allocated(spec: JSON, before: JSON) -> None:
    """Keep what was allocated where the client leaves it out, as kubectl apply does (`patchAllocatedValues`)."""
    if "ExternalName" not in (spec["type"], before["type"]):
        for key in ("clusterIP", "clusterIPs"):
            if not spec.get(key) and before.get(key):
                spec[key] = before[key]
    if allocates_node_ports(spec) and allocates_node_ports(before):
        ports, known = spec.get("ports") or [], before.get("ports") or []
        kept = {port.get("nodePort") for port in known} & {port.get("nodePort") for port in ports}
        by_name = {port.get("name", ""): port.get("nodePort") for port in known}
        for port in ports:
            number = by_name.get(port.get("name", ""))
            if not port.get("nodePort") and number and number not in kept:
                port["nodePort"] = number
    if needs_health_check(spec) and needs_health_check(before):
        number = spec.get("healthCheckNodePort") or before.get("healthCheckNodePort")
        if number:
            spec["healthCheckNodePort"] = number


def _pair_addresses(spec: JSON, before: JSON) -> None:
    """Make clusterIP the first of clusterIPs, for clients that know only one of the two fields
    (`normalizeClusterIPs`).
    """
    one, many = spec.get("clusterIP"), spec.get("clusterIPs")
    if not before:
        if one and not many:
            spec["clusterIPs"] = [one]
        return
    was, were = before.get("clusterIP"), before.get("clusterIPs")
    if were and not many and one == was:
        spec["clusterIPs"] = were
    if one != was and (many or []) == (were or []):
        if one:
            spec["clusterIPs"] = [one]
        elif was:
            spec.pop("clusterIPs", None)


def _choose_families(spec: JSON, before: JSON) -> list[FieldError]:
    """Choose the families of addresses (`initIPFamilyFields`)."""
    if spec["type"] == "ExternalName" or _stays_dual(spec, before):
        return []
    selectorless = spec.get("clusterIP") == HEADLESS and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        spec["ipFamilyPolicy"] = before.get("ipFamilyPolicy") or (_REQUIRE if selectorless else _SINGLE)
    if errors := validate_addresses(spec, before) or _fit_policy(spec, before) or _infer_families(spec):
        return errors
    families, policy = spec.get("ipFamilies") or [IPV4], spec["ipFamilyPolicy"]
    if selectorless:
        if len(families) < 2 and policy != _SINGLE:
            families = [families[0], IPV6 if families[0] == IPV4 else IPV4]
        spec["ipFamilies"] = families
        return []
    errors = []
    if policy == _REQUIRE:
        why = "this cluster is not configured for dual-stack services"
        errors.append(FieldError.invalid("spec.ipFamilyPolicy", policy, why))
    for index, family in enumerate(families):
        if family != IPV4:
            errors.append(FieldError.invalid(f"spec.ipFamilies[{index}]", family, "not configured on this cluster"))
    spec["ipFamilies"] = families
    return errors


def _stays_dual(spec: JSON, before: JSON) -> bool:
    """Return True if nothing changes in a service that prefers two families."""
    same = all(spec.get(key) == before.get(key) for key in ("type", "clusterIPs", "ipFamilies", "ipFamilyPolicy"))
    return same and spec.get("ipFamilyPolicy") == _PREFER


def _fit_policy(spec: JSON, before: JSON) -> list[FieldError]:
    """Check that the policy allows that many addresses and families.

    A policy of a single family keeps the first of the former values.
    """
    errors: list[FieldError] = []
    policy, single = spec["ipFamilyPolicy"], spec["ipFamilyPolicy"] == _SINGLE
    for key, _, released in _PARTS if before else ():
        given, were = spec.get(key) or [], before.get(key) or []
        if single and given == were and len(given) > 1:
            spec[key] = given[:1]
        elif not single and 0 < len(given) < len(were):
            why = f"must be 'SingleStack' to release {released}"
            errors.append(FieldError.invalid("spec.ipFamilyPolicy", policy, why))
    for key, many, _ in _PARTS:
        if single and len(spec.get(key) or ()) == 2:
            why = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {many} are specified"
            errors.append(FieldError.invalid("spec.ipFamilyPolicy", policy, why))
    return errors


def _infer_families(spec: JSON) -> list[FieldError]:
    """Set the families that follow from the addresses. Return an error for each that the cluster does not have."""
    errors: list[FieldError] = []
    addresses, families = spec.get("clusterIPs") or [], list(spec.get("ipFamilies") or ())
    if addresses[:1] == [HEADLESS]:
        return []
    for index, address in enumerate(addresses):
        family = family_of(address)
        if index < len(families):
            continue
        if family == IPV4:
            families.append(family)
        else:
            why = f"{family} is not configured on this cluster"
            errors.append(FieldError.invalid(f"spec.clusterIPs[{index}]", addresses, why))
    if families and not errors:
        spec["ipFamilies"] = families
    return errors


def _take_addresses(spec: JSON, name: str, ctx: Context) -> None:
    """Take the address that the service asks for, or the first free one."""
    addresses = spec.get("clusterIPs") or []
    if spec["type"] == "ExternalName" or addresses[:1] == [HEADLESS]:
        return
    taken = {each["spec"].get("clusterIP") for each in ctx.store.list(SERVICES) if each["spec"].get("clusterIP")}
    if addresses:
        if addresses[0] in taken:
            why = f"failed to allocate IP {addresses[0]}: provided IP is already allocated"
            raise ApiError.invalid("Service", name, [FieldError.invalid("spec.clusterIPs", addresses, why)])
        return
    free = next((str(address) for address in _ADDRESSES.hosts() if str(address) not in taken), "")
    if not free:
        raise ApiError.internal(f'failed to allocate a serviceIP for Service "{name}": range is full')
    spec["clusterIP"], spec["clusterIPs"] = free, [free]


class _Ports:
    """The ports of the nodes that one service takes."""

    def __init__(self, ctx: Context, before: JSON) -> None:
        self._dry_run = ctx.dry_run
        self._before = before
        self._had = {port["nodePort"] for port in before.get("ports") or () if port.get("nodePort")}
        self._mine: list[int] = []
        self._taken: set[int] = set()
        for service in ctx.store.list(SERVICES):
            spec = service["spec"]
            self._taken.update(port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort"))
            if spec.get("healthCheckNodePort"):
                self._taken.add(spec["healthCheckNodePort"])

    def take(self, spec: JSON, name: str) -> None:
        if spec["type"] in _EXTERNAL:
            if self._before:
                self._take_changed(spec, name)
            else:
                self._take_new(spec, name)
        if needs_health_check(spec) and not needs_health_check(self._before):
            number = spec.get("healthCheckNodePort")
            if not number:
                spec["healthCheckNodePort"] = self._next()
            elif wrong := self._refused(number):
                what = f"failed to allocate requested HealthCheck NodePort {number}"
                raise ApiError.internal(f"{what}: {wrong}")

    def _take_new(self, spec: JSON, name: str) -> None:
        """Take the ports of a new service. Entries for one port with different protocols share a port of the nodes
        (`initNodePorts`).
        """
        shared: dict[int, int] = {}
        ports = spec.get("ports") or []
        for index, port in enumerate(ports):
            given, number = port.get("nodePort"), port.get("port", 0)
            if not given and not allocates_node_ports(spec):
                continue
            if number not in shared:
                wanted = next((p["nodePort"] for p in ports if p.get("port", 0) == number and p.get("nodePort")), None)
                if wanted is None:
                    shared[number] = self._next()
                else:
                    self._claim(wanted, index, name)
                    shared[number] = wanted
                port["nodePort"] = shared[number]
            elif not given:
                port["nodePort"] = shared[number]
            elif given != shared[number]:
                self._claim(given, index, name)

    def _take_changed(self, spec: JSON, name: str) -> None:
        """Take the ports of a changed service (`updateNodePorts`)."""
        seen: set[tuple[str, int]] = set()
        for index, port in enumerate(spec.get("ports") or ()):
            number = port.get("nodePort")
            if not number:
                if not allocates_node_ports(spec):
                    continue
                number = port["nodePort"] = self._next()
            elif number not in self._had and number not in self._mine:
                self._claim(number, index, name)
            key = (port["protocol"], number)
            if key in seen:
                raise ApiError.unforeseen(f"duplicate nodePort: {{{key[0]} {key[1]}}}")
            seen.add(key)

    def _claim(self, number: int, index: int, name: str) -> None:
        if wrong := self._refused(number):
            error = FieldError.invalid(f"spec.ports[{index}].nodePort", number, wrong)
            raise ApiError.invalid("Service", name, [error])

    def _refused(self, number: int) -> str:
        """Take a port. Return why that is impossible; "" if it succeeded."""
        if not self._dry_run and number not in _NODE_PORTS:
            bounds = f"{_NODE_PORTS.start}-{_NODE_PORTS.stop - 1}"
            return f"provided port is not in the valid range. The range of valid ports is {bounds}"
        if number in self._taken or number in self._mine:
            return "provided port is already allocated"
        self._mine.append(number)
        return ""

    def _next(self) -> int:
        """Return any free port. A dry run takes none: it shows a port that nobody can have."""
        if self._dry_run:
            self._mine.append(max(0, *self._mine) + 1 if self._mine else _FIRST_GUESS)
            return self._mine[-1]
        free = next((number for number in _NODE_PORTS if not self._refused(number)), None)
        if free is None:
            raise ApiError.internal("failed to allocate a nodePort: range is full")
        return free
