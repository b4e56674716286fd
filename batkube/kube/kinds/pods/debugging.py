"""The changes that `pods/NAME/ephemeralcontainers` may make (`ValidatePodEphemeralContainersUpdate` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ...schema.internal_json import differences
from ..strategy import USERS_METADATA, keep
from .updates import same

JSON = dict[str, Any]


def keep_for_debugging(new: JSON, old: JSON) -> None:
    """Keep all of the pod but its ephemeral containers."""
    keep_metadata(new, old)
    added = new["spec"].get("ephemeralContainers")
    new["spec"] = dict(old["spec"])
    if added:
        new["spec"]["ephemeralContainers"] = added
    else:
        new["spec"].pop("ephemeralContainers", None)


def keep_metadata(new: JSON, old: JSON) -> None:
    """Keep the metadata that a write to a part of a pod does not change."""
    for key in USERS_METADATA:
        keep(new["metadata"], old["metadata"], key)


def validate_debugging(new: JSON, old: JSON) -> Errors:
    """Check that ephemeral containers are only added: none is removed or changed."""
    path = "spec.ephemeralContainers"
    errors: Errors = []
    now = {container.get("name", ""): container for container in new.get("ephemeralContainers") or ()}
    for container in old.get("ephemeralContainers") or ():
        name = container.get("name", "")
        if name not in now:
            why = f'existing ephemeral containers "{name}" may not be removed\n'
            errors.append(FieldError.forbidden(path, why))
        elif not same(now[name], container):
            changed = differences("core/v1.EphemeralContainer", container, now[name])
            why = f'existing ephemeral containers "{name}" may not be changed\n{changed}'
            errors.append(FieldError.forbidden(path, why))
    return errors
