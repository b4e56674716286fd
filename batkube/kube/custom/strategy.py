"""The rules that all custom resources share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..apimachinery.metadata import validate_changed
from ..apimachinery.names import qualified_name
from ..apimachinery.status import ApiError, FieldError, quote, show
from ..apply.custom_misfit import custom_misfit
from ..apply.types import Type, custom
from ..codec.custom_objects import TYPE_META, converted, default, prune
from ..codec.embedded import validate_embedded
from ..kinds.strategy import Context, Strategy, keep
from ..schema.resources import ResourceType
from . import rules
from . import schema as schemas
from .list_types import duplicates
from .replicas import validate_spec_replicas, validate_status_replicas, value_at

JSON = dict[str, Any]


_STANDARD_FINALIZERS = ("orphan", "foregroundDeletion", "kubernetes")


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """The part of a definition about one of its versions."""

    name: str
    schema: JSON = field(default_factory=dict)
    has_status: bool = False
    scale: JSON | None = None
    selectable: tuple[str, ...] = ()  # JSON paths such as `.spec.queue`
    deprecation: str = ""
    has_rules: bool = field(init=False)  # the schema has rules: known once, and not looked for at each write

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_rules", rules.has_rules(self.schema))


class CustomStrategy(Strategy):
    """The strategy that reads objects by the schema of the version they are sent in."""

    unconditional_update = False
    generic_metadata = True

    def __init__(self, versions: dict[str, ServedVersion], stored: ResourceType) -> None:
        self.versions = versions
        self._stored = stored
        self._types: dict[str, Type] = {}
        paths = {path.lstrip("."): None for version in versions.values() for path in version.selectable}
        self.selectable_fields = frozenset(paths)
        self._paths = tuple(paths)
        if not stored.namespaced:
            self.selectable_metadata = ("metadata.name",)

    def merge_type(self, resource: ResourceType) -> Type:
        return self._merge_type(resource.version)

    def misfit(self, version: str, obj: JSON) -> str | None:
        if version not in self.versions:
            return None
        return custom_misfit(self.versions[version].schema, self._merge_type(version), obj)

    def _merge_type(self, version: str) -> Type:
        if version not in self._types:
            self._types[version] = custom(self.versions[version].schema)
        return self._types[version]

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        version = self.versions[ctx.resource.version]
        if version.has_status:
            obj.pop("status", None)
        self._read(obj, version)
        obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> list[FieldError]:
        self._check_type(obj, ctx)
        version = self.versions[ctx.resource.version]
        errors = super().validate_create(obj, ctx) + schemas.validate(version.schema, obj, "")
        errors += validate_spec_replicas(obj, version.scale) + validate_status_replicas(obj, version.scale)
        errors += validate_embedded(version.schema, obj)
        errors += duplicates(version.schema, obj)
        if version.has_rules:
            errors += rules.check(version.schema, obj, None, errors, root=True)
        if not errors:
            _warn_of_finalizers(obj, {}, ctx)
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        version = self.versions[ctx.resource.version]
        if version.has_status:
            keep(new, old, "status")
        self._read(new, version)
        if _counted(new, version) != _counted(old, version):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        status = new.get("status")
        metadata = {**old["metadata"]}
        metadata.pop("managedFields", None)
        new.clear()
        new.update(old)
        new["metadata"] = metadata
        new.pop("status", None)
        if status is not None:
            new["status"] = status
        self._read(new, self.versions[ctx.resource.version])

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        version = self._version(new, ctx)
        errors = schemas.validate(version.schema, new, "", old) + validate_spec_replicas(new, version.scale)
        return self._validate_change(new, old, ctx, version, errors)

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        version = self._version(new, ctx)
        return self._validate_change(new, old, ctx, version, _wrong_status(version.schema, new, old))

    def _version(self, obj: JSON, ctx: Context) -> ServedVersion:
        """Return the version that an object is sent in. Raise 422 if it is of another kind."""
        self._check_type(obj, ctx)
        return self.versions[ctx.resource.version]

    @staticmethod
    def _validate_change(
        new: JSON, old: JSON, ctx: Context, version: ServedVersion, found: list[FieldError]
    ) -> list[FieldError]:
        schema = version.schema
        errors = validate_changed(new["metadata"], old["metadata"], generic=True)  # once more, as the real server does
        errors += found + validate_status_replicas(new, version.scale) + validate_embedded(schema, new)
        twice = duplicates(schema, new)
        errors += twice if twice and not duplicates(schema, old) else []
        if version.has_rules:
            errors += rules.check(schema, new, old, errors, root=True)
        if not errors:
            _warn_of_finalizers(new, old["metadata"], ctx)
        return errors

    def _check_type(self, obj: JSON, ctx: Context) -> None:
        """Raise 422 for an object of another kind. Nothing else of it is checked."""
        kind = obj.get("kind", ctx.resource.kind)
        if kind != ctx.resource.kind:
            wrong = FieldError.invalid("kind", kind, f"must be {ctx.resource.kind}")
            raise ApiError.invalid(f"{kind}.{ctx.resource.group}", obj["metadata"].get("name") or "", [wrong])

    def as_stored(self, resource: ResourceType, obj: JSON) -> tuple[ResourceType, JSON]:
        """Return the object in the version for storage. Fields that its schema does not know are lost, its defaults are
        added.
        """
        if resource.version == self._stored.version:
            return resource, obj
        schema = self._stored.schema or {}
        other = converted(schema, obj, self._stored.api_version)
        default(schema, other)
        return self._stored, other

    def unselectable(self, name: str) -> str:
        return f"field label not supported: {name}"

    def deprecation(self, version: str) -> str:
        return self.versions[version].deprecation

    def field_labels(self, obj: JSON) -> dict[str, str] | None:
        return {path: _shown(value_at(obj, path)) for path in self._paths}

    def _read(self, obj: JSON, version: ServedVersion) -> None:
        _whole_numbers(obj, ("metadata",))
        prune(version.schema, obj, root=True)
        default(version.schema, obj)


def _wrong_status(schema: JSON, new: JSON, old: JSON) -> list[FieldError]:
    """Return the errors in a written status. Nothing else is checked, and messages name paths within the status."""
    status_schema = (schema.get("properties") or {}).get("status")
    if status_schema is None or "status" not in new:
        return []
    errors = schemas.validate(status_schema, new["status"], "", old.get("status"))
    return [replace(error, field=_within_status(error.field)) for error in errors]


def _within_status(field: str) -> str:
    if field in ("", "<nil>"):
        return "status"
    return f"status{field}" if field.startswith("[") else f"status.{field}"


def _warn_of_finalizers(obj: JSON, before: JSON, ctx: Context) -> None:
    known = before.get("finalizers") or ()
    for finalizer in sorted({item: None for item in obj["metadata"].get("finalizers") or () if item not in known}):
        at = f"metadata.finalizers: {quote(finalizer)}"
        ctx.warnings.extend(f"{at}: {why}" for why in qualified_name(finalizer))
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            path = " including a path (/)" if "." in finalizer else ""
            why = f"prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer"
            ctx.warnings.append(f"{at}: {why} writers")


def _whole_numbers(value: Any, but: tuple[str, ...] = ()) -> None:
    """Make floats such as 1.0 integers, as Go prints a number that it read without its type. The keys `but` are
    skipped.
    """
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(entries):
        if isinstance(item, float) and item.is_integer() and abs(item) < 1 << 63:
            value[key] = int(item)
        elif isinstance(item, dict | list) and key not in but:
            _whole_numbers(item)


def _counted(obj: JSON, version: ServedVersion) -> JSON:
    """Return the part of an object that counts for its generation: all but metadata, and status if it is a
    subresource.
    """
    left_out = (*TYPE_META, "status") if version.has_status else TYPE_META
    return {key: value for key, value in obj.items() if key not in left_out}


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else show(value)
