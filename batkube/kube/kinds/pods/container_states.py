"""The containers that may run again (`ValidateContainerStateTransition` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError

JSON = dict[str, Any]

_ALL = "RestartAllContainers"
_KINDS = (("containerStatuses", "containers"), ("initContainerStatuses", "initContainers"))


def validate_restarts(status: JSON, before: JSON, spec: JSON) -> Errors:
    """Check that a container that had ended in `before` runs again only if its restart policy or a rule says so."""
    errors: Errors = []
    if not _all_may_restart(spec):
        for key, kind in _KINDS:
            containers = {each.get("name", ""): each for each in spec.get(kind) or ()}
            errors += _validate(status.get(key) or [], before.get(key) or [], containers, spec, f"status.{key}")
    key = "ephemeralContainerStatuses"
    return errors + _validate(status.get(key) or [], before.get(key) or [], {}, spec, f"status.{key}")


def _validate(now: list[JSON], before: list[JSON], containers: dict[str, JSON], spec: JSON, path: str) -> Errors:
    errors: Errors = []
    for index, was in enumerate(before):
        ended, name = _ended(was), was.get("name", "")
        if ended is None or not any(each.get("name", "") == name and _ended(each) is None for each in now):
            continue
        container = containers.get(name)
        if container is None or not _restarts(container, spec, ended.get("exitCode", 0)):
            why = "may not be transitioned to non-terminated state"
            errors.append(FieldError.forbidden(f"{path}[{index}].state", why))
    return errors


def _ended(status: JSON) -> JSON | None:
    ended: JSON | None = (status.get("state") or {}).get("terminated")
    return ended


def _all_may_restart(spec: JSON) -> bool:
    return any(
        rule.get("action") == _ALL
        for _, kind in _KINDS
        for container in spec.get(kind) or ()
        for rule in container.get("restartPolicyRules") or ()
    )


def _restarts(container: JSON, spec: JSON, code: int) -> bool:
    """Return True if the container restarts: by the first rule for the exit code, by its own policy, or by
    the pod's.
    """
    policy = container.get("restartPolicy")
    if policy is not None and _rule_of(container, code) in ("Restart", _ALL):
        return True
    policy = policy if policy in ("Always", "OnFailure", "Never") else spec.get("restartPolicy")
    return policy == "OnFailure" and code != 0 if policy in ("OnFailure", "Never") else True


def _rule_of(container: JSON, code: int) -> str:
    for rule in container.get("restartPolicyRules") or ():
        codes = rule.get("exitCodes") or {}
        if codes.get("operator") == ("In" if code in (codes.get("values") or ()) else "NotIn"):
            return str(rule.get("action", ""))
    return ""
