"""Objects as field errors show them that print the real server's internal structs: whole, by Go's names."""

from __future__ import annotations

from typing import Any

from . import api_types

JSON = dict[str, Any]

_INITIALS = ("uid", "api", "csi", "dns", "pid", "ipc", "ip", "id", "fs", "nfs", "url", "uri", "tls")
_ZEROS: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "double": 0, "IntOrString": 0}


def internal(type_name: str, obj: Any) -> Any:
    """An object of a type such as `storage/v1.VolumeAttachmentSpec`: all fields, the absent ones as null or zero."""
    if not isinstance(obj, dict):
        return obj
    result: JSON = {}
    for field in api_types.fields_of(type_name):
        if field.inline:
            result.update(internal(field.type, obj))
            continue
        if field.name == "metadata":  # embedded: its own fields, which are not written when empty
            result.update(obj.get("metadata") or {})
            continue
        value = obj.get(field.name)
        struct = api_types.has_type(field.type) and not api_types.is_string_list(field.type)
        if value is not None and struct:
            if field.shape == "list":
                value = [internal(field.type, item) for item in value]
            elif field.shape == "map":
                value = {key: internal(field.type, item) for key, item in value.items()}
            else:
                value = internal(field.type, value)
        elif value is None and not field.pointer and not field.shape:
            value = internal(field.type, {}) if struct else _ZEROS.get(field.type)
        result[_go_name(field.name)] = value
    return result


def _go_name(name: str) -> str:
    for initials in _INITIALS:
        rest = name[len(initials) :]
        if name.startswith(initials) and (not rest or rest[0].isupper()):
            return initials.upper() + rest
    return name[:1].upper() + name[1:]
