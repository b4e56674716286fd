"""Functions of Kubernetes' CEL libraries (`k8s.io/apiserver/pkg/cel/library`): addresses, URLs, versions, formats."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

from ... import names
from ...go_values import go_number

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z.-]+)?", re.ASCII
)
_MAX_DIGITS = 1_000  # of a number in a text; more would only hold the server up
_DIRECTIVE = re.compile(r"%(?:\.(\d+))?(.)")


def address(text: str) -> Address:
    """An IP address, as `ip()` reads it: without zone, no IPv4 in IPv6. ValueError."""
    found = ipaddress.ip_address(text)
    if isinstance(found, ipaddress.IPv6Address) and (found.scope_id or found.ipv4_mapped):
        raise ValueError(f"IP Address {text!r} parse error during conversion from string")
    return found


def network(text: str) -> Network:
    """A CIDR, as `cidr()` reads it. ValueError."""
    host, slash, length = text.partition("/")
    if not slash or not length.isdecimal() or (length != "0" and length.startswith("0")):
        raise ValueError(f"network address parse error during conversion from string: {text!r}")
    address(host)
    return ipaddress.ip_network(text, strict=False)


def url(text: str) -> SplitResult:
    """An absolute URL or path, as `url()` reads it. ValueError."""
    found = urlsplit(text)
    if not text.startswith("/") and not found.scheme:
        raise ValueError(f"URL parse error during conversion from string: parse {text!r}: invalid URI for request")
    return found


def semver(text: str) -> tuple[int, ...]:
    """Major, minor, patch and more of a version. ValueError."""
    found = _SEMVER.fullmatch(text)
    if found is None:
        raise ValueError(f"semver parse error: {text!r}")
    return tuple(int(part) for part in found.groups())


def formatted(template: str, values: list[Any]) -> str:
    """A text with values put in: `'%s-%d'.format(['a', 1])`."""
    waiting = iter(values)

    def directive(found: re.Match[str]) -> str:
        digits, kind = found.groups()
        if kind == "%":
            return "%"
        if int(digits or 0) > _MAX_DIGITS:
            raise ValueError(f"precision {digits} is too large")
        value = next(waiting)
        if kind in "dxXob":
            return format(value, kind)
        return format(value, f".{digits or 6}{kind}") if kind in "fe" else shown(value)

    return _DIRECTIVE.sub(directive, template)


def shown(value: Any) -> str:
    """A value as `%s` writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{shown(key)}: {shown(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, timedelta):
        return f"{go_number(value.total_seconds())}s"
    return "null" if value is None else go_number(value) if isinstance(value, float) else str(value)


def _is(read: Callable[[str], Any]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            read(text)
        except ValueError:
            return False
        return True

    return check


def _version(found: Any, place: int) -> int:
    if not isinstance(found, tuple):
        raise TypeError("no version")
    return int(found[place])


def _within(outer: Any, inner: Any) -> bool:
    other = network(inner) if isinstance(inner, str) else inner
    return bool(other.version == outer.version and other.subnet_of(outer))


FORMATS: dict[str, Callable[[str], Any]] = {
    "dns1123Label": names.dns_label,
    "dns1123Subdomain": names.dns_subdomain,
    "dns1035Label": names.dns_1035_label,
    "qualifiedName": names.qualified_name,
}
"""By name: what is wrong with a text."""
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ip": address,
    "isIP": _is(address),
    "cidr": network,
    "isCIDR": _is(network),
    "url": url,
    "isURL": _is(url),
    "semver": semver,
    "isSemver": _is(semver),
}
METHODS: dict[str, Callable[..., Any]] = {
    "family": lambda found: found.version,
    "isUnspecified": lambda found: found.is_unspecified,
    "isLoopback": lambda found: found.is_loopback,
    "isLinkLocalMulticast": lambda found: found.is_multicast and found.is_link_local,
    "isLinkLocalUnicast": lambda found: found.is_link_local,
    "isGlobalUnicast": lambda found: (
        not (found.is_multicast or found.is_loopback or found.is_link_local or found.is_unspecified)
    ),
    "containsIP": lambda found, inner: (address(inner) if isinstance(inner, str) else inner) in found,
    "containsCIDR": _within,
    "ip": lambda found: found.network_address,
    "masked": lambda found: found,
    "prefixLength": lambda found: found.prefixlen,
    "getScheme": lambda found: found.scheme,
    "getHost": lambda found: found.netloc.rpartition("@")[2],
    "getHostname": lambda found: found.hostname or "",
    "getPort": lambda found: str(found.port) if found.port is not None else "",
    "getEscapedPath": lambda found: found.path,
    "major": lambda found: _version(found, 0),
    "minor": lambda found: _version(found, 1),
    "patch": lambda found: _version(found, 2),
    "format": formatted,
}
