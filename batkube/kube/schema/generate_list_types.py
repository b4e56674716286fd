"""The maker of list_types.json: the rules by which server-side apply merges lists and maps of the built-in kinds.

Source: api/openapi-spec/swagger.json of k8s.io/kubernetes (x-kubernetes-list-type, -list-map-keys, -map-type).

Format: `atomic` names the types that are one field as a whole. `fields` maps a type to its fields that do not merge by
their type alone: "atomic", "granular" though their type is atomic, "set", or the keys of a list of type map.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

PREFIXES = (
    ("io.k8s.api.", ""),
    ("io.k8s.apimachinery.pkg.apis.", ""),
    ("io.k8s.apiextensions-apiserver.pkg.apis.", ""),
    ("io.k8s.kube-aggregator.pkg.apis.", ""),
)


def generate(module: Path, target: Path) -> None:
    """Generate the merge rules of lists. `module` is the folder of k8s.io/kubernetes."""
    definitions: JSON = json.loads((module / "api/openapi-spec/swagger.json").read_text())["definitions"]
    atomic: list[str] = []
    fields: dict[str, JSON] = {}
    for name, definition in sorted(definitions.items()):
        short = short_name(name)
        if short is None:
            continue
        if definition.get("x-kubernetes-map-type") == "atomic":
            atomic.append(short)
        for field, schema in sorted(definition.get("properties", {}).items()):
            rule = _rule(schema)
            if rule is not None:
                fields.setdefault(short, {})[field] = rule
    rows = ",\n".join(
        f"{json.dumps(name)}:{json.dumps(rules, separators=(',', ':'))}" for name, rules in fields.items()
    )
    target.write_text('{"atomic":' + json.dumps(atomic) + ',\n"fields":{\n' + rows + "\n}}\n")


def _rule(schema: JSON) -> Any:
    if schema.get("x-kubernetes-map-type") == "atomic" or (
        schema.get("x-kubernetes-map-type") == "granular" and "$ref" in schema
    ):
        return schema["x-kubernetes-map-type"]
    list_type = schema.get("x-kubernetes-list-type")
    if list_type == "map":
        return schema["x-kubernetes-list-map-keys"]
    return "set" if list_type == "set" else None


def short_name(name: str) -> str | None:
    """Return the short name of a type: `core/v1.Pod` for `io.k8s.api.core.v1.Pod`."""
    for prefix, short in PREFIXES:
        if name.startswith(prefix):
            group, version, kind = name.removeprefix(prefix).rsplit(".", 2)
            return f"{short}{group}/{version}.{kind}"
    return None
