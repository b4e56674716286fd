"""The Windows options of a pod: the user as whom it runs there (`validateWindowsSecurityContextOptions` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

import re
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_subdomain
from ...apimachinery.status import FieldError

JSON = dict[str, Any]

_MAX_SPEC_KIB, _MAX_DOMAIN, _MAX_USER = 64, 256, 104
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NETBIOS = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_DOTS_AND_SPACES = re.compile(r"[. ]+")
_FORBIDDEN = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def validate_windows_options(options: JSON | None, path: str) -> Errors:
    """Check the windowsOptions of a security context."""
    if options is None:
        return []
    errors: Errors = []
    if (name := options.get("gmsaCredentialSpecName")) is not None:
        errors += problems(f"{path}.gmsaCredentialSpecName", name, dns_subdomain(name))
    if (spec := options.get("gmsaCredentialSpec")) is not None:
        wrong = []
        if not spec:
            wrong = ["gmsaCredentialSpec cannot be an empty string"]
        elif len(spec.encode()) > _MAX_SPEC_KIB * 1024:
            wrong = [f"gmsaCredentialSpec size must be under {_MAX_SPEC_KIB} KiB"]
        errors += problems(f"{path}.gmsaCredentialSpec", spec, wrong)
    if (user := options.get("runAsUserName")) is not None:
        errors += [FieldError.invalid(f"{path}.runAsUserName", user, f"runAsUserName{why}") for why in _of_user(user)]
    return errors


def _of_user(name: str) -> list[str]:
    """Return what is wrong with a user's name, `DOMAIN\\USER` or `USER`."""
    if not name:
        return [" cannot be an empty string"]
    if _CONTROL.search(name):
        return [" cannot contain control characters"]
    if name.count("\\") > 1:
        return [" cannot contain more than one backslash"]
    domain, backslash, user = name.rpartition("\\")
    wrong = []
    if len(domain.encode()) >= _MAX_DOMAIN:
        wrong.append(f"'s Domain length must be under {_MAX_DOMAIN} characters")
    if backslash and not _NETBIOS.fullmatch(domain) and dns_subdomain(domain.lower()):
        wrong.append("'s Domain doesn't match the NetBios nor the DNS format")
    if not user:
        wrong.append("'s User cannot be empty")
    elif len(user.encode()) > _MAX_USER:
        wrong.append(f"'s User length must not be longer than {_MAX_USER} characters")
    if _DOTS_AND_SPACES.fullmatch(user):
        wrong.append("'s User cannot contain only periods or spaces")
    if _FORBIDDEN.search(user):
        wrong.append("'s User cannot contain the following characters: \"/\\:;|=,+*?<>@[]")
    return wrong
