"""The JSON schema of scenarios, made of the options of `batkube run`."""

from collections.abc import Iterable
from typing import Any, get_args

from pydantic import TypeAdapter

from batkube.commands.scenario_keys import Key
from batkube.schedulers.program_settings import ProgramSettings

JSON = dict[str, Any]

_TEXT: JSON = {"type": "string"}
_WORD: JSON = {"type": ["string", "number"]}


def scenario_schema(keys: Iterable[Key]) -> JSON:
    """Return the schema, for editors that check and complete as one types."""
    properties: JSON = {"$schema": {"type": "string"}}
    for key in keys:
        for spelling in key.spellings:
            properties[spelling] = {"description": key.help, **_schema_of(key)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of batkube run",
        "type": "object",
        "properties": dict(sorted(properties.items())),
        "additionalProperties": False,
    }


def _schema_of(key: Key) -> JSON:
    if key.annotation is bool:
        return {"type": "boolean"}
    if key.option is None:
        return {"type": "integer", "minimum": 1}
    if not key.several:
        return _WORD if key.option.read else _of_type(key.annotation)
    item = _program() if key.parameter == "programs" else _of_type(get_args(key.annotation)[0])
    choices = [item, {"type": "array", "items": item}]
    if key.option.commas:
        choices.append({"type": "object", "additionalProperties": {"type": ["string", "boolean"]}})
    return {"anyOf": choices}


def _of_type(annotation: Any) -> JSON:
    """Return the schema of a value: null is none, names and texts may be numbers."""
    schema = TypeAdapter(annotation).json_schema()
    choices = [_kept(one, schema) for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    return choices[0] if len(choices) == 1 else {"anyOf": choices}


def _kept(found: JSON, schema: JSON) -> JSON:
    """Return what is kept of one schema within the whole: its own words are not those of options."""
    if "$ref" in found:
        found = schema["$defs"][str(found["$ref"]).rpartition("/")[2]]
    kept = {name: value for name, value in found.items() if name not in ("title", "description", "format")}
    return _WORD if kept == _TEXT else kept


def _program() -> JSON:
    schema = ProgramSettings.model_json_schema()
    fields = {name: value for name, value in schema["properties"].items() if name != "folder"}
    fields["restart"] = {"enum": schema["$defs"]["Restart"]["enum"], "default": "never"}
    fields["start"] = {"type": ["string", "number"], "description": "The date at which it is started: 90, 1h30m."}
    for value in fields.values():
        value.pop("title", None)
    program = {"type": "object", "properties": fields, "required": ["name", "command"], "additionalProperties": False}
    return {"anyOf": [{"type": "string", "description": "NAME=COMMAND"}, program]}
