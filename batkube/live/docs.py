"""The page that describes batkube's own API: its OpenAPI document as HTML, without scripts and without network."""

from typing import Any

from batkube.report.document import environment, pieces

JSON = dict[str, Any]
_METHODS = ("get", "put", "post", "patch", "delete")


def docs(document: JSON) -> str:
    """Return the page for an OpenAPI 3.1 document."""
    groups: dict[str, list[JSON]] = {}
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if (operation := operations.get(method)) is not None:
                groups.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(path, method, operation))
    schemas = document.get("components", {}).get("schemas", {})
    return environment().get_template("docs.html").render(
        title=f"{document['info']['title']} {document['info']['version']}",
        groups=groups,
        schemas={name: _fields(schema) for name, schema in schemas.items()},
        described={name: schema.get("description", "") for name, schema in schemas.items()},
        style=pieces(("look.css",)),
    )  # fmt: skip


def _operation(path: str, method: str, operation: JSON) -> JSON:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answers = {code: _answer(answer) for code, answer in operation.get("responses", {}).items()}
    return {
        "method": method.upper(),
        "path": path,
        "about": operation.get("description") or operation.get("summary", ""),
        "parameters": [
            {
                "name": parameter["name"],
                "where": parameter["in"],
                "type": _type(parameter.get("schema", {})),
                "default": parameter.get("schema", {}).get("default"),
            }
            for parameter in operation.get("parameters", [])
        ],
        "body": _type(body) if body else None,
        "answers": answers,
        "is_link": method == "get" and "{" not in path,
    }


def _answer(answer: JSON) -> str:
    bodies: list[JSON] = list(answer.get("content", {}).values())
    return _type(bodies[0].get("schema", {})) if bodies else "without a body"


def _fields(schema: JSON) -> list[JSON]:
    if "enum" in schema:
        return [{"name": "", "type": _type(schema), "about": ""}]
    return [
        {"name": name, "type": _type(field), "about": field.get("description", "")}
        for name, field in schema.get("properties", {}).items()
    ]


def _type(schema: JSON) -> str:
    """Return a type in words: ``number or null``, ``list of JobView``."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for many in ("anyOf", "oneOf", "allOf"):
        if many in schema:
            return " or ".join(_type(one) for one in schema[many])
    if "enum" in schema or "const" in schema:
        return " or ".join(f'"{value}"' for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])}"
    return str(schema.get("type", "anything"))
