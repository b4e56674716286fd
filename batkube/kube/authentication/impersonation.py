"""Impersonation: the Impersonate-* headers of `kubectl --as` (`pkg/endpoints/filters/impersonation` of
k8s.io/apiserver).

A known user may impersonate others, as such a user may do everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from ..apimachinery.names import dns_label, dns_subdomain
from ..apimachinery.status import ApiError, quote
from ..apimachinery.users import ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User, service_account_groups

PREFIX = b"impersonate-"
_EXTRA = "extra-"
_SERVICE_ACCOUNT = re.compile(r"system:serviceaccount:([^:]*):([^:]*)")


def impersonated(headers: Iterable[tuple[bytes, bytes]]) -> User:
    """Return the user whom the headers name. At least one of them begins with PREFIX.

    Raise 400 if they name nobody.
    """
    name = uid = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for header, value in headers:
        if not header.startswith(PREFIX):
            continue
        what, text = header.removeprefix(PREFIX).decode("latin-1"), value.decode("latin-1")
        if what == "user":
            name = name or text
        elif what == "uid":
            uid = uid or text
        elif what == "group":
            groups.append(text)
        elif what.startswith(_EXTRA):
            extra.setdefault(unquote(what.removeprefix(_EXTRA)), []).append(text)
    if not name:
        if uid or groups or extra:
            raise ApiError.bad_request(f"requested {_shown(uid, groups, extra)} without impersonating a user name")
        return ANONYMOUS
    if not groups and (account := _SERVICE_ACCOUNT.fullmatch(name)):
        namespace, account_name = account.groups()
        if not dns_label(namespace) and not dns_subdomain(account_name):
            groups += service_account_groups(namespace)
    if UNAUTHENTICATED not in groups:
        if name == ANONYMOUS.name:
            groups.append(UNAUTHENTICATED)
        elif AUTHENTICATED not in groups:
            groups.append(AUTHENTICATED)
    return User(name, tuple(groups), uid, tuple((key, tuple(extra[key])) for key in sorted(extra)))


def _shown(uid: str, groups: list[str], extra: dict[str, list[str]]) -> str:
    """Return the user as Go prints it."""

    def listed(texts: list[str]) -> str:
        return ", ".join(map(quote, texts))

    of_groups = f"{{{listed(groups)}}}" if groups else "(nil)"
    pairs = ", ".join(f"{quote(key)}:[]string{{{listed(extra[key])}}}" for key in sorted(extra))
    of_extra = f"{{{pairs}}}" if extra else "(nil)"
    parts = f'Name:"", UID:{quote(uid)}, Groups:[]string{of_groups}, Extra:map[string][]string{of_extra}'
    return f"&user.DefaultInfo{{{parts}}}"
