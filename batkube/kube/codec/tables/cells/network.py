"""Services, endpoints, ingresses, network policies."""

from __future__ import annotations

from typing import Any

from ..ages import Ages
from .text import JSON, NONE, Cells, age, joined, label_selector, labels, more, name, spec, status

_SHOWN = 3


def service(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    addresses = its_spec.get("clusterIPs") or ()
    return [
        name(obj),
        its_spec.get("type", ""),
        addresses[0] if addresses else NONE,
        _external_address(obj),
        _ports(its_spec.get("ports") or ()) or NONE,
        age(obj, ages),
        labels(its_spec.get("selector")),
    ]


def _external_address(obj: JSON) -> str:
    its_spec = spec(obj)
    external = its_spec.get("externalIPs") or []
    kind = its_spec.get("type")
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(external) or NONE
    if kind == "LoadBalancer":
        balancers = _balancers(obj)
        return ",".join([*([balancers] if balancers else []), *external]) or "<pending>"
    if kind == "ExternalName":
        return str(its_spec.get("externalName", ""))
    return "<unknown>"


def _balancers(obj: JSON) -> str:
    ingress = (status(obj).get("loadBalancer") or {}).get("ingress") or ()
    return ",".join(sorted({each.get("ip") or each.get("hostname") or "" for each in ingress} - {""}))


def _ports(ports: Any) -> str:
    pieces = []
    for port in ports:
        outside = f":{port['nodePort']}" if port.get("nodePort") else ""
        pieces.append(f"{port.get('port', 0)}{outside}/{port.get('protocol', '')}")
    return ",".join(pieces)


def endpoints(obj: JSON, ages: Ages) -> list[Any]:
    subsets = obj.get("subsets") or ()
    shown = []
    for subset in subsets:
        addresses = [address.get("ip", "") for address in subset.get("addresses") or ()]
        ports = subset.get("ports") or ()
        if not ports:
            shown.extend(addresses)
        for port in ports:
            shown.extend(_host_port(address, port.get("port", 0)) for address in addresses)
    return [name(obj), more(shown, len(shown), _SHOWN, "") if subsets else NONE, age(obj, ages)]


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def endpoint_slice(obj: JSON, ages: Ages) -> list[Any]:
    ports = []
    for port in obj.get("ports") or ():
        number = port.get("port")
        ports.append(str(number) if number is not None else port.get("name", "*"))
    addresses = [address for each in obj.get("endpoints") or () for address in each.get("addresses") or ()]
    return [
        name(obj),
        obj.get("addressType", ""),
        more(ports, len(ports), _SHOWN),
        more(addresses, len(addresses), _SHOWN),
        age(obj, ages),
    ]


def ingress(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    rules = its_spec.get("rules") or ()
    hosts = [rule["host"] for rule in rules if rule.get("host")]
    ports = "80, 443" if its_spec.get("tls") else "80"
    shown = ",".join(hosts[:_SHOWN])
    if len(hosts) >= _SHOWN and len(rules) > _SHOWN:
        shown = f"{shown} + {len(rules) - _SHOWN} more..."
    ingress_class = its_spec.get("ingressClassName", NONE)
    return [name(obj), ingress_class, shown or "*", _balancers(obj), ports, age(obj, ages)]


def ingress_class(obj: JSON, ages: Ages) -> list[Any]:
    annotations = obj["metadata"].get("annotations") or {}
    default = " (default)" if annotations.get("ingressclass.kubernetes.io/is-default-class") == "true" else ""
    parameters = spec(obj).get("parameters")
    shown = NONE
    if parameters:
        group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
        shown = f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"
    return [name(obj) + default, spec(obj).get("controller", ""), shown, age(obj, ages)]


def network_policy(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), label_selector(spec(obj).get("podSelector")) or NONE, age(obj, ages)]


def service_cidr(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), joined(spec(obj).get("cidrs")), age(obj, ages)]


def ip_address(obj: JSON, ages: Ages) -> list[Any]:
    parent = spec(obj).get("parentRef")
    shown = NONE
    if parent:
        group = f".{parent['group']}" if parent.get("group") else ""
        place = f"/{parent['namespace']}" if parent.get("namespace") else ""
        shown = f"{(parent.get('resource', '') + group).lower()}{place}/{parent.get('name', '')}"
    return [name(obj), shown, age(obj, ages)]


CELLS: dict[str, Cells] = {
    "EndpointSlice": endpoint_slice,
    "Endpoints": endpoints,
    "IPAddress": ip_address,
    "Ingress": ingress,
    "IngressClass": ingress_class,
    "NetworkPolicy": network_policy,
    "Service": service,
    "ServiceCIDR": service_cidr,
}
