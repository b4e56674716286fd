"""The back-off of Jobs: they make pods again ten seconds after one has failed, and twice as long each time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from batkube.controllers.cluster import Cluster
from batkube.controllers.conditions import condition
from batkube.controllers.job.indexes import all_failures_of

JSON = dict[str, Any]

FIRST, LONGEST = 10.0, 600.0
"""Simulated seconds."""


@dataclass(frozen=True)
class Backoff:
    """The failures of a Job's pods since the last success."""

    failures: int = 0
    last: float | None = None
    """The date of the last of them."""

    def after(self, succeeded: Sequence[float], failed: Sequence[float]) -> "Backoff":
        """Return it after more pods have ended at these dates, in order."""
        if not succeeded:
            return Backoff(self.failures + len(failed), failed[-1]) if failed else self
        later = [date for date in failed if date > succeeded[-1]]
        return Backoff(len(later), later[-1] if later else None)

    def left(self, now: float) -> float:
        """Return the seconds before pods may be made again."""
        if self.failures == 0 or self.last is None:
            return 0.0
        length = min(FIRST * 2.0 ** min(self.failures - 1, 10), LONGEST)
        return max(0.0, length - (now - self.last))


def left_for_index(cluster: Cluster, failed: JSON | None) -> float:
    """Return the same for an index whose last pod has ``failed``."""
    if failed is None:
        return 0.0
    return Backoff(all_failures_of(failed) + 1, finished(cluster, failed)).left(cluster.now)


def finished(cluster: Cluster, pod: JSON) -> float:
    """Return the date at which the pod's containers have ended, or what is nearest to it."""
    status, metadata = pod.get("status", {}), pod["metadata"]
    sidecars = {
        each["name"] for each in pod["spec"].get("initContainers") or () if each.get("restartPolicy") == "Always"
    }
    statuses = [
        *(status.get("containerStatuses") or ()),
        *(each for each in status.get("initContainerStatuses") or () if each["name"] in sidecars),
    ]
    ends = [((each.get("state") or {}).get("terminated") or {}).get("finishedAt") for each in statuses]
    dates = [cluster.date(end) for end in ends if end]
    if dates and len(dates) == len(ends):
        return max(dates)
    ready = condition(status, "Ready")
    if ready is not None and ready["status"] == "False" and ready.get("lastTransitionTime"):
        return cluster.date(ready["lastTransitionTime"])
    if metadata.get("deletionTimestamp"):
        return cluster.date(metadata["deletionTimestamp"]) - (metadata.get("deletionGracePeriodSeconds") or 0)
    return cluster.date(metadata["creationTimestamp"])
