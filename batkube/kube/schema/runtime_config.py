"""The API versions that discovery shows, chosen as with kube-apiserver's `--runtime-config`.

All versions are served here (`resources.py`). The choice is for clients that ask what there is, such as kubectl.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .booleans import read_booleans

OPTION = "--runtime-config"

_STAGES = {None: "api/ga", "beta": "api/beta", "alpha": "api/alpha"}
_VERSION = re.compile(r"v\d+(?:(?P<stage>alpha|beta)\d+)?")
_KEY = re.compile(r"api/(?:all|ga|beta|alpha)|(?:[a-z0-9.-]+/)?v\d+(?:(?:alpha|beta)\d+)?(?:/[a-z]+)?")


class RuntimeConfigError(ValueError):
    """API versions that cannot be read. The text names the option and the words."""


def read_runtime_config(texts: Iterable[str]) -> dict[str, bool]:
    """Return the choices in `api/all=true,GROUP/VERSION=true,GROUP/VERSION/RESOURCE=false`.

    Raise RuntimeConfigError if the text is malformed.
    """
    try:
        choices = read_booleans(texts, default=True)
    except ValueError as error:
        raise RuntimeConfigError(f"{OPTION}: {error}") from None
    for key in choices:
        if not _KEY.fullmatch(key):
            raise RuntimeConfigError(
                f"{OPTION}: expected api/all, api/ga, api/beta, api/alpha, GROUP/VERSION or GROUP/VERSION/RESOURCE, "
                f"not {key!r}"
            )
    return choices


def chosen(choices: Mapping[str, bool], group: str, version: str, plural: str) -> bool | None:
    """Return True if a resource is to be shown; None if no choice is about it. The most specific choice counts."""
    api_version = f"{group}/{version}" if group else version
    found = _VERSION.fullmatch(version)
    keys = [f"{api_version}/{plural}", api_version]
    if found:
        keys.append(_STAGES[found["stage"]])
    return next((choices[key] for key in (*keys, "api/all") if key in choices), None)
