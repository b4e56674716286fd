"""Patch: a change of an object, sent as JSON patch, merge patch or strategic merge patch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from .. import bodies, typed
from ..api import Api
from ..metadata import check_name, check_namespace
from ..options import PLAIN_WRITE, WriteOptions
from ..patch import json_patch, merge_patch, strategic_merge
from ..patch.shown import as_shown
from ..raw_json import RAW, in_order
from ..resources import ResourceType
from ..status import ApiError, FieldError, Unrouted, quote
from ..store import Version
from . import ownership
from .apply import apply
from .update import modify

JSON = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Patch:
    """A patch as it was sent."""

    kind: str  # its media type
    document: Any
    doubts: tuple[str, ...] = ()  # what a strict client is refused: keys that stand twice

    @property
    def is_apply(self) -> bool:
        return self.kind == APPLY_PATCH

    @classmethod
    def of(cls, data: bytes, kind: str, validation: str = "Warn", warnings: list[str] | None = None) -> Patch:
        """Decoded, a patch of that media type."""
        if kind == APPLY_PATCH:
            return cls(kind, bodies.decode_apply(data, validation, warnings))
        complaint = "" if kind == STRATEGIC_PATCH else "error decoding patch: "
        document, doubts = bodies.decode_patch(data, complaint)
        if kind == JSON_PATCH and validation != "Ignore":
            doubts = [f"json patch {doubt}" for doubt in [*doubts, *json_patch.check_operations(document)]]
        return cls(kind, document, tuple(doubts))


def patch_type(content_type: str, resource: ResourceType) -> str:
    """The media type of a patch; 415 where the resource takes no such."""
    kind = content_type.partition(";")[0]  # to the letter, where other bodies are taken in capitals, too
    if kind not in accepted_types(resource):
        if resource.custom:
            raise ApiError.unsupported_media_type(accepted_types(resource))
        raise Unrouted(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return kind


def accepted_types(resource: ResourceType) -> tuple[str, ...]:
    """Custom resources have no strategic merge: nothing says how their lists merge."""
    if resource.custom:
        return (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
    return (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


def apply_patch(patch: Patch, obj: JSON, resource: ResourceType) -> JSON:
    """The object with the patch applied."""
    if patch.kind == JSON_PATCH:
        patched = json_patch.apply(obj, patch.document)
        bodies.check_extent(patched)  # many small operations make a deep document
        return patched
    if patch.kind in (MERGE_PATCH, APPLY_PATCH):  # applied to an action's own object, a Scale
        return merge_patch.apply(obj, patch.document)
    merged = strategic_merge.apply(obj, patch.document, resource)
    if (raw := RAW.get(resource.kind)) and raw in merged:
        merged[raw] = in_order(merged[raw])
    return merged


def patch(
    api: Api,
    resource: ResourceType,
    namespace: str,
    name: str,
    change: Patch,
    options: WriteOptions = PLAIN_WRITE,
    subresource: str | None = None,
    warnings: list[str] | None = None,
) -> tuple[Version, bool]:
    """Change an object. Returns the new version, and whether the object was created by this (an apply may)."""

    if change.is_apply:
        return apply(api, resource, namespace, name, change.document, options, subresource, warnings)

    def changed(obj: JSON) -> JSON:
        result = apply_patch(change, obj, resource)
        if resource.custom:
            _check_custom_type(result, resource, name)
        try:
            if change.kind != STRATEGIC_PATCH and not resource.custom:
                _check_type(result, resource)
            decoded = _read_changed(resource, obj, result, options, warnings, change.doubts)
        except ApiError as unfit:
            managed = ownership.of_only_writer(api, resource, api.stored(resource, namespace, name))
            shown = unfit_patch(change, as_shown(obj, result, resource, managed), unfit)
            raise ApiError.invalid("", "", [shown]) from None
        check_name(decoded.get("metadata") or {}, name)
        check_namespace(decoded["metadata"], namespace)
        return decoded

    options = replace(options, patch=True)
    return modify(api, resource, namespace, name, changed, options, subresource, warnings), False


def unfit_patch(change: Patch, result: JSON, error: ApiError) -> FieldError:
    """Of a strategic patch the real server shows the patch, as Go prints a map; of others what came out."""
    told, strict, doubts = error.message.partition("strict decoding error: ")
    why = f"{strict}{doubts}" if strict else ""
    if change.kind != STRATEGIC_PATCH:
        return FieldError.invalid("patch", orjson.dumps(result).decode(), why or _HANDLED.sub("", told))
    return FieldError.invalid("patch", strategic_merge.as_go(change.document), why or _unrestored(told))


def _unrestored(message: str) -> str:
    """What a strategic patch is told of a value of another type (`runtime.DefaultUnstructuredConverter`)."""
    found = _UNFIT.search(message)
    if found is None:
        return message.rpartition(": ")[2]
    given, wanted = found.groups()
    kind = {"array": "slice", "object": "map", "number": "int64"}.get(given.split()[0], given)
    if wanted.startswith("[]"):
        return f"cannot restore slice from {kind}"
    if wanted.startswith("map["):
        return f"cannot restore map from {kind}"
    if "." in wanted:
        return f"cannot restore struct from: {kind}"
    if kind == "int64":  # Go would convert it, to something else
        return f"cannot convert int64 to {wanted}"
    return f"unrecognized type: {wanted}"


_HANDLED = re.compile(r'^\w+ in version "[^"]*" cannot be handled as a \w+: ')
_UNFIT = re.compile(r"cannot unmarshal (.+) into Go struct field \S+ of type (\S+)")


def _read_changed(
    resource: ResourceType,
    before: JSON,
    after: JSON,
    options: WriteOptions,
    warnings: list[str] | None,
    doubts: Sequence[str],
) -> JSON:
    """The object, of which the parts that the patch changed are read anew. The others are the very same, and were read
    when they were stored.
    """
    kept = {key for key, value in after.items() if before.get(key) is value and isinstance(value, dict)}
    if resource.custom or not kept:
        return typed.decode(resource, after, options.field_validation, warnings, doubts=doubts, patched=True)
    changed = {key: value for key, value in after.items() if key not in kept}
    read = typed.decode(resource, changed, options.field_validation, warnings, doubts=doubts, patched=True)
    return {key: after[key] if key in kept else read[key] for key in (*after, *read) if key in kept or key in read}


def _check_custom_type(obj: JSON, resource: ResourceType, name: str) -> None:
    """The same of a custom resource, whose type is a field as any other."""
    kind, api_version = obj.get("kind") or resource.kind, obj.get("apiVersion") or resource.api_version
    for field, given, wanted in (("kind", kind, resource.kind), ("apiVersion", api_version, resource.api_version)):
        if given != wanted:
            wrong = FieldError.invalid(field, given, f"must be {wanted}")
            raise ApiError.invalid(f"{kind}.{str(api_version).rpartition('/')[0]}", name, [wrong])


def _check_type(obj: JSON, resource: ResourceType) -> None:
    """A patch does not make another kind of an object. (A strategic one is applied to the kind's Go type, and its
    kind and apiVersion go unheard.)
    """
    kind, api_version = obj.get("kind") or resource.kind, obj.get("apiVersion") or resource.api_version
    if kind != resource.kind or api_version != resource.api_version:
        which = f"no kind {quote(str(kind))} is registered for version {quote(str(api_version))}"
        raise ApiError.bad_request(f'{which} in scheme "pkg/runtime/scheme.go:111"')
