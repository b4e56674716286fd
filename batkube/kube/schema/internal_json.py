"""The real server's internal structs, which some field errors print: whole objects by Go's names, and the differences
of two objects.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from . import api_types, read_json
from .api_types import Field

JSON = dict[str, Any]

_INITIALS = ("uid", "api", "csi", "dns", "pid", "ipc", "ip", "id", "fs", "nfs", "url", "uri", "tls", "se")
_ZEROS: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": 0, "double": 0, "IntOrString": 0}
# Go's names that are not those of the published fields, in lower case.
_OTHERWISE = {
    "datadiskuri": "diskuri",
    "endpointsname": "endpoints",
    "discoverychapauth": "chapauthdiscovery",
    "sessionchapauth": "chapauthsession",
    "cephmonitors": "monitors",
    "rbdimage": "image",
    "rbdpool": "pool",
    "radosuser": "user",
}
# The internal struct has these of a pod's spec in its security context.
_POD, _SECURITY = "core/v1.PodSpec", "core/v1.PodSecurityContext"
_OF_THE_HOST = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")


def internal(type_name: str, obj: Any) -> Any:
    """Return an object of a type such as `storage/v1.VolumeAttachmentSpec` with all fields, absent ones as null or
    zero.
    """
    if not isinstance(obj, dict):
        return obj
    if type_name.startswith("meta/"):  # has no internal struct of its own
        return _sorted_maps(obj)
    if type_name == _POD:
        shared = {name: obj[name] for name in _OF_THE_HOST if name in obj}
        obj = {**obj, "securityContext": {**(obj.get("securityContext") or {}), **shared}}
    result: JSON = {}
    for name, field in _fields(type_name):
        if field.inline:
            result.update(internal(field.type, obj))
        elif field.name == "metadata":  # embedded: its own fields, which are not written when empty
            result.update(_sorted_maps(obj.get("metadata") or {}))
        else:
            result[name] = _value(field, obj.get(field.name))
    return result


def differences(type_name: str, old: Any, new: Any) -> str:
    """Return a unified diff of both as the real server prints it (`k8s.io/apimachinery/pkg/util/diff`)."""
    lines = [(_go_json(internal(type_name, each)) + "\n").splitlines(keepends=True) for each in (old, new)]
    hunks = list(difflib.unified_diff(lines[0], lines[1]))[2:]  # without the names of files
    return "".join(hunks)


def _go_json(value: Any) -> str:
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _value(field: Field, value: Any) -> Any:
    struct = api_types.has_type(field.type) and not api_types.is_string_list(field.type)
    if value is None:
        if field.pointer or field.shape:
            return None
        return internal(field.type, {}) if struct else _ZEROS.get(field.type)
    if field.shape == "map":
        return {key: internal(field.type, value[key]) if struct else value[key] for key in sorted(value)}
    if not struct:
        return value
    return [internal(field.type, item) for item in value] if field.shape == "list" else internal(field.type, value)


def _sorted_maps(obj: JSON) -> JSON:
    maps = ("labels", "annotations", "matchLabels")
    return {key: dict(sorted(value.items())) if key in maps and value else value for key, value in obj.items()}


@cache
def _fields(type_name: str) -> tuple[tuple[str, Field], ...]:
    """Return Go's names of the fields with the published fields, in the order of the internal struct."""
    names = read_json("internal.json").get(type_name)
    published = list(_published(type_name))
    if names is None:
        return tuple((_go_name(field.name), field) for field in published)
    known = {(field.type.rpartition(".")[2] if field.inline else field.name).lower(): field for field in published}
    if "metadata" in known:
        known["objectmeta"] = known["metadata"]
    found = ((name, known.get(name.lower()) or known.get(_OTHERWISE.get(name.lower(), ""))) for name in names)
    return tuple((name, field) for name, field in found if field is not None)


def _published(type_name: str) -> Iterator[Field]:
    if type_name == _SECURITY:
        yield from (field for field in api_types.fields_of(_POD) if field.name in _OF_THE_HOST)
    yield from api_types.fields_of(type_name)


def _go_name(name: str) -> str:
    for initials in _INITIALS:
        rest = name[len(initials) :]
        if name.startswith(initials) and (not rest or rest[0].isupper()):
            return initials.upper() + rest
    return name[:1].upper() + name[1:]
