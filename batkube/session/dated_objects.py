"""Manifests among the workloads: objects that are created through the API, each at its date."""

import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from batkube.bridge.arrivals import DatedObject
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.apimachinery.times import unix_seconds
from batkube.kube.server import ApiServer
from batkube.results.run import ImportedFile, input_file
from batkube.session.manifests import Manifest, ManifestError, files_of, read_manifests
from batkube.startup.dates import read_date
from batkube.workloads.formats import MANIFESTS, reader_for
from batkube.workloads.reader import Reader
from batkube.workloads.source import Source

JSON = dict[str, Any]

CREATED_AT = "batkube.io/created-at"
"""The annotation with the date."""
STANDARD_INPUT = Path("-")
_INVALID = (400, 422)


@dataclass
class DatedObjects:
    """The objects of a run that have dates."""

    objects: list[DatedObject] = field(default_factory=list)
    files: list[ImportedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def reader_of(path: Path, form: str | None) -> Reader | None:
    """Return the reader of a workload; None for manifests: a folder, standard input, a file. Raises WorkloadError."""
    if path == STANDARD_INPUT or path.is_dir():
        return None
    reader = reader_for(Source(path), form)
    return None if reader.name == MANIFESTS else reader


def read_dated(paths: Sequence[Path], schedule: Path | None, epoch: float) -> DatedObjects:
    """Read the objects. ``epoch``: Unix seconds at simulated second 0. Raises ManifestError, StartupError and OSError.

    What the schedule says of an object goes before what it says itself.
    """
    found = DatedObjects()
    manifests: list[Manifest] = []
    for path in paths:
        files = [path] if path == STANDARD_INPUT else list(files_of(path))
        for file in files:
            data = sys.stdin.buffer.read() if path == STANDARD_INPUT else None
            several = [each for each in read_manifests(file, found.warnings, data) if _comes(each, found)]
            manifests += several
            record = input_file(file) if data is None else None
            digest = record.sha256 if record is not None else hashlib.sha256(data or b"").hexdigest()
            found.files.append(ImportedFile(path=str(file), sha256=digest, format=MANIFESTS, jobs=len(several)))
    planned: dict[int, float] = {}
    if schedule is not None:
        from batkube.session.schedule import planned_dates  # most have none

        planned = planned_dates(schedule, [each.obj for each in manifests], epoch)
    others = [(index, each) for index, each in enumerate(manifests) if index not in planned]
    first = min((_unix(each, stamp) for _, each in others if (stamp := _stamp(each))), default=0.0)
    dates = planned | {index: _date(each, epoch, first) for index, each in others}
    found.objects = [DatedObject(dates[index], each.where, _new(each.obj)) for index, each in enumerate(manifests)]
    return found


def check_dated(server: ApiServer, objects: Sequence[DatedObject]) -> list[str]:
    """Let the server look at the objects before anything begins; what to warn of. Raises ManifestError."""
    warnings: list[str] = []
    for dated in objects:
        try:
            warnings += [f"{dated.where}: {text}" for text in server.submit(dated.obj, dry_run=True)]
        except ApiError as error:
            if error.code in _INVALID or server.registry.by_kind(dated.obj["apiVersion"], dated.obj["kind"]) is None:
                raise ManifestError(f"{dated.where}: {dated.obj['kind']}: {error.message}") from None
    return warnings


def _comes(manifest: Manifest, found: DatedObjects) -> bool:
    """Tell whether an object is to be created. Raises ManifestError."""
    obj = manifest.obj
    if not isinstance(obj.get("kind"), str) or not isinstance(obj.get("apiVersion"), str):
        raise ManifestError(f"{manifest.where}: expected an object with a kind and an apiVersion")
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        raise ManifestError(f"{manifest.where}: {obj['kind']}: metadata: missing")
    if obj["kind"] == "Node":
        found.warnings.append(f"{manifest.where}: nodes are those of the platform (-p): left out")
        return False
    owners = metadata.get("ownerReferences")
    if any(isinstance(owner, dict) and owner.get("controller") for owner in owners or ()):
        text = "objects that a controller has made are left out: it makes them again"
        if text not in found.warnings:
            found.warnings.append(text)
        return False
    return True


def _stamp(manifest: Manifest) -> str | None:
    """Return the date at which another cluster got the object, where nothing else is said."""
    metadata = manifest.obj["metadata"]
    stamp = metadata.get("creationTimestamp")
    return None if CREATED_AT in (metadata.get("annotations") or {}) or not stamp else str(stamp)


def _date(manifest: Manifest, epoch: float, first: float) -> float:
    """Return the simulated second at which an object comes. Raises ManifestError."""
    text = (manifest.obj["metadata"].get("annotations") or {}).get(CREATED_AT)
    if text is None:
        stamp = _stamp(manifest)
        return 0.0 if stamp is None else round(_unix(manifest, stamp) - first, 6)
    try:
        return read_date(str(text), epoch)
    except ValueError as error:
        raise ManifestError(f"{manifest.where}: {CREATED_AT}: {error}") from None


def _unix(manifest: Manifest, stamp: str) -> float:
    try:
        return unix_seconds(stamp)
    except ValueError:
        raise ManifestError(f"{manifest.where}: metadata.creationTimestamp: {stamp!r} is no date") from None


def _new(obj: JSON) -> JSON:
    """Return an object as it was when it was created: without a status; a pod that had got a node since, without."""
    new = {name: value for name, value in obj.items() if name != "status"}
    spec = obj.get("spec")
    if obj["kind"] == "Pod" and obj.get("status") and isinstance(spec, dict):
        new["spec"] = {name: value for name, value in spec.items() if name != "nodeName"}
    return new
