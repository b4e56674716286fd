"""What a server has from its start: CustomResourceDefinitions and other objects, in files of YAML or JSON with several
documents each.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from batkube.kube.custom import old_definitions
from batkube.kube.server import ApiServer
from batkube.kube.status import ApiError
from batkube.kube.yaml_text import DocumentError, documents

JSON = dict[str, Any]

KIND, API_VERSION = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
_SUFFIXES = (".yaml", ".yml", ".json")


class ManifestError(ValueError):
    """A file cannot be used. The text names the file and the line."""


def define_all(server: ApiServer, paths: Iterable[Path]) -> None:
    """Load the definitions of files, and of the files in folders. Raises ManifestError."""
    for where, given in _manifests(paths):
        kind, version = given.get("kind"), given.get("apiVersion")
        if not kind:
            raise ManifestError(f"{where}: expected a {KIND}, found no object with a kind")
        if kind != KIND or version not in (API_VERSION, old_definitions.API_VERSION):
            raise ManifestError(f"{where}: expected a {KIND} of {API_VERSION}, not a {kind} of {version}")
        try:
            server.define(given if version == API_VERSION else old_definitions.modernized(given))
        except ApiError as refused:
            raise ManifestError(f"{where}: {refused.message}") from None


def create_all(server: ApiServer, paths: Iterable[Path]) -> None:
    """Create the objects of files, and of the files in folders, in their order. Raises ManifestError."""
    for where, given in _manifests(paths):
        kind, version = given.get("kind"), given.get("apiVersion")
        if not kind or not version:
            raise ManifestError(f"{where}: expected an object with a kind and an apiVersion")
        try:
            server.provide(given)
        except ApiError as refused:
            raise ManifestError(f"{where}: {kind}: {refused.message}") from None


def files_of(path: Path) -> Sequence[Path]:
    """The file itself, or those in a folder, in order of their names. Raises ManifestError for a folder without any."""
    if not path.is_dir():
        return (path,)
    files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    if not files:
        raise ManifestError(f"{path}: no {', '.join(_SUFFIXES)} in that folder")
    return files


def _manifests(paths: Iterable[Path]) -> Iterator[tuple[str, JSON]]:
    """Each object, those of lists one by one, with the file and the line at which its document begins."""
    for file in (file for path in paths for file in files_of(path)):
        try:
            data = file.read_bytes()
        except OSError as error:
            raise ManifestError(f"{file}: {error.strerror}") from None
        try:
            for line, document in documents(data):
                if document is None:
                    continue
                for member in _members(document):
                    yield f"{file}, line {line}", member if isinstance(member, dict) else {}
        except DocumentError as error:
            raise ManifestError(f"{file}, line {error.line}: {error}") from None


def _members(document: Any) -> Sequence[Any]:
    """What a list lists: a List, or one of definitions (``kubectl get -o yaml``)."""
    kind, version = (document.get("kind"), document.get("apiVersion")) if isinstance(document, dict) else (None, None)
    if kind == f"{KIND}List" or (kind == "List" and version == "v1"):
        return document.get("items") or ()
    return (document,)
