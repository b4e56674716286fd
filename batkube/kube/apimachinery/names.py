"""The rules for names, labels and keys, in the real server's words (k8s.io/apimachinery/pkg/util/validation).

Each function returns what is wrong with a value: nothing if it is valid.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache

from .status import quote

Problems = tuple[str, ...]
NameRule = Callable[[str], Problems]

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_QUALIFIED})?"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_LABEL_RE = re.compile(_LABEL)
_LABEL_1035_RE = re.compile(_LABEL_1035)
_SUBDOMAIN_RE = re.compile(_SUBDOMAIN)
_UNDERSCORED_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_UNDERSCORED = rf"{_UNDERSCORED_LABEL}(\.{_UNDERSCORED_LABEL})*"
_UNDERSCORED_RE = re.compile(_UNDERSCORED)
_QUALIFIED_RE = re.compile(_QUALIFIED)
_LABEL_VALUE_RE = re.compile(_LABEL_VALUE)
_CONFIG_KEY_RE = re.compile(_CONFIG_KEY)
_PORT_CHARS_RE = re.compile(r"[-a-z0-9]+")
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_HTTP_PATH_RE = re.compile(_HTTP_PATH)
_WILDCARD = rf"\*\.{_SUBDOMAIN}"
_WILDCARD_RE = re.compile(_WILDCARD)
_ENV_NAME_RE = re.compile(r"[ -<>-~]+")
_DIGITS_RE = re.compile(r"[0-9]{1,4}", re.ASCII)
_DOTTED_RE = re.compile(r"[0-9]{1,8}(\.[0-9]{1,8}){3}", re.ASCII)
_WHOLE_NUMBER_RE = re.compile(r"0|-?[1-9][0-9]*")
_GO_NUMBER_RE = re.compile(r"[-+]?[0-9]+")

LABEL_WRONG = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
    f"with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
SUBDOMAIN_WRONG = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
    f"and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_UNDERSCORED_WRONG = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
    f"start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_UNDERSCORED}')"
)
LABEL_1035_WRONG = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    f"'{_LABEL_1035}')"
)
_QUALIFIED_WRONG = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
_VALUE_WRONG = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation "
    f"is '{_LABEL_VALUE}')"
)
_CONFIG_KEY_WRONG = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  "
    f"or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
_WILDCARD_WRONG = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
    f"regex used for validation is '{_WILDCARD}')"
)
_ENV_NAME_WRONG = "a valid environment variable name must consist only of printable ASCII characters other than '='"
IP_WRONG = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
CIDR_WRONG = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"


def too_long(limit: int) -> str:
    return f"must be no more than {limit} characters"


def too_many_bytes(limit: int) -> str:
    return f"must be no more than {limit} bytes"


def out_of_range(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


@lru_cache(maxsize=16384)
def dns_label(value: str) -> Problems:
    """Check a lowercase RFC 1123 label of at most 63 characters."""
    problems = []
    if len(value) > 63:
        problems.append(too_long(63))
    if not _LABEL_RE.fullmatch(value):
        subdomain_like = _SUBDOMAIN_RE.fullmatch(value)
        problems.append("must not contain dots" if subdomain_like else LABEL_WRONG)
    return tuple(problems)


@lru_cache(maxsize=16384)
def dns_subdomain(value: str) -> Problems:
    """Check a lowercase RFC 1123 subdomain of at most 253 characters."""
    problems = []
    if len(value) > 253:
        problems.append(too_long(253))
    if not _SUBDOMAIN_RE.fullmatch(value):
        problems.append(SUBDOMAIN_WRONG)
    return tuple(problems)


def underscored_subdomain(value: str) -> Problems:
    """Check a subdomain that may have underscores, as names in the DNS have them
    (`IsDNS1123SubdomainWithUnderscore`).
    """
    problems = []
    if len(value) > 253:
        problems.append(too_long(253))
    if not _UNDERSCORED_RE.fullmatch(value):
        problems.append(_UNDERSCORED_WRONG)
    return tuple(problems)


def dns_1035_label(value: str) -> Problems:
    """Check a label that begins with a letter, of at most 63 characters: versions, plurals."""
    problems = []
    if len(value) > 63:
        problems.append(too_long(63))
    if not _LABEL_1035_RE.fullmatch(value):
        problems.append(LABEL_1035_WRONG)
    return tuple(problems)


@lru_cache(maxsize=16384)
def qualified_name(value: str) -> Problems:
    """Check the key of a label, an annotation, a taint or a resource: a name, which may follow a DNS subdomain."""
    problems: list[str] = []
    prefix, slash, name = value.rpartition("/")
    if value.count("/") > 1:
        optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return (f"a valid label key {_QUALIFIED_WRONG} {optional}",)
    if slash:
        if not prefix:
            problems.append("prefix part must be non-empty")
        else:
            problems.extend(f"prefix part {problem}" for problem in dns_subdomain(prefix))
    if not name:
        problems.append("name part must be non-empty")
    elif len(name) > 63:
        problems.append("name part " + too_many_bytes(63))
    if not _QUALIFIED_RE.fullmatch(name):
        problems.append("name part " + _QUALIFIED_WRONG)
    return tuple(problems)


@lru_cache(maxsize=16384)
def label_value(value: str) -> Problems:
    """Check the value of a label: at most 63 characters, may be empty."""
    problems = []
    if len(value) > 63:
        problems.append(too_many_bytes(63))
    if not _LABEL_VALUE_RE.fullmatch(value):
        problems.append(_VALUE_WRONG)
    return tuple(problems)


def path_segment(value: str) -> Problems:
    """Check a text that stands between slashes of a path: names of RBAC objects."""
    if value in (".", ".."):
        return (f"may not be '{value}'",)
    return tuple(f"may not contain '{sign}'" for sign in "/%" if sign in value)


def config_key(value: str) -> Problems:
    """Check a key of a config map or a secret."""
    problems = []
    if len(value) > 253:
        problems.append(too_long(253))
    if not _CONFIG_KEY_RE.fullmatch(value):
        problems.append(_CONFIG_KEY_WRONG)
    elif value == ".":
        problems.append("must not be '.'")
    elif value == "..":
        problems.append("must not be '..'")
    elif value.startswith(".."):
        problems.append("must not start with '..'")
    return tuple(problems)


def environment_name(value: str) -> Problems:
    """Check the name of an environment variable."""
    return () if _ENV_NAME_RE.fullmatch(value) else (_ENV_NAME_WRONG,)


def port_name(value: str) -> Problems:
    """Check the name of a port: an IANA service name."""
    problems = []
    if len(value) > 15:
        problems.append(too_long(15))
    if not _PORT_CHARS_RE.fullmatch(value):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search("[a-z]", value):
        problems.append("must contain at least one letter (a-z)")
    if "--" in value:
        problems.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return tuple(problems)


def port_number(value: int) -> Problems:
    return () if 1 <= value <= 65535 else (out_of_range(1, 65535),)


def whole_number(value: str) -> Problems:
    """Check a number of 64 bits as people write it, and as Go reads it: no plus, no leading zeros."""
    problems = []
    if not value:
        problems.append("must be non-empty")
    elif not _WHOLE_NUMBER_RE.fullmatch(value):
        problems.append("must be a valid decimal integer in canonical form")
    if not _GO_NUMBER_RE.fullmatch(value):
        problems.append(f"strconv.ParseInt: parsing {quote(value)}: invalid syntax")
    elif not -(1 << 63) <= int(value) < 1 << 63:
        problems.append(f"strconv.ParseInt: parsing {quote(value)}: value out of range")
    return tuple(problems)


def http_path(value: str) -> Problems:
    """Check the path of a URL by RFC 3986."""
    return () if _HTTP_PATH_RE.fullmatch(value) else (f"Invalid path (regex used for validation is '{_HTTP_PATH}')",)


def wildcard_subdomain(value: str) -> Problems:
    """Check a DNS subdomain with `*.` before it."""
    wrong = () if _WILDCARD_RE.fullmatch(value) else (_WILDCARD_WRONG,)
    return (too_long(253), *wrong) if len(value) > 253 else wrong


def full_domain_name(value: str) -> Problems:
    """Check a DNS name of at least two labels, which may end with a dot."""
    name = value.removesuffix(".")
    if problems := dns_subdomain(name):
        return (",".join(problems),)
    labels = name.split(".")
    if len(labels) < 2:
        return ("should be a domain with at least two segments separated by dots",)
    wrong = next((problems for label in labels if (problems := dns_label(label))), ())
    return (",".join(wrong),) if wrong else ()


@lru_cache(maxsize=16384)
def ip_address(value: str) -> Problems:
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return ("must not have leading 0s",) if _without_zeros(value) != value else (IP_WRONG,)
    if address.version == 4:
        return ()
    if "%" in value:
        return (IP_WRONG,)
    return ("must not be an IPv4-mapped IPv6 address",) if address.ipv4_mapped else ()


@lru_cache(maxsize=4096)
def cidr(value: str) -> Problems:
    place, _, length = value.partition("/")
    plain = f"{_without_zeros(place)}/{int(length) if _DIGITS_RE.fullmatch(length) else 'x'}"
    try:
        interface = ipaddress.ip_interface(plain)
    except ValueError:
        return (CIDR_WRONG,)
    if "%" in place:
        return (CIDR_WRONG,)
    if plain != value:
        return ("must not have leading 0s in IP or prefix length",)
    if interface.version == 6 and interface.ip.ipv4_mapped:
        return ("must not have an IPv4-mapped IPv6 address",)
    if interface.ip != interface.network.network_address:
        return ("must not have bits set beyond the prefix length",)
    return ()


def _without_zeros(value: str) -> str:
    """Return an IPv4 address without leading zeros in its numbers. Return other values unchanged."""
    if not _DOTTED_RE.fullmatch(value):
        return value
    numbers = [int(part) for part in value.split(".")]
    return ".".join(map(str, numbers)) if max(numbers) < 256 else value
