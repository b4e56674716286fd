"""The objects that mutations and patches start from."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from batkube.kube.schema.resources import default_registry

JSON = dict[str, Any]

FILE = Path(__file__).with_name("objects.yaml")


class Base(NamedTuple):
    """An object that is valid, and where objects of its kind are created."""

    name: str  # kind and name, in words of a command line
    collection: str
    object: JSON

    @property
    def path(self) -> str:
        return f"{self.collection}/{self.object['metadata']['name']}"


def read_objects(kinds: list[str] | None = None) -> list[Base]:
    """All of them, or those of the kinds. ValueError where a kind is unknown."""
    registry = default_registry()
    bases = []
    for document in yaml.load_all(FILE.read_text(), yaml.CSafeLoader):
        resource = registry.by_kind(document["apiVersion"], document["kind"])
        assert resource is not None, document["kind"]
        root = f"/apis/{document['apiVersion']}" if "/" in document["apiVersion"] else f"/api/{document['apiVersion']}"
        scope = "/namespaces/default" if resource.namespaced else ""
        name = f"{document['kind']}/{document['metadata']['name']}"
        bases.append(Base(name, f"{root}{scope}/{resource.plural}", document))
    if kinds is None:
        return bases
    known = {base.object["kind"].lower() for base in bases}
    if unknown := sorted({kind.lower() for kind in kinds} - known):
        raise ValueError(f"no object of kind {', '.join(unknown)} in {FILE.name}")
    return [base for base in bases if base.object["kind"].lower() in {kind.lower() for kind in kinds}]
