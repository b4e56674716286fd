"""The forms of valid IP addresses and CIDRs that are warned of or refused
(`k8s.io/apimachinery/pkg/util/validation/ip.go`).

`names.py` checks that they are valid.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from .names import Problems, cidr, ip_address


def ip_warnings(path: str, value: str) -> list[str]:
    """Return the warnings for the client that wrote a valid address."""
    if ":" not in value or ip_address(value):
        return []
    best = str(ipaddress.ip_address(value))
    if best == value:
        return []
    return [f'{path}: IPv6 address "{value}" should be in RFC 5952 canonical format ("{best}")']


def cidr_warnings(path: str, values: Iterable[str]) -> list[str]:
    """Return the same warnings for CIDRs, all of one field."""
    warnings = []
    for value in values:
        if ":" in value and not cidr(value) and (best := str(ipaddress.ip_network(value))) != value:
            warnings.append(f'{path}: IPv6 CIDR value "{value}" should be in RFC 5952 canonical format ("{best}")')
    return warnings


def unreachable(value: str) -> Problems:
    """Return why no endpoint can have that address (`ValidateEndpointIP`)."""
    address = ipaddress.ip_address(value)
    if address.is_unspecified:
        return (f"may not be unspecified ({value})",)
    if address.is_loopback:
        return ("may not be in the loopback range (127.0.0.0/8, ::1/128)",)
    if address.is_link_local:
        return ("may not be in the link-local range (169.254.0.0/16, fe80::/10)",)
    if any(address in network for network in _LINK_LOCAL_MULTICAST if network.version == address.version):
        return ("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",)
    return ()


# As Go's IsLinkLocalMulticast has it.
_LINK_LOCAL_MULTICAST = (ipaddress.ip_network("224.0.0.0/24"), ipaddress.ip_network("ff02::/16"))
