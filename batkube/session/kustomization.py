"""Folders with a kustomization.yaml, as far as it only lists files: what changes them is kustomize's, and refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from batkube.kube.codec.yaml_text import YamlError, first_document
from batkube.named_file import read_named

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_LISTS = ("resources", "bases")
_KNOWN = (*_LISTS, "apiVersion", "kind", "metadata", "crds")  # crds: schemas for what changes resources


class KustomizationError(ValueError):
    """The file cannot be followed. The text names the file and the field."""


def kustomization_of(path: Path) -> Path | None:
    """Return the kustomization that a folder has, or the path where it is one itself."""
    if not path.is_dir():
        return path if path.name in NAMES else None
    return next((file for name in NAMES if (file := path / name).is_file()), None)


def resources_of(file: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Return the files that it lists, those of other folders' kustomizations included. Raises KustomizationError."""
    here = file.resolve()
    if here in above:
        raise KustomizationError(f"{file}: resources: a kustomization that lists itself")
    for name in _listed(file):
        path = file.parent / name
        if "://" in name or name.startswith(("github.com/", "git@")):
            raise KustomizationError(f"{file}: resources: {name}: only files and folders of this machine are read")
        if not path.is_dir():
            yield path
            continue
        inner = kustomization_of(path)
        if inner is None:
            raise KustomizationError(f"{file}: resources: {name}: no {NAMES[0]} in that folder")
        yield from resources_of(inner, (*above, here))


def _listed(file: Path) -> Iterator[str]:
    try:
        content: Any = first_document(read_named(file)) or {}
    except OSError as error:
        raise KustomizationError(f"{file}: {error.strerror}") from None
    except YamlError as error:
        raise KustomizationError(f"{file}, line {error.line}: no YAML: {error.why}") from None
    if not isinstance(content, dict):
        raise KustomizationError(f"{file}: expected a Kustomization")
    if others := [name for name, value in content.items() if name not in _KNOWN and value]:
        kustomized = "give what `kubectl kustomize` makes of it"
        raise KustomizationError(f"{file}: {', '.join(others)}: only resources are read ({kustomized})")
    for field in _LISTS:
        names = content.get(field) or []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise KustomizationError(f"{file}: {field}: expected a list of files")
        yield from names
