"""Kubernetes' own functions (`k8s.io/apiserver/pkg/cel/library`): quantities, addresses, URLs, versions, formats."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from ..apimachinery import names
from ..apimachinery.formats import fits
from ..apimachinery.quantity import Quantity
from .declarations import Overload, by_size, methods, overloads
from .operators import whole
from .times import timestamp
from .values import MAX_INT, MIN_INT, CelError, Format, Optional, Semver, name_type, size

_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
_MAX_DIGITS = 19
_CIDR_V4, _CIDR_V6 = ipaddress.IPv4Interface, ipaddress.IPv6Interface

name_type(ipaddress.IPv4Address, "net.IP")
name_type(ipaddress.IPv6Address, "net.IP")
name_type(_CIDR_V4, "net.CIDR")
name_type(_CIDR_V6, "net.CIDR")
name_type(SplitResult, "kubernetes.URL")


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an IP address without zone; IPv4 inside IPv6 is not allowed. Raise ValueError if the text is not one."""
    wrong = f'IP Address "{text}" parse error during conversion from string'
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f'{wrong}: ParseAddr("{text}"): unable to parse IP') from None
    if isinstance(found, ipaddress.IPv6Address) and (found.scope_id or found.ipv4_mapped):
        raise ValueError(wrong)
    return found


def _network(text: str) -> ipaddress.IPv4Interface | ipaddress.IPv6Interface:
    """Return a CIDR. Raise ValueError if the text is not one."""
    host, slash, length = text.partition("/")
    if not slash:
        wrong = "network address parse error during conversion from string"
        raise ValueError(f"{wrong}: {wrong}: netip.ParsePrefix({quote_text(text)}): no '/'")
    if not (length.isascii() and length.isdigit()) or (length != "0" and length.startswith("0")):
        raise ValueError(f"network address parse error during conversion from string: {text}")
    _address(host)
    return ipaddress.ip_interface(text)


def _url(text: str) -> SplitResult:
    """Return an absolute URL or path. Raise ValueError if the text is not one."""
    wrong = f"URL parse error during conversion from string: parse {quote_text(text)}: invalid URI for request"
    if not text or any(char < " " or char == "\x7f" for char in text) or "#" in text:
        raise ValueError(wrong)
    found = urlsplit(text)
    if not text.startswith("/") and not found.scheme:
        raise ValueError(wrong)
    _ = found.port  # ValueError
    return found


def quote_text(text: str) -> str:
    """Put a text in quotes."""
    return f'"{text}"'


def _semver(text: str, normalize: bool = False) -> Semver:
    """Return a semantic version. Raise ValueError if the text is not one."""
    if normalize:
        text = _normal(text)
    found = _SEMVER.fullmatch(text)
    if found is None or any(len(number) > _MAX_DIGITS for number in found.groups()[:3]):
        raise ValueError("No Major.Minor.Patch elements found" if text.count(".") < 2 else "Invalid character(s) found")
    major, minor, patch = (int(number) for number in found.groups()[:3])
    parts = []
    for part in (found[4] or "").split(".") if found[4] else ():
        numeric = part.isdigit()
        if numeric and part.startswith("0") and part != "0":
            raise ValueError(f'Numeric PreRelease version must not contain leading zeroes "{part}"')
        parts.append((not numeric, int(part) if numeric and len(part) <= _MAX_DIGITS else 0, "" if numeric else part))
    return Semver((major, minor, patch), not parts, tuple(parts))


