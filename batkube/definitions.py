"""The CustomResourceDefinitions that a server has from its start: files of YAML or JSON, several documents each."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from batkube.kube.server import ApiServer
from batkube.kube.status import ApiError
from batkube.kube.yaml_text import DocumentError, documents

JSON = dict[str, Any]

KIND, API_VERSION = "CustomResourceDefinition", "apiextensions.k8s.io/v1"
_SUFFIXES = (".yaml", ".yml", ".json")


class DefinitionError(ValueError):
    """A file of definitions cannot be used. The text names the file and the line."""


def define_all(server: ApiServer, paths: Iterable[Path]) -> None:
    """Load the definitions of files, and of the files in folders. Raises DefinitionError."""
    for path in paths:
        for file in _files(path):
            for line, definition in _definitions(file):
                try:
                    server.define(definition)
                except ApiError as refused:
                    raise DefinitionError(f"{file}, line {line}: {refused.message}") from None


def _files(path: Path) -> Sequence[Path]:
    if not path.is_dir():
        return (path,)
    files = sorted(file for file in path.iterdir() if file.suffix in _SUFFIXES)
    if not files:
        raise DefinitionError(f"{path}: no {', '.join(_SUFFIXES)} in that folder")
    return files


def _definitions(file: Path) -> Iterator[tuple[int, JSON]]:
    """Each with the line at which it begins."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DefinitionError(f"{file}: {error.strerror}") from None
    try:
        for line, document in documents(data):
            if document is None:
                continue
            given = document if isinstance(document, dict) else {}
            kind, version = given.get("kind"), given.get("apiVersion")
            if kind == f"{KIND}List" or (kind == "List" and version == "v1"):
                members = given.get("items") or []
            else:
                members = [given]
            for member in members:
                yield line, _checked(member, f"{file}, line {line}")
    except DocumentError as error:
        raise DefinitionError(f"{file}, line {error.line}: {error}") from None


def _checked(given: Any, where: str) -> JSON:
    kind, version = (given.get("kind"), given.get("apiVersion")) if isinstance(given, dict) else (None, None)
    if not isinstance(given, dict) or not kind:
        raise DefinitionError(f"{where}: expected a {KIND}, found no object with a kind")
    if kind != KIND or version != API_VERSION:
        raise DefinitionError(f"{where}: expected a {KIND} of {API_VERSION}, not a {kind} of {version}")
    return given
