"""The objects that a server has from its start: CustomResourceDefinitions and others.

They are in files of YAML or JSON with several documents each.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from batkube.api_settings import ApiSettings
from batkube.kube.apimachinery.lists import members
from batkube.kube.codec.yaml_text import YamlError, documents
from batkube.kube.custom import old_definitions
from batkube.kube.in_process.given import NotTaken
from batkube.kube.server import ApiServer
from batkube.named_file import read_named
from batkube.session.kustomization import NAMES as KUSTOMIZATIONS
from batkube.session.kustomization import KustomizationError, kustomization_of, resources_of

JSON = dict[str, Any]

KIND, API_VERSION = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
_SUFFIXES = (".yaml", ".yml", ".json")


class ManifestError(ValueError):
    """A file cannot be used. The text names the file and the line."""


class Manifest(NamedTuple):
    """An object, and the file and the line at which its document begins."""

    where: str
    obj: JSON


def define_all(server: ApiServer, paths: Iterable[Path]) -> list[str]:
    """Load the definitions of files, and of the files in folders. Return what to warn of. Raises ManifestError."""
    warnings: list[str] = []
    manifests = list(_manifests(paths, warnings))
    for where, given in manifests:
        kind, version = given.get("kind"), given.get("apiVersion")
        if not kind:
            raise ManifestError(f"{where}: expected a {KIND}, found no object with a kind")
        if kind != KIND or version not in (API_VERSION, old_definitions.API_VERSION):
            raise ManifestError(f"{where}: expected a {KIND} of {API_VERSION}, not a {kind} of {version}")
    return warnings + _provide(server, manifests, named=False)


def create_all(server: ApiServer, paths: Iterable[Path]) -> list[str]:
    """Create the objects of files, and of the files in folders, in whatever order it can be done. Return what to warn
    of. Raises ManifestError.
    """
    warnings: list[str] = []
    manifests = list(_manifests(paths, warnings))
    for where, given in manifests:
        if not isinstance(given.get("kind"), str) or not isinstance(given.get("apiVersion"), str):
            raise ManifestError(f"{where}: expected an object with a kind and an apiVersion")
    return warnings + _provide(server, manifests, named=True)


def _provide(server: ApiServer, manifests: Sequence[Manifest], *, named: bool) -> list[str]:
    try:
        told = server.provide([manifest.obj for manifest in manifests])
    except NotTaken as refused:
        where, given = manifests[refused.index]
        kind = f"{given['kind']}: " if named else ""
        raise ManifestError(f"{where}: {kind}{refused}") from None
    return [f"{manifests[index].where}: {text}" for index, text in told]


def given_files(api: ApiSettings) -> list[Path]:
    """Return the files with definitions and other objects. Raises ManifestError."""
    return [file for path in (*api.definitions, *api.objects) for file in files_of(path)]


def files_of(path: Path) -> Sequence[Path]:
    """Return the file itself, or those in a folder: what its kustomization lists, else all in order of their names.

    Raises ManifestError for a folder without any.
    """
    if (kustomization := kustomization_of(path)) is not None:
        try:
            return (kustomization, *resources_of(kustomization))
        except KustomizationError as error:
            raise ManifestError(str(error)) from None
    if not path.is_dir():
        return (path,)
    files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    if not files:
        raise ManifestError(f"{path}: no {', '.join(_SUFFIXES)} in that folder")
    return files


def _manifests(paths: Iterable[Path], warnings: list[str]) -> Iterator[Manifest]:
    """Yield each object, those of lists one by one."""
    for file in (file for path in paths for file in files_of(path)):
        yield from read_manifests(file, warnings)


def read_manifests(file: Path, warnings: list[str], data: bytes | None = None) -> Iterator[Manifest]:
    """Yield each object of a file, or of ``data``; none of a kustomization. Raises ManifestError."""
    if file.name in KUSTOMIZATIONS:
        return
    try:
        data = read_named(file) if data is None else data
    except OSError as error:
        raise ManifestError(f"{file}: {error.strerror}") from None
    twice: list[str] = []
    try:
        for line, document in documents(data, twice):
            if document is None:
                continue
            for member in _members(document):
                yield Manifest(f"{file}, line {line}", member if isinstance(member, dict) else {})
    except YamlError as error:
        raise ManifestError(f"{file}, line {error.line}: no YAML: {error.why}") from None
    warnings += [f"{file}, {each}" for each in twice]


def _members(document: Any) -> Iterator[Any]:
    """Yield the items of a list, and of the lists in it."""
    if not isinstance(document, dict):
        yield document
        return
    if document.get("items") is None and document.get("kind") in ("List", f"{KIND}List"):
        return
    for member in members(document):
        yield from (member,) if member is document else _members(member)