def _normal(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            part = part.lstrip("0")
            parts[index] = part if part[:1].isdigit() else f"0{part}"
    if len(parts) < 3:
        if any(sign in parts[-1] for sign in "+-"):
            raise ValueError("Short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _reads(read: Callable[..., Any]) -> Callable[..., bool]:
    """Return a test that a text can be read."""

    def check(*given: Any) -> bool:
        try:
            read(*given)
        except (ValueError, CelError):
            return False
        return True

    return check


def _within(outer: Any, inner: Any) -> bool:
    other = _network(inner) if isinstance(inner, str) else inner
    return bool(other.version == outer.version and other.network.subnet_of(outer.network))


def _holds(outer: Any, inner: Any) -> bool:
    return bool((_address(inner) if isinstance(inner, str) else inner) in outer.network)


def _is_local_multicast(found: Any) -> bool:
    if isinstance(found, ipaddress.IPv4Address):
        return found.packed[:3] == bytes((224, 0, 0))
    return bool(found.packed[0] == 0xFF and found.packed[1] & 0x0F == 2)


def _is_local_unicast(found: Any) -> bool:
    return bool(found.is_link_local and not found.is_multicast)


def _is_global(found: Any) -> bool:
    others = found.is_unspecified or found.is_loopback or found.is_multicast or _is_local_unicast(found)
    return not others and found != ipaddress.IPv4Address("255.255.255.255")


def _as_integer(amount: Quantity) -> int:
    if not _is_integer(amount):
        raise CelError("cannot convert value to integer")
    return int(amount.value)


def _is_integer(amount: Quantity) -> bool:
    return amount.value.denominator == 1 and MIN_INT <= amount.value <= MAX_INT


def _compare(one: Any, other: Any) -> int:
    return int(one > other) - int(one < other)


def _prefixed(check: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return the check of a name that more text follows: it may end with a dash."""
    return lambda text: check(f"{text[:-1]}a" if text.endswith("-") else text)


def _one(test: Callable[[str], bool], why: str) -> Callable[[str], list[str]]:
    return lambda text: [] if test(text) else [why]


def _uri_problems(text: str) -> list[str]:
    return [] if _reads(_url)(text) else [f"parse {quote_text(text)}: invalid URI for request"]


FORMATS: dict[str, Format] = {
    "dns1123Label": Format("DNS1123Label", names.dns_label, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", names.dns_subdomain, 60),
    "dns1035Label": Format("DNS1035Label", names.dns_1035_label, 30),
    "qualifiedName": Format("QualifiedName", names.qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _prefixed(names.dns_label), 30),
    "dns1123SubdomainPrefix": Format("DNS1123SubdomainPrefix", _prefixed(names.dns_subdomain), 60),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", _prefixed(names.dns_1035_label), 30),
    "labelValue": Format("LabelValue", names.label_value, 40),
    "uri": Format("URI", _uri_problems, 1000),
    "uuid": Format("uuid", _one(partial(fits, "uuid"), "does not match the UUID format"), 70),
    "byte": Format("byte", _one(partial(fits, "byte"), "invalid base64"), 80),
    "date": Format("date", _one(partial(fits, "date"), "invalid date"), 130),
    "datetime": Format("datetime", _one(_reads(timestamp), "invalid datetime"), 130),
}
"""The formats by name."""


def _validate(form: Format, text: str) -> Optional:
    found = list(form.problems(text))
    return Optional(True, found) if found else Optional()


def _validate_cost(form: Format, text: str, *result: Any) -> int:
    return math.ceil((1 + len(text)) * 0.1) * math.ceil(form.regex_size * 0.25)


def _cidr_cost(times: int, more: int) -> Callable[..., int]:
    def cost(outer: Any, inner: Any, *result: Any) -> int:
        length = len(outer.network.network_address.packed)
        parsed = math.ceil(size(inner) * 0.1) if isinstance(inner, str) else 0
        return math.ceil(2 * length * 0.1) + (math.ceil(length * 0.1) + more if more else 0) + parsed

    return cost


_QUANTITY, _SEMVERS, _IP, _CIDR, _URL = (
    *("kubernetes.Quantity", "kubernetes.Semver", "net.IP", "net.CIDR", "kubernetes.URL"),
)
_FORMAT = "kubernetes.NamedFormat"
_ORDERED = (_QUANTITY, _SEMVERS)


def _named(name: str) -> Optional:
    return Optional(True, FORMATS[name]) if name in FORMATS else Optional()


def _given(value: Format) -> Format:
    return value


OVERLOADS: list[Overload] = [
    *overloads("quantity", [f"string: {_QUANTITY}"], Quantity.parse, by_size(0.1)),
    *overloads("isQuantity", ["string: bool"], _reads(Quantity.parse), by_size(0.1)),
    *overloads("sign", [f"{_QUANTITY}: int"], lambda quantity: int(quantity.value > 0) - int(quantity.value < 0)),
    *methods("isGreaterThan", [f"{kind}, {kind}: bool" for kind in _ORDERED], lambda one, other: one > other),
    *methods("isLessThan", [f"{kind}, {kind}: bool" for kind in _ORDERED], lambda one, other: one < other),
    *methods("compareTo", [f"{kind}, {kind}: int" for kind in _ORDERED], _compare),
    *methods("asApproximateFloat", [f"{_QUANTITY}: double"], lambda quantity: float(quantity.value)),
    *methods("asInteger", [f"{_QUANTITY}: int"], _as_integer),
    *methods("isInteger", [f"{_QUANTITY}: bool"], _is_integer),
    *methods("add", [f"{_QUANTITY}, {_QUANTITY}: {_QUANTITY}"], lambda one, other: one + other),
    *methods("add", [f"{_QUANTITY}, int: {_QUANTITY}"], lambda one, number: one + Quantity(number)),
    *methods("sub", [f"{_QUANTITY}, {_QUANTITY}: {_QUANTITY}"], lambda one, other: one - other),
    *methods("sub", [f"{_QUANTITY}, int: {_QUANTITY}"], lambda one, number: one - Quantity(number)),
    *overloads("ip", [f"string: {_IP}"], _address, by_size(0.1)),
    *overloads("isIP", ["string: bool"], _reads(_address), by_size(0.1)),
    *overloads("ip.isCanonical", ["string: bool"], lambda text: str(_address(text)) == text, by_size(0.2)),
    *overloads("string", [f"{_IP}: string", f"{_CIDR}: string"], str),
    *methods("family", [f"{_IP}: int"], lambda found: found.version),
    *methods("isUnspecified", [f"{_IP}: bool"], lambda found: found.is_unspecified),
    *methods("isLoopback", [f"{_IP}: bool"], lambda found: found.is_loopback),
    *methods("isLinkLocalMulticast", [f"{_IP}: bool"], _is_local_multicast),
    *methods("isLinkLocalUnicast", [f"{_IP}: bool"], _is_local_unicast),
    *methods("isGlobalUnicast", [f"{_IP}: bool"], _is_global),
    *overloads("cidr", [f"string: {_CIDR}"], _network, by_size(0.1)),
    *overloads("isCIDR", ["string: bool"], _reads(_network), by_size(0.1)),
    *methods("containsIP", [f"{_CIDR}, string: bool", f"{_CIDR}, {_IP}: bool"], _holds, _cidr_cost(2, 0)),
    *methods("containsCIDR", [f"{_CIDR}, string: bool", f"{_CIDR}, {_CIDR}: bool"], _within, _cidr_cost(3, 1)),
    *methods("ip", [f"{_CIDR}: {_IP}"], lambda found: found.ip),
    *methods("prefixLength", [f"{_CIDR}: int"], lambda found: found.network.prefixlen),
    *methods("masked", [f"{_CIDR}: {_CIDR}"], lambda found: ipaddress.ip_interface(str(found.network))),
    *overloads("url", [f"string: {_URL}"], _url, by_size(0.1)),
    *overloads("isURL", ["string: bool"], _reads(_url)),
    *methods("getScheme", [f"{_URL}: string"], lambda found: found.scheme),
    *methods("getHost", [f"{_URL}: string"], lambda found: found.netloc.rpartition("@")[2]),
    *methods("getHostname", [f"{_URL}: string"], lambda found: _hostname(found)),
    *methods("getPort", [f"{_URL}: string"], lambda found: "" if found.port is None else str(found.port)),
    *methods("getEscapedPath", [f"{_URL}: string"], lambda found: quote(found.path, safe="/%:@!$&'()*+,;=~-._")),
    *methods(
        "getQuery",
        [f"{_URL}: map(string, list(string))"],
        lambda found: parse_qs(found.query, keep_blank_values=True, max_num_fields=10_000),
    ),
    *overloads("semver", [f"string: {_SEMVERS}", f"string, bool: {_SEMVERS}"], _semver, by_size(0.1)),
    *overloads("isSemver", ["string: bool", "string, bool: bool"], _reads(_semver), by_size(0.1)),
    *methods("major", [f"{_SEMVERS}: int"], lambda version: whole(version.numbers[0])),
    *methods("minor", [f"{_SEMVERS}: int"], lambda version: whole(version.numbers[1])),
    *methods("patch", [f"{_SEMVERS}: int"], lambda version: whole(version.numbers[2])),
    *methods("validate", [f"{_FORMAT}, string: optional_type(list(string))"], _validate, _validate_cost),
    *overloads("format.named", [f"string: optional_type({_FORMAT})"], _named),
    *(
        overload
        for name, form in FORMATS.items()
        for overload in overloads(f"format.{name}", [f": {_FORMAT}"], partial(_given, form))
    ),
]


def _hostname(found: SplitResult) -> str:
    host = found.netloc.rpartition("@")[2]
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
