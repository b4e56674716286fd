"""Runtime classes (`pkg/apis/node/validation`): what pods of a class weigh more, and where they may go."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable, problems, validate_labels
from ..names import dns_label
from ..status import FieldError
from ..strategy import Context, Strategy
from .resource_lists import round_up
from .resource_validation import validate_requirements
from .scheduling_validation import validate_tolerations

JSON = dict[str, Any]


class RuntimeClasses(Strategy):
    """Rules of runtime classes. What they do to pods is in `pod_admission`."""

    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        round_up((obj.get("overhead") or {}).get("podFixed"))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate(obj)]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        round_up((new.get("overhead") or {}).get("podFixed"))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return [*errors, *immutable("handler", new.get("handler", ""), old.get("handler", ""))]


def _validate(obj: JSON) -> Errors:
    handler = obj.get("handler", "")
    errors = problems("handler", handler, dns_label(handler)) if handler else [FieldError.required("handler")]
    if fixed := (obj.get("overhead") or {}).get("podFixed"):
        errors.extend(validate_requirements({"limits": fixed}, "overhead"))
    scheduling = obj.get("scheduling") or {}
    errors.extend(validate_labels(scheduling.get("nodeSelector") or {}, "scheduling.nodeSelector"))
    return [*errors, *validate_tolerations(scheduling.get("tolerations") or [], "scheduling.tolerations")]
