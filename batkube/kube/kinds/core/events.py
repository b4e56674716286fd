"""Events: one stored object in two forms, that of the core group and that of events.k8s.io.

(`pkg/registry/core/event`, `pkg/apis/core/validation/events.go`, `pkg/apis/events/v1/conversion.go` of Kubernetes.)
"""

from __future__ import annotations

from typing import Any

from ...apimachinery import metadata
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_subdomain, qualified_name
from ...apimachinery.status import FieldError
from ...schema import api_types
from ...schema.internal_json import internal
from ..strategy import Context, Strategy

JSON = dict[str, Any]

STORAGE = "events"
CORE, NEW = "v1", "events.k8s.io/v1"

# Fields of the new shape that have another name in the core one.
_CORE_NAMES = {
    "reportingController": "reportingComponent",
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
_NEW_NAMES = {core: new for new, core in _CORE_NAMES.items()}
_OBJECT_FIELDS = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
_NEW_SELECTABLE = {
    **{f"regarding.{field}": f"involvedObject.{field}" for field in _OBJECT_FIELDS},
    "reportingController": "reportingComponent",
    "reason": "reason",
    "type": "type",
}
_MAX_LENGTH = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}
_REFERENCES = ("involvedObject", "related")
# Of an event written as events.k8s.io/v1 nothing but the series changes.
_UNCHANGED = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)


def to_core(event: JSON) -> JSON:
    """Return an event of events.k8s.io in the core form."""
    return _renamed(event, _CORE_NAMES, "core/v1.Event")


def to_new(event: JSON) -> JSON:
    """Return a core event in the form of events.k8s.io."""
    return _renamed(event, _NEW_NAMES, "events/v1.Event")


def _renamed(event: JSON, names: dict[str, str], type_name: str) -> JSON:
    """Return the event with its fields renamed, in the order of the type, with the fields that the type always has."""
    values = {names.get(key, key): value for key, value in event.items()}
    result: JSON = {key: values[key] for key in ("kind", "apiVersion") if key in values}
    for field in api_types.fields_of(type_name):
        if field.name in values:
            if values[field.name] != "" or not field.omit_empty:
                result[field.name] = values[field.name]
        elif not field.omit_empty and not field.pointer:
            result[field.name] = ""
        elif field.type in ("Time", "MicroTime"):
            result[field.name] = None
    return result


class Events(Strategy):
    """Rules of events. The form in which an event was sent decides which rules hold."""

    selectable_fields = frozenset(
        (
            *(f"involvedObject.{field}" for field in _OBJECT_FIELDS),
            "reason",
            "reportingComponent",
            "source",
            "type",
        )
    )
    create_on_update = True
    cached = False
    counts_generation = False

    def selectable_field(self, name: str, api_version: str) -> str | None:
        if api_version == CORE:
            return super().selectable_field(name, api_version)
        return _NEW_SELECTABLE.get(name)

    def propagation(self, obj: JSON, asked: str) -> str:
        return "Background"  # events have no dependents (`rest.Unsupported`)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        return

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = _validate(obj, ctx.requested)
        if ctx.requested != NEW:
            return errors
        errors += metadata.validate_new(obj["metadata"], dns_subdomain)
        errors += _validate_series(obj.get("series"))
        if not obj.get("eventTime"):
            errors.append(FieldError.required("eventTime"))
        if obj.get("type") not in ("Normal", "Warning"):
            errors.append(FieldError.invalid("type", "", f"has invalid value: {obj.get('type', '')}"))
        for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
            if obj.get(field):
                errors.append(FieldError.invalid(field, "", "needs to be unset"))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        return

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = _validate(new, ctx.requested)
        if ctx.requested != NEW:
            return errors
        errors += super().validate_update(new, old, ctx)
        if new.get("series") != old.get("series"):
            errors += _validate_series(new.get("series"))
        for field in _UNCHANGED:
            shown = "reportingController" if field == "reportingComponent" else field
            if (new.get(field) or None) != (old.get(field) or None):
                value = new.get(field)
                if isinstance(value, dict) and field in _REFERENCES:
                    value = internal("core/v1.ObjectReference", value)
                errors.append(FieldError.invalid(shown, value, "field is immutable"))
        return errors

    def field_labels(self, obj: JSON) -> dict[str, str]:
        about = obj.get("involvedObject") or {}
        reporter = obj.get("reportingComponent") or ""
        return {
            **{f"involvedObject.{field}": about.get(field, "") for field in _OBJECT_FIELDS},
            "reason": obj.get("reason", ""),
            "reportingComponent": reporter,
            "source": (obj.get("source") or {}).get("component") or reporter,
            "type": obj.get("type", ""),
        }


def _validate(event: JSON, requested: str) -> Errors:
    """Check the rules for all events (`legacyValidateEvent`). Events with an eventTime follow the newer rules."""
    errors: Errors = []
    namespace = event["metadata"].get("namespace", "")
    about = (event.get("involvedObject") or {}).get("namespace", "")
    timed = bool(event.get("eventTime"))
    if timed:
        stray = not about and namespace not in ("default", "kube-system")
    else:
        stray = about != namespace if about else namespace not in ("", "default")
    if stray:
        errors.append(FieldError.invalid("involvedObject.namespace", about, "does not match event.namespace"))
    if timed:
        reporter = event.get("reportingComponent", "")
        field = "reportingComponent" if requested == CORE else "reportingController"
        if not reporter:
            errors.append(FieldError.required(field))
        errors += problems(field, reporter, qualified_name(reporter))
        for field, limit in _MAX_LENGTH.items():
            text = event.get(field) or ""
            if not text and field != "message":
                errors.append(FieldError.required(field))
            if len(text.encode()) > limit:
                errors.append(FieldError.invalid(field, "", f"can have at most {limit} characters"))
    return errors + problems("namespace", namespace, dns_subdomain(namespace))


def _validate_series(series: JSON | None) -> Errors:
    errors: Errors = []
    if series is not None:
        if series.get("count", 0) < 2:
            errors.append(FieldError.invalid("series.count", "", "should be at least 2"))
        if not series.get("lastObservedTime"):
            errors.append(FieldError.required("series.lastObservedTime"))
    return errors
