"""The rules of a Job for pods that fail, and for the indexes that are enough (podFailurePolicy, successPolicy)."""

from dataclasses import dataclass
from typing import Any

from batkube.controllers.job.indexes import Indexes

JSON = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """The verdict of a Job's podFailurePolicy on a pod that has failed."""

    action: str = ""
    """Empty where no rule matches."""
    message: str | None = None
    """The reason why the Job fails, if it does."""
    counts: bool = True
    """The failure counts towards backoffLimit."""


def verdict(policy: JSON | None, pod: JSON) -> Verdict:
    """Return the verdict of the first rule that matches (`matchPodFailurePolicy`)."""
    for index, rule in enumerate((policy or {}).get("rules") or ()):
        action = rule["action"]
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if (codes := rule.get("onExitCodes")) is not None:
            container = _with_exit_code(pod, codes)
            if container is None:
                continue
            code = container["state"]["terminated"]["exitCode"]
            told = (
                f"Container {container['name']} for pod {name} failed with exit code {code} "
                f"matching {action} rule at index {index}"
            )
        else:
            kind = _matching_condition(pod, rule.get("onPodConditions") or ())
            if kind is None:
                continue
            told = f"Pod {name} has condition {kind} matching {action} rule at index {index}"
        return Verdict(action, told if action == "FailJob" else None, action != "Ignore")
    return Verdict()


def _with_exit_code(pod: JSON, codes: JSON) -> JSON | None:
    """Return the first container that has failed with one of the exit codes."""
    status = pod.get("status", {})
    for container in (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())):
        ended = (container.get("state") or {}).get("terminated")
        named = codes.get("containerName")
        if ended is None or not ended.get("exitCode") or (named is not None and named != container["name"]):
            continue
        if (ended["exitCode"] in codes["values"]) == (codes["operator"] == "In"):
            found: JSON = container
            return found
    return None


def _matching_condition(pod: JSON, patterns: "tuple[JSON, ...] | list[JSON]") -> str | None:
    for condition in pod.get("status", {}).get("conditions") or ():
        for pattern in patterns:
            if (condition["type"], condition["status"]) == (pattern["type"], pattern.get("status", "True")):
                return str(condition["type"])
    return None


def enough(policy: JSON | None, completions: int, succeeded: Indexes) -> str | None:
    """Return the message of the first rule of a successPolicy that is met; None if none is."""
    if policy is None or not len(succeeded):
        return None
    for index, rule in enumerate(policy.get("rules") or ()):
        count = rule.get("succeededCount")
        if rule.get("succeededIndexes") is not None:
            wanted = Indexes.parse(rule["succeededIndexes"], completions)
            have = wanted.overlap(succeeded)
            met = len(wanted) > 0 and (have == len(wanted) or (count is not None and have >= count))
        else:
            met = count is not None and len(succeeded) >= count
        if met:
            return f"Matched rules at index {index}"
    return None
