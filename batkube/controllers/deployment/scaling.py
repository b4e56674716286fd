"""The sizes of a Deployment's ReplicaSets: in a rollout, and when it is scaled while several have pods."""

from collections.abc import Sequence
from typing import Any

from batkube.controllers.deployment.limits import is_rolling, max_surge, max_unavailable, replicas
from batkube.controllers.deployment.revisions import DESIRED, MOST, active, by_age, noted_size
from batkube.controllers.deployment.status import total

JSON = dict[str, Any]


def asked(replica_sets: Sequence[JSON]) -> int:
    """Return how many pods ReplicaSets ask for."""
    return sum(map(replicas, replica_sets))


def size_of_new(deployment: JSON, every: Sequence[JSON], size: int) -> int:
    """Return the size to which the new ReplicaSet, of this ``size``, may grow."""
    if not is_rolling(deployment):
        return replicas(deployment)
    room = replicas(deployment) + max_surge(deployment) - asked(every)
    if room <= 0:
        return size
    return size + min(room, replicas(deployment) - size)


def only_active_or_latest(new: JSON | None, old: Sequence[JSON]) -> JSON | None:
    """Return the only ReplicaSet with pods, or the latest if none has any; None if several have."""
    latest_first = by_age(old)[::-1]
    found = active([*latest_first, new])
    if len(found) > 1:
        return None
    if found:
        return found[0]
    return new if new is not None else next(iter(latest_first), None)


def is_saturated(deployment: JSON, replica_set: JSON | None) -> bool:
    """Tell whether the ReplicaSet has all the Deployment's pods, and all are available."""
    if replica_set is None:
        return False
    wanted = replicas(deployment)
    noted = noted_size(replica_set, DESIRED)
    available = replica_set.get("status", {}).get("availableReplicas", 0)
    return replicas(replica_set) == wanted and noted == wanted and bool(available == wanted)


def in_proportion(deployment: JSON, replica_sets: Sequence[JSON]) -> list[tuple[JSON, int]]:
    """Return all ReplicaSets with pods, and their sizes once the Deployment's new size is shared out."""
    most = replicas(deployment) + max_surge(deployment) if replicas(deployment) > 0 else 0
    to_add = most - asked(replica_sets)
    order = by_age(replica_sets)
    if to_add > 0:
        order.reverse()
    if to_add:  # of two of one size the newer grows first, and the older shrinks first
        order = sorted(order, key=lambda each: -replicas(each))
    added, sizes = 0, []
    for each in order:
        part = _part(deployment, each, to_add, added) if to_add else 0
        added += part
        sizes.append(replicas(each) + part)
    if to_add and sizes:
        sizes[0] = max(sizes[0] + to_add - added, 0)
    return list(zip(order, sizes, strict=True))


def _part(deployment: JSON, replica_set: JSON, to_add: int, added: int) -> int:
    if not replicas(replica_set) or to_add == added:
        return 0
    fraction, left = _fraction(deployment, replica_set), to_add - added
    return min(fraction, left) if to_add > 0 else max(fraction, left)


def _fraction(deployment: JSON, replica_set: JSON) -> int:
    size = replicas(replica_set)
    if not replicas(deployment):
        return -size
    before = noted_size(replica_set, MOST) or deployment.get("status", {}).get("replicas", 0)
    if not before:
        return 0
    exact = size * (replicas(deployment) + max_surge(deployment)) / before
    return int(exact + 0.5) - size


def cleaned_up(old: Sequence[JSON], most: int) -> list[tuple[JSON, int]]:
    """Return the old ReplicaSets that lose pods that are not available, with their new sizes."""
    gone, found = 0, []
    for each in by_age(old):
        missing = replicas(each) - each.get("status", {}).get("availableReplicas", 0)
        if gone >= most:
            break
        if replicas(each) and missing:
            count = min(most - gone, missing)
            found.append((each, replicas(each) - count))
            gone += count
    return found


def scaled_down(deployment: JSON, every: Sequence[JSON], old: Sequence[JSON]) -> list[tuple[JSON, int]]:
    """Return the old ReplicaSets that lose pods as enough are available, with their new sizes."""
    spare = total(every, "availableReplicas") - (replicas(deployment) - max_unavailable(deployment))
    gone, found = 0, []
    for each in by_age(old):
        if gone >= spare:
            break
        if replicas(each):
            count = min(replicas(each), spare - gone)
            found.append((each, replicas(each) - count))
            gone += count
    return found
