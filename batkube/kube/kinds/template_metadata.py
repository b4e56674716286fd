"""The metadata inside a template: labels and annotations, nothing else (`ValidateTemplateObjectMeta`)."""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import SYSTEM_FIELDS, Errors, validate_annotations, validate_labels
from ..apimachinery.status import FieldError

JSON = dict[str, Any]

_OTHERS = (*SYSTEM_FIELDS, "ownerReferences", "finalizers")


def validate_template_metadata(metadata: JSON, path: str) -> Errors:
    """Return the errors in the metadata of a template: above all fields that an object may have, but a template not."""
    errors = validate_annotations(metadata.get("annotations") or {}, f"{path}.annotations")
    errors += validate_labels(metadata.get("labels") or {}, f"{path}.labels")
    for field in _OTHERS:
        value = metadata.get(field)
        if value is not None and (value not in ("", 0) or field == "deletionGracePeriodSeconds"):
            shown = "uID" if field == "uid" else field  # as the real server makes it of a name in Go
            errors.append(FieldError.forbidden(f"{path}.{shown}", "cannot be set"))
    return errors
