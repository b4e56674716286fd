"""The documents that a server gives of itself: its version, its health, the resources it serves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..apimachinery.status import ApiError, TextError
from ..codec.answers import HttpAnswer, answer_object, answer_text
from ..codec.negotiation import JSON_TYPE, Accepted, parse_accept
from ..schema.resources import Registry
from ..verbs.request_options import Query
from . import groups as discovery
from . import openapi, openapi_v2, openid

JSON = dict[str, Any]

_PRETTY = Accepted(pretty=True)  # as the real server writes this document, whoever asks

HEALTH = frozenset(("healthz", "livez", "readyz"))
HEALTH_CHECKS = frozenset(("ping", "log", "etcd", "poststarthook"))


class Documents:
    """The answers to requests for paths that name no resource."""

    def __init__(
        self, registry: Registry, version: str, metrics: Callable[[], str], issuer: openid.IssuerDocuments
    ) -> None:
        """Create the documents; `metrics` returns the text of /metrics."""
        self._registry = registry
        self._version = version
        self._metrics = metrics
        self._issuer = issuer

    def __call__(self, parts: list[str], method: str, accept: str, query: Query) -> HttpAnswer:
        first = parts[0]
        if first in HEALTH:
            if len(parts) > 1 and parts[1] not in HEALTH_CHECKS:
                raise TextError.page_not_found()
            if "verbose" in query:
                return answer_text(200, f"[+]ping ok\n{first} check passed\n")
            return answer_text(200, "ok")
        if first == "version" and len(parts) == 1:
            self._only_get(method)
            self._only_as(JSON_TYPE, accept)
            return answer_object(200, version_info(self._version), _PRETTY)
        if (path := f"/{'/'.join(parts)}") in openid.TYPES:
            self._only_get(method)
            self._only_as(openid.TYPES[path], accept)
            return self._issuer.answer(path)
        if parts == [""]:
            self._only_get(method)
            return answer_object(200, {"paths": self._paths()})
        if first == "metrics" and len(parts) == 1:
            return answer_text(200, self._metrics())
        if first in ("api", "apis") and len(parts) <= 3:
            if parts != ["apis"]:  # which is read by whichever method
                self._only_get(method)
            return discovery.answer(self._registry, parts, accept)
        if first == "openapi" and len(parts) > 1:
            if parts == ["openapi", "v2"]:  # which is read by whichever method
                return openapi_v2.answer(self._registry, accept)
            self._only_get(method)
            return openapi.answer(self._registry, parts, accept, query)
        raise TextError.page_not_found()

    def _paths(self) -> list[str]:
        """Return the paths that can be read."""
        paths = ["/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
        paths += openid.TYPES
        for group in self._registry.groups():
            root = f"/apis/{group}" if group else "/api"
            paths += [root] if group else []
            paths += [f"{root}/{version}" for version in self._registry.versions(group)]
        return sorted(paths)

    @staticmethod
    def _only_get(method: str) -> None:
        if method != "GET":
            raise ApiError.method_not_allowed()

    @staticmethod
    def _only_as(media_type: str, accept: str) -> None:
        if accept and not any(clause.media_type in ("*/*", media_type) for clause in parse_accept(accept)):
            message = f"406: Not Acceptable\n\nAvailable representations: {media_type}"
            raise ApiError(406, "NotAcceptable", message, {})


def version_info(version: str) -> JSON:
    """Return the body of /version. Schedulers choose their features by major and minor."""
    major, minor, *_ = version.removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": version,
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "gc",
        "platform": "linux/amd64",
    }
