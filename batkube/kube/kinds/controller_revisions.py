"""Controller revisions: snapshots of templates, never changed (`pkg/apis/apps/validation`)."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable
from ..status import FieldError
from ..strategy import Context, Strategy
from .workloads import NOT_NEGATIVE

JSON = dict[str, Any]


class ControllerRevisions(Strategy):
    """Rules of controller revisions."""

    revalidates_metadata = True
    counts_generation = False

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_revision(obj)]
        data = obj.get("data")
        if data is None:
            errors.append(FieldError.required("data", "data is mandatory"))
        elif not isinstance(data, dict):
            errors.append(FieldError.required("data", "data must be a valid JSON object"))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_update(new, old, ctx), *_validate_revision(new)]
        # The real server compares bytes. A patch writes the data anew, without the spaces with which most JSON but
        # Go's is sent; whether there were some is not known here.
        if ctx.patch and new.get("revision") != old.get("revision"):
            return [*errors, FieldError.invalid("data", new.get("data") or {}, "field is immutable")]
        return [*errors, *immutable("data", new.get("data"), old.get("data"))]


def _validate_revision(obj: JSON) -> Errors:
    if obj.get("revision", 0) >= 0:
        return []
    return [FieldError.invalid("revision", obj["revision"], NOT_NEGATIVE)]
