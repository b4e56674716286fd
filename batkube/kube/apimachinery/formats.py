"""The formats of strings in schemas, with a test for each (`strfmt` of kube-openapi)."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable
from datetime import date

from .names import dns_label, dns_subdomain

_HEX = "[0-9a-fA-F]"
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)", re.ASCII)
_DURATION = re.compile(r"-?(\d+(\.\d+)?\s*[a-zµ]+\s*)+|0", re.ASCII)
_EMAIL = re.compile(r"([^<>]*<)?[^\s@<>(),:;\"\[\]\\]+@[^\s@<>(),:;\"\[\]\\]+>?")
_HOST_NAME = re.compile(
    r"([a-zA-Z0-9]((-?[a-zA-Z0-9]{0,62})?)|([a-zA-Z0-9](([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\.)){1,}([a-zA-Z]){2,63})",
    re.ASCII,
)
_MAC = re.compile(rf"{_HEX}{{2}}([:-]{_HEX}{{2}}){{5}}(([:-]{_HEX}{{2}}){{2}}|([:-]{_HEX}{{2}}){{14}})?")
_URI = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*:[^\s]+|/[^\s]*)", re.ASCII)


def _uuid(version: str = _HEX, variant: str = _HEX) -> Callable[[str], bool]:
    pattern = rf"{_HEX}{{8}}-?{_HEX}{{4}}-?{version}{_HEX}{{3}}-?{variant}{_HEX}{{3}}-?{_HEX}{{12}}"
    return _matches(re.compile(pattern))


def _matches(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.fullmatch(text) is not None


def _parses(parse: Callable[[str], object], *, with_: str = "") -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return with_ in text

    return fits


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _is_date(text: str) -> bool:
    return re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII) is not None and _parses(date.fromisoformat)(text)


_FORMATS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": _matches(re.compile(rf"{_HEX}{{24}}")),
    "byte": _is_base64,
    "cidr": _parses(lambda text: ipaddress.ip_network(text, strict=False), with_="/"),
    "date": _is_date,
    "datetime": _matches(_DATE_TIME),
    "duration": _matches(_DURATION),
    "email": _matches(_EMAIL),
    "hexcolor": _matches(re.compile(rf"#?({_HEX}{{3}}|{_HEX}{{6}})")),
    "hostname": lambda text: len(text) <= 255 and _HOST_NAME.fullmatch(text) is not None,
    "ipv4": _parses(ipaddress.IPv4Address),
    "ipv6": _parses(ipaddress.IPv6Address),
    "k8slongname": lambda text: not dns_subdomain(text),
    "k8sshortname": lambda text: not dns_label(text),
    "mac": _matches(_MAC),
    "ssn": _matches(re.compile(r"\d{3}[- ]?\d{2}[- ]?\d{4}", re.ASCII)),
    "uri": _matches(_URI),
    "uuid": _uuid(),
    "uuid3": _uuid("3"),
    "uuid4": _uuid("4", "[89abAB]"),
    "uuid5": _uuid("5", "[89abAB]"),
}


def fits(form: str, text: str) -> bool:
    """Return True if the text is of that format. An unknown format fits every text."""
    known = _FORMATS.get(form.replace("-", ""))
    return known is None or known(text)
