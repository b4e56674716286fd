"""The warnings for the author of a service (`pkg/api/service/warnings.go`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.addresses import cidr_warnings, ip_warnings
from .service_addresses import HEADLESS

JSON = dict[str, Any]

HINTS, MODE = "service.kubernetes.io/topology-aware-hints", "service.kubernetes.io/topology-mode"


def warnings_of_service(service: JSON) -> list[str]:
    """Return the warnings of a valid service."""
    spec = service["spec"]
    kind, address, external = spec.get("type"), spec.get("clusterIP", ""), spec.get("externalIPs") or []
    warnings: list[str] = []
    if HINTS in (service["metadata"].get("annotations") or {}):
        warnings.append(f"annotation {HINTS} is deprecated, please use {MODE} instead")
    if address and address != HEADLESS:
        for index, each in enumerate(spec.get("clusterIPs") or ()):
            warnings += ip_warnings(f"spec.clusterIPs[{index}]", each)
    headless = kind == "ClusterIP" and address == HEADLESS
    if headless:
        ignored = {
            "loadBalancerIP": spec.get("loadBalancerIP"),
            "externalIPs": external,
            "SessionAffinity": spec.get("sessionAffinity") != "None",
        }
        warnings += [f"spec.{name} is ignored for headless services" for name, given in ignored.items() if given]
    for index, each in enumerate(external):
        warnings += ip_warnings(f"spec.externalIPs[{index}]", each)
    if external and not headless and kind != "ExternalName":
        warnings.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if balancer := spec.get("loadBalancerIP"):
        warnings += ip_warnings("spec.loadBalancerIP", balancer)
    for index, each in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        warnings += cidr_warnings(f"spec.loadBalancerSourceRanges[{index}]", [each])
    if kind == "ExternalName" and external:
        warnings.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if kind != "ExternalName" and spec.get("externalName"):
        warnings.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        warnings.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return warnings
