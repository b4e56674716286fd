"""Patch: a change of an object, sent as JSON patch, merge patch or strategic merge patch."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..apimachinery.metadata import check_name, check_namespace
from ..apimachinery.status import ApiError, FieldError, Unrouted, quote
from ..codec import bodies, typed
from ..codec.raw_json import RAW, in_order
from ..patch import json_patch, merge_patch, strategic_merge
from ..patch.shown import as_shown
from ..schema.resources import ResourceType
from ..storage.store import Version
from . import managed_fields
from .apply import apply
from .update import modify
from .write import Write

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
        """Return the decoded patch of that media type."""
        if kind == APPLY_PATCH:
            return cls(kind, bodies.decode_apply(data, validation, warnings))
        complaint = "" if kind == STRATEGIC_PATCH else "error decoding patch: "
        document, doubts = bodies.decode_patch(data, complaint)
        if kind == JSON_PATCH and validation != "Ignore":
            doubts = [f"json patch {doubt}" for doubt in [*doubts, *json_patch.check_operations(document)]]
        return cls(kind, document, tuple(doubts))


def patch_type(content_type: str, resource: ResourceType) -> str:
    """Return the media type of a patch. Raise 415 if the resource does not take it."""
    kind = content_type.partition(";")[0]  # to the letter, where other bodies are taken in capitals, too
    if kind not in accepted_types(resource):
        if resource.custom:
            raise ApiError.unsupported_media_type(accepted_types(resource))
        raise Unrouted(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    return kind


def accepted_types(resource: ResourceType) -> tuple[str, ...]:
    """Return the media types of patches. Custom resources have no strategic merge: nothing says how their
    lists merge.
    """
    if resource.custom:
        return (JSON_PATCH, MERGE_PATCH, APPLY_PATCH)
    return (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


def apply_patch(patch: Patch, obj: JSON, resource: ResourceType) -> JSON:
    """Return the object with the patch applied."""
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


def patch(write: Write, change: Patch) -> tuple[Version, bool]:
    """Change an object. Return the new version, and True if this created the object (an apply may)."""
    if change.is_apply:
        return apply(write, change.document)
    resource, namespace, name = write.resource, write.namespace, write.name

    def changed(obj: JSON) -> JSON:
        result = apply_patch(change, obj, resource)
        if resource.custom:
            _check_custom_type(result, resource, name)
        try:
            if change.kind != STRATEGIC_PATCH and not resource.custom:
                _check_type(result, resource)
            decoded = _read_changed(write, obj, result, change.doubts)
        except ApiError as unfit:
            current = write.api.stored(resource, namespace, name)
            managed = managed_fields.of_only_writer(write.api, resource, current)
            shown = unfit_patch(change, as_shown(obj, result, resource, managed), unfit)
            raise ApiError.invalid("", "", [shown]) from None
        check_name(decoded.get("metadata") or {}, name)
        check_namespace(decoded["metadata"], namespace)
        return decoded

    return modify(write, changed), False


def unfit_patch(change: Patch, result: JSON, error: ApiError) -> FieldError:
    """Return the error of a patch with an unfit result.

    It shows a strategic patch as Go prints a map; of other patches it shows the result.
    """
    told, strict, doubts = error.message.partition("strict decoding error: ")
    why = f"{strict}{doubts}" if strict else ""
    if change.kind != STRATEGIC_PATCH:
        return FieldError.invalid("patch", orjson.dumps(result).decode(), why or _HANDLED.sub("", told))
    return FieldError.invalid("patch", strategic_merge.as_go(change.document), why or _unrestored(told))


def _unrestored(message: str) -> str:
    """Return the message of a strategic patch for a value of another type (`runtime.DefaultUnstructuredConverter`)."""
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


def _read_changed(write: Write, before: JSON, after: JSON, doubts: Sequence[str]) -> JSON:
    """Return the object with the changed parts decoded again.

    The other parts are the stored ones themselves, which were decoded before.
    """
    resource, validation, warnings = write.resource, write.options.field_validation, write.warnings
    kept = {key for key, value in after.items() if before.get(key) is value and isinstance(value, dict)}
    if resource.custom or not kept:
        return typed.decode(resource, after, validation, warnings, doubts=doubts, patched=True)
    changed = {key: value for key, value in after.items() if key not in kept}
    read = typed.decode(resource, changed, validation, warnings, doubts=doubts, patched=True)
    return {key: after[key] if key in kept else read[key] for key in (*after, *read) if key in kept or key in read}


def _check_custom_type(obj: JSON, resource: ResourceType, name: str) -> None:
    """Check that a patch does not change the kind of a custom resource. There the kind is a field like any other."""
    kind, api_version = obj.get("kind") or resource.kind, obj.get("apiVersion") or resource.api_version
    for field, given, wanted in (("kind", kind, resource.kind), ("apiVersion", api_version, resource.api_version)):
        if given != wanted:
            wrong = FieldError.invalid(field, given, f"must be {wanted}")
            raise ApiError.invalid(f"{kind}.{str(api_version).rpartition('/')[0]}", name, [wrong])


def _check_type(obj: JSON, resource: ResourceType) -> None:
    """Check that a patch does not change the kind of an object.

    (A strategic patch is applied to the kind's Go type: its kind and apiVersion are ignored.)
    """
    kind, api_version = obj.get("kind") or resource.kind, obj.get("apiVersion") or resource.api_version
    if kind != resource.kind or api_version != resource.api_version:
        which = f"no kind {quote(str(kind))} is registered for version {quote(str(api_version))}"
        raise ApiError.bad_request(f'{which} in scheme "pkg/runtime/scheme.go:111"')
