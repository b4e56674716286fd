"""The rules that all custom resources share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import typed
from ..resources import ResourceType
from ..status import ApiError, FieldError, quote, show
from ..strategy import Context, Strategy, keep
from . import rules
from . import schema as schemas

JSON = dict[str, Any]


_STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """What a definition says of one of its versions."""

    name: str
    schema: JSON = field(default_factory=dict)
    has_status: bool = False
    scale: JSON | None = None
    selectable: tuple[str, ...] = ()  # JSON paths such as `.spec.queue`
    deprecation: str = ""


class CustomStrategy(Strategy):
    """Reads objects by the schema of the version they are sent in."""

    unconditional_update = False
    generic_metadata = True

    def __init__(self, versions: dict[str, ServedVersion], stored: ResourceType) -> None:
        self.versions = versions
        self._stored = stored
        paths = {path.lstrip("."): None for version in versions.values() for path in version.selectable}
        self.selectable_fields = frozenset(paths)
        self._paths = tuple(paths)
        if not stored.namespaced:
            self.selectable_metadata = ("metadata.name",)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        version = self.versions[ctx.resource.version]
        if version.has_status:
            obj.pop("status", None)
        self._read(obj, version, ctx)
        obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> list[FieldError]:
        schema = self.versions[ctx.resource.version].schema
        errors = super().validate_create(obj, ctx) + schemas.validate(schema, _content(obj), "")
        errors += rules.check(schema, obj, None, errors)
        if not errors:
            _warn_of_finalizers(obj, {}, ctx)
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        version = self.versions[ctx.resource.version]
        if ctx.subresource == "status":
            status = new.get("status")
            metadata = {**old["metadata"]}
            new.clear()
            new.update(old)
            new["metadata"] = metadata
            new.pop("status", None)
            if status is not None:
                new["status"] = status
        elif version.has_status:
            keep(new, old, "status")
        self._read(new, version, ctx)
        if ctx.subresource != "status" and _counted(new, version) != _counted(old, version):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        schema = self.versions[ctx.resource.version].schema
        errors = schemas.validate(schema, _content(new), "", _content(old))
        errors += rules.check(schema, new, old, errors)
        if not errors:
            _warn_of_finalizers(new, old["metadata"], ctx)
        return errors

    def as_stored(self, resource: ResourceType, obj: JSON) -> tuple[ResourceType, JSON]:
        """In the version for storage: what its schema does not know is lost on the way, its defaults are added."""
        if resource.version == self._stored.version:
            return resource, obj
        schema = self._stored.schema or {}
        converted = schemas.converted(schema, obj, self._stored.api_version)
        schemas.default(schema, converted)
        return self._stored, converted

    def unselectable(self, name: str) -> str:
        return f"field label not supported: {name}"

    def deprecation(self, version: str) -> str:
        return self.versions[version].deprecation

    def field_labels(self, obj: JSON) -> dict[str, str] | None:
        return {path: _shown(value_at(obj, path)) for path in self._paths}

    def _read(self, obj: JSON, version: ServedVersion, ctx: Context) -> None:
        """Unknown fields go, defaults come."""
        _whole_numbers(obj)
        unknown: list[str] = []
        schemas.prune(version.schema, obj, "", unknown, root=True)
        if unknown and ctx.field_validation != "Ignore":
            found = [f'unknown field "{path}"' for path in unknown]
            if ctx.field_validation == "Strict" and ctx.patch:
                why = f"strict decoding error: {', '.join(found)}"
                raise ApiError.invalid("", "", [FieldError.invalid("patch", show(obj), why)])
            if ctx.field_validation == "Strict":
                raise typed.strict_error(ctx.resource.kind, ctx.resource.api_version, found)
            ctx.warnings.extend(found)
        schemas.default(version.schema, obj)


def _warn_of_finalizers(obj: JSON, before: JSON, ctx: Context) -> None:
    known = before.get("finalizers") or ()
    for finalizer in obj["metadata"].get("finalizers") or ():
        if "/" not in finalizer and finalizer not in (*known, *_STANDARD_FINALIZERS):
            why = "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"
            ctx.warnings.append(f"metadata.finalizers: {quote(finalizer)}: {why}")


def _whole_numbers(value: Any) -> None:
    """1.0 is 1: as Go prints a number that it read without knowing its type."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(entries):
        if isinstance(item, float) and item.is_integer() and abs(item) < 1 << 63:
            value[key] = int(item)
        else:
            _whole_numbers(item)


def _content(obj: JSON) -> JSON:
    """The object without its metadata, which has rules of its own."""
    return {key: value for key, value in obj.items() if key not in schemas.TYPE_META}


def _counted(obj: JSON, version: ServedVersion) -> JSON:
    """What of an object counts for its generation: all but metadata, and status where it is a subresource."""
    left_out = (*schemas.TYPE_META, "status") if version.has_status else schemas.TYPE_META
    return {key: value for key, value in obj.items() if key not in left_out}


def value_at(obj: JSON, path: str) -> Any:
    """The value at a simple JSON path such as `.spec.replicas`; None where there is none."""
    value: Any = obj
    for key in path.strip(".").split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else show(value)
