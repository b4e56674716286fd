"""Makes openapi.json.xz: the OpenAPI v3 schemas of all kinds, with their descriptions, and the query parameters of
each verb.

Source: `api/openapi-spec/v3/*.json` of the module k8s.io/kubernetes. There each API version's document repeats the
schemas it shares with others; here each is kept once. Paths are left out: they follow from resources.json.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

_PODS = "/api/v1/namespaces/{namespace}/pods"


def generate(modules: Iterable[Path], target: Path) -> None:
    """`modules` are the folders of k8s.io/kubernetes, of which the first that has a schema counts."""
    schemas: JSON = {}
    parameters: JSON = {}
    for module in modules:
        folder = module / "api/openapi-spec/v3"
        core = json.loads((folder / "api__v1_openapi.json").read_text())
        if not parameters:
            parameters = _parameters(core["paths"])
        for document in (core, *(json.loads(file.read_text()) for file in sorted(folder.glob("*.json")))):
            for name, schema in document.get("components", {}).get("schemas", {}).items():
                schemas.setdefault(name, schema)
    content = json.dumps({"parameters": parameters, "schemas": schemas}, sort_keys=True, separators=(",", ":"))
    target.write_bytes(lzma.compress(content.encode(), preset=9))


def _parameters(paths: JSON) -> JSON:
    """The query parameters by verb: those of pods, which are those of all kinds."""
    one, many = paths[_PODS + "/{name}"], paths[_PODS]
    operations = {
        "delete": one["delete"],
        "deletecollection": many["delete"],
        "list": many["get"],
        "patch": one["patch"],
        "create": many["post"],
        "update": one["put"],
    }
    return {verb: operation["parameters"] for verb, operation in operations.items()}
