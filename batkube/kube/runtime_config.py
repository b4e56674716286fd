"""Which API versions discovery shows, as kube-apiserver's `--runtime-config` says which it serves.

All versions are served here (`resources.py`); this is for clients that ask what there is, such as kubectl.
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
    """What was said of API versions cannot be read. The text names the option and the words."""


def read_runtime_config(texts: Iterable[str]) -> dict[str, bool]:
    """The choices in `api/all=true,GROUP/VERSION=true,GROUP/VERSION/RESOURCE=false`. Raises RuntimeConfigError."""
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
    """Whether a resource is to be shown; None where nothing is said of it. The more special word counts."""
    api_version = f"{group}/{version}" if group else version
    found = _VERSION.fullmatch(version)
    keys = [f"{api_version}/{plural}", api_version]
    if found:
        keys.append(_STAGES[found["stage"]])
    return next((choices[key] for key in (*keys, "api/all") if key in choices), None)
