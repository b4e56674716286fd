"""Runtime classes (`pkg/apis/node/validation`): the overhead of pods of a class, and the nodes where they may run."""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import Errors, immutable, validate_labels
from ..apimachinery.names import dns_label
from ..apimachinery.status import FieldError
from .node_labels import DEPRECATED
from .pods.scheduling_validation import validate_tolerations
from .published import validate_field
from .resource_validation import validate_requirements
from .strategy import Context, Strategy

JSON = dict[str, Any]

_TOLERATION_KEYS = ("key", "operator", "value", "effect")


class RuntimeClasses(Strategy):
    """Rules of runtime classes. Their effect on pods is in `admission/runtime_class.py`."""

    unconditional_update = False
    create_on_update = True
    generic_metadata = True
    revalidates_metadata = True
    counts_generation = False

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return _warned(obj, ctx, [*super().validate_create(obj, ctx), *_validate(obj)])

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_update(new, old, ctx), *_validate(new)]
        errors.extend(immutable("handler", new.get("handler", ""), old.get("handler", "")))
        return _warned(new, ctx, errors)


def _validate(obj: JSON) -> Errors:
    errors = validate_field("node/v1.RuntimeClass", obj, "handler", "", dns_label)
    if fixed := (obj.get("overhead") or {}).get("podFixed"):
        errors.extend(validate_requirements({"limits": fixed}, "overhead"))
    scheduling = obj.get("scheduling") or {}
    errors.extend(validate_labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector"))
    tolerations = scheduling.get("tolerations") or []
    errors.extend(validate_tolerations(tolerations, "scheduling.tolerations"))
    keys = [tuple(one.get(field, "") for field in _TOLERATION_KEYS) for one in tolerations]
    errors.extend(
        FieldError.duplicate(f"scheduling.tolerations[{index}]", one)
        for index, one in enumerate(tolerations)
        if keys[index] in keys[:index]
    )
    return errors


def _warned(obj: JSON, ctx: Context, errors: Errors) -> Errors:
    if not errors:
        for key in (obj.get("scheduling") or {}).get("nodeSelector") or ():
            if key in DEPRECATED:
                ctx.warnings.append(f"scheduling.nodeSelector: {DEPRECATED[key]}")
    return errors
