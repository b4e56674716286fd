"""Controller revisions: snapshots of templates, never changed (`pkg/apis/apps/validation`)."""

from __future__ import annotations

from typing import Any

import orjson

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ...codec.raw_json import AsSent
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
        now, before = new.get("data"), old.get("data")
        # The real server compares bytes. A patch writes the data anew, without the spaces that may have been sent.
        if orjson.dumps(now) != orjson.dumps(before) or isinstance(now, AsSent) != isinstance(before, AsSent):
            errors.append(FieldError.invalid("data", now or {}, "field is immutable"))
        return errors


def _validate_revision(obj: JSON) -> Errors:
    if obj.get("revision", 0) >= 0:
        return []
    return [FieldError.invalid("revision", obj["revision"], NOT_NEGATIVE)]
