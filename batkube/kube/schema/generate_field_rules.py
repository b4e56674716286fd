"""The maker of field_rules.json: the fields that are required, and the values of enumerations, as the published schema
has them.

Source: openapi.json.xz, the schemas that a server publishes. Requests are checked by these two facts alone, so that
the documents, which are large, stay packed until a client asks for them.

Format: `required` maps a type to the names of its fields, `values` a type to its fields and the values of each (of a
list or a map: of its items).
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

from .generate_list_types import short_name

JSON = dict[str, Any]


def generate(source: Path, target: Path) -> None:
    """Generate the rules of fields from the packed schemas."""
    schemas: JSON = json.loads(lzma.decompress(source.read_bytes()))["schemas"]
    required: dict[str, list[str]] = {}
    values: dict[str, dict[str, list[str]]] = {}
    for name, schema in sorted(schemas.items()):
        short = short_name(name)
        if short is None or short.endswith("List"):
            continue
        if schema.get("required"):
            required[short] = schema["required"]
        for field, field_schema in sorted((schema.get("properties") or {}).items()):
            allowed = _values(field_schema)
            if allowed:
                values.setdefault(short, {})[field] = allowed
    target.write_text(f'{{"required":{{\n{_rows(required)}\n}},\n"values":{{\n{_rows(values)}\n}}}}\n')


def _values(schema: JSON) -> list[str]:
    """Return the values of a field, or of the items of a list or a map."""
    for part in (schema, schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, dict) and "enum" in part:
            return [str(value) for value in part["enum"]]
    return []


def _rows(facts: dict[str, Any]) -> str:
    return ",\n".join(
        f"{json.dumps(name)}:{json.dumps(facts_of_type, separators=(',', ':'))}"
        for name, facts_of_type in facts.items()
    )
