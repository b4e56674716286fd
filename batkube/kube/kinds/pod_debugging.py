"""What `pods/NAME/ephemeralcontainers` may change (`ValidatePodEphemeralContainersUpdate` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ..internal_json import differences
from ..metadata import Errors
from ..status import FieldError
from ..strategy import USERS_METADATA, keep
from .pod_updates import same

JSON = dict[str, Any]


def keep_for_debugging(new: JSON, old: JSON) -> None:
    """`ephemeralcontainers` changes nothing but these."""
    keep_metadata(new, old)
    added = new["spec"].get("ephemeralContainers")
    new["spec"] = dict(old["spec"])
    if added:
        new["spec"]["ephemeralContainers"] = added
    else:
        new["spec"].pop("ephemeralContainers", None)


def keep_metadata(new: JSON, old: JSON) -> None:
    """What a write to a part of a pod leaves as it is."""
    for key in USERS_METADATA:
        keep(new["metadata"], old["metadata"], key)


def validate_debugging(new: JSON, old: JSON) -> Errors:
    """Ephemeral containers come and never go or change."""
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
