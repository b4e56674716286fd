"""The limits of a Deployment while it is rolled out: pods too many, pods missing, seconds without progress."""

import math
from typing import Any

JSON = dict[str, Any]

_UNLIMITED = 2**31 - 1


def replicas(obj: JSON) -> int:
    """Return the replicas that a Deployment or a ReplicaSet asks for."""
    return int(obj["spec"]["replicas"])


def scaled(value: int | str, total: int, *, up: bool) -> int:
    """Return a number of pods that is given as such, or in percent of ``total``."""
    if isinstance(value, int):
        return value
    exact = int(value.removesuffix("%")) * total / 100
    return math.ceil(exact) if up else math.floor(exact)


def is_rolling(deployment: JSON) -> bool:
    """Tell whether it is rolled out step by step."""
    return bool(deployment["spec"]["strategy"]["type"] == "RollingUpdate")


def _fence_posts(deployment: JSON) -> tuple[int, int]:
    """Return the pods that may be too many, and those that may be missing; one of both at least."""
    rolling = deployment["spec"]["strategy"].get("rollingUpdate") or {}
    surge = scaled(rolling.get("maxSurge", 0), replicas(deployment), up=True)
    unavailable = scaled(rolling.get("maxUnavailable", 0), replicas(deployment), up=False)
    return surge, unavailable if surge or unavailable else 1


def max_surge(deployment: JSON) -> int:
    """Return how many pods there may be too many."""
    return _fence_posts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: JSON) -> int:
    """Return how many pods may be missing."""
    if not is_rolling(deployment) or not replicas(deployment):
        return 0
    return min(_fence_posts(deployment)[1], replicas(deployment))


def progress_deadline(deployment: JSON) -> int | None:
    """Return the seconds without progress after which it has failed; None for none."""
    seconds = deployment["spec"].get("progressDeadlineSeconds")
    return None if seconds in (None, _UNLIMITED) else int(seconds)


def history_limit(deployment: JSON) -> int | None:
    """Return how many old ReplicaSets are kept; None for all."""
    limit = deployment["spec"].get("revisionHistoryLimit")
    return None if limit in (None, _UNLIMITED) else int(limit)
