"""The maker of openapi.json.xz: the OpenAPI v3 schemas of all kinds, with their descriptions, and the query parameters
of each verb.

Source: `api/openapi-spec/v3/*.json` of the module k8s.io/kubernetes. There the document of each API version repeats the
schemas that it shares with others; here each is kept once. Paths are left out: they follow from resources.json.

These documents do not have the values of enumerations, which a server does publish (feature gate OpenAPIEnums). The
values are read from `pkg/generated/openapi/zz_generated.openapi.go`, with the descriptions that explain them.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

_PODS = "/api/v1/namespaces/{namespace}/pods"


def generate(modules: Iterable[Path], target: Path) -> None:
    """Generate the schemas. `modules` are folders of k8s.io/kubernetes; the first that has a schema counts."""
    schemas: JSON = {}
    parameters: JSON = {}
    for module in modules:
        folder = module / "api/openapi-spec/v3"
        core = json.loads((folder / "api__v1_openapi.json").read_text())
        if not parameters:
            parameters = _parameters(core["paths"])
        values = _enumerations((module / "pkg/generated/openapi/zz_generated.openapi.go").read_text())
        for document in (core, *(json.loads(file.read_text()) for file in sorted(folder.glob("*.json")))):
            for name, schema in document.get("components", {}).get("schemas", {}).items():
                if name not in schemas:
                    schemas[name] = _with_values(schema, values.get(_short(name), {}))
    content = json.dumps({"parameters": parameters, "schemas": schemas}, sort_keys=True, separators=(",", ":"))
    target.write_bytes(lzma.compress(content.encode(), preset=9))


def _parameters(paths: JSON) -> JSON:
    """Return the query parameters by verb. They are read from pods: all kinds have the same."""
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


# How deep the generated code has a type's properties, what is said of them, and of the items of those that are lists.
_TYPE = re.compile(r"^func schema_(\w+)\(ref ")
_PROPERTY = re.compile(r'^\t{5}"([^"]+)": \{$')
_DESCRIPTION = re.compile(r'^\t{7}Description: +(".*"),$')
_ENUM = re.compile(r"^(\t{7}|\t{10})Enum: +\[\]interface\{\}\{(.*)\},$")


def _enumerations(code: str) -> dict[str, dict[str, JSON]]:
    """Return the descriptions and the values of properties, by type (`core_v1_Toleration`) and property.

    `deep` is True if the values are those of the property's items.
    """
    found: dict[str, dict[str, JSON]] = {}
    its_type = its_property = description = ""
    for line in code.splitlines():
        if match := _TYPE.match(line):
            its_type, its_property = "_".join(match[1].rsplit("_", 3)[-3:]), ""
        elif match := _PROPERTY.match(line):
            its_property, description = match[1], ""
        elif match := _DESCRIPTION.match(line):
            description = json.loads(match[1])
        elif its_property and (match := _ENUM.match(line)):
            values = json.loads(f"[{match[2]}]")
            enum = {"description": description, "values": values, "deep": len(match[1]) > 7}
            found.setdefault(its_type, {})[its_property] = enum
    return found


def _short(name: str) -> str:
    """Return `core_v1_Toleration` for `io.k8s.api.core.v1.Toleration`."""
    return "_".join(name.rsplit(".", 3)[-3:])


def _with_values(schema: JSON, values: dict[str, JSON]) -> JSON:
    """Return the schema with the descriptions and the values of its properties."""
    properties = dict(schema.get("properties") or {})
    for name, told in values.items():
        field = properties.get(name)
        if field is None:
            continue
        field = properties[name] = {**field, "description": told["description"]}
        if told["deep"]:
            part = "items" if "items" in field else "additionalProperties"
            field[part] = {**field[part], "enum": told["values"]}
        else:
            field["enum"] = told["values"]
    return {**schema, "properties": properties} if values else schema
