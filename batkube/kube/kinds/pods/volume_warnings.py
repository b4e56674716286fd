"""The warnings of the API server about the volumes of a pod: files at the same path
(`warningsForOverlappingVirtualPaths` in `pkg/api/pod/warnings.go`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...apimachinery.status import quote

JSON = dict[str, Any]


class _File(NamedTuple):
    path: str
    source: str

    def __str__(self) -> str:
        return f"{quote(self.path)} ({self.source})" if self.source else quote(self.path)


def overlaps_in(volumes: Iterable[JSON]) -> Iterator[str]:
    """Yield the warnings of all volumes, in the real server's order."""
    for volume in volumes:
        name = quote(volume.get("name", ""))
        for key, field, kind in (
            ("configMap", "name", "ConfigMap"),
            ("secret", "secretName", "Secret"),
            ("downwardAPI", "", "DownwardAPI"),
        ):
            source = volume.get(key)
            if source is not None:
                what = f"{kind} {quote(source.get(field, ''))}" if field else kind
                files = [_File(item.get("path", ""), "") for item in source.get("items") or ()]
                yield from _overlaps(files, f"volume {name} ({what})")
        if (projected := volume.get("projected")) is not None:
            sources = projected.get("sources") or []
            yield from (f"volume {name} (Projected) has no sources provided" for source in sources if not _says(source))
            files = [file for source in sources for file in _projected(source)]
            yield from _overlaps(files, f"volume {name} (Projected)")


def _says(source: JSON | None) -> bool:
    return any(value is not None for value in (source or {}).values())


def _projected(source: JSON | None) -> Iterator[_File]:
    """Yield the files of the first source that has any."""
    source = source or {}
    for key, kind in (("configMap", "ConfigMap"), ("secret", "Secret"), ("downwardAPI", "DownwardAPI")):
        projection = source.get(key)
        if projection is not None and projection.get("items"):
            what = kind if key == "downwardAPI" else f"{kind} {quote(projection.get('name', ''))}"
            yield from (_File(item.get("path", ""), what) for item in projection["items"])
            return
    if (token := source.get("serviceAccountToken")) is not None:
        yield _File(token.get("path", ""), "ServiceAccountToken")
    elif (bundle := source.get("clusterTrustBundle")) is not None:
        name = bundle.get("name") if bundle.get("name") is not None else bundle.get("signerName", "")
        yield _File(bundle.get("path", ""), f"ClusterTrustBundle {quote(name)}")
    elif (certificate := source.get("podCertificate")) is not None:
        for field, what in (
            ("certificateChainPath", "chain"),
            ("keyPath", "key"),
            ("credentialBundlePath", "credential bundle"),
        ):
            if certificate.get(field):
                yield _File(certificate[field], f"PodCertificate {what}")


def _overlaps(files: Iterable[_File], where: str) -> Iterator[str]:
    before: list[_File] = []
    for each in files:
        file = each._replace(path=each.path.rstrip("/"))
        for other in before:
            if file.path and other.path and _within(file.path, other.path):
                yield f"{where}: overlapping paths: {file} with {other}"
        before.append(file)


def _within(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
