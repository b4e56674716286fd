"""A pod as a policy sees it."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from batkube.schedulers.policies.resources import Resources, requests_of

JSON = dict[str, Any]

JOB_LABEL = "batkube.io/job"
GANG_SIZE = "batkube.io/gang-size"
"""The annotation with the number of pods that start together. They carry the same JOB_LABEL."""
WALLTIME = "batkube.io/walltime"
"""The annotation with the seconds after which the pod's job is killed; ``activeDeadlineSeconds`` lacks their
fraction."""

DIGITS = 6
"""The decimals of a time: Batsim's are in microseconds, and the sum of two of them may be slightly off."""


@dataclass(slots=True, eq=False)
class Pod:
    """A pod. Only the Cluster that holds it changes it. Times are seconds of ``Cluster.now``."""

    object: JSON
    """The whole Pod as the API has it, to be read only: affinity, volumes and all else a policy may want to know."""
    uid: str
    namespace: str
    name: str
    requests: Resources
    """The resources it asks for: cpu in thousandths of a core, all else in base units; ``pods`` is 1."""
    seen: float
    """The time it was first seen."""
    gang: str | None = None
    """A name that is the same for all pods that have to start together; None for a pod that starts alone."""
    gang_size: int = 1
    """The number of pods that start together."""
    node: str | None = None
    """The name of its node."""
    bound: float | None = None
    """The time it was bound."""
    started: float | None = None
    """The time it was first seen Running."""
    _shape: Hashable = None
    _walltime: float | None = None
    _walltime_of: JSON | None = None
    """The Pod that has it."""

    @classmethod
    def of(cls, manifest: JSON, now: float) -> "Pod":
        """Read a Pod that is first seen ``now``."""
        metadata = manifest["metadata"]
        pod = cls(
            manifest,
            metadata["uid"],
            metadata.get("namespace", ""),
            metadata["name"],
            requests_of(manifest["spec"]),
            now,
        )
        size = int(metadata.get("annotations", {}).get(GANG_SIZE, 1))
        if size > 1 and (job := metadata.get("labels", {}).get(JOB_LABEL)):
            pod.gang, pod.gang_size = f"{pod.namespace}/{job}", size
        return pod

    def read(self, manifest: JSON) -> None:
        """Take over what the API says of it now."""
        self.object = manifest
        self.requests = requests_of(manifest["spec"])
        self._shape = None

    def __repr__(self) -> str:
        return f"<Pod {self.namespace}/{self.name}>"

    @property
    def labels(self) -> dict[str, str]:
        """The pod's labels."""
        labels: dict[str, str] = self.object["metadata"].get("labels", {})
        return labels

    @property
    def annotations(self) -> dict[str, str]:
        """The pod's annotations."""
        annotations: dict[str, str] = self.object["metadata"].get("annotations", {})
        return annotations

    @property
    def priority(self) -> int:
        """The pod's priority; 0 if it has none."""
        return int(self.object["spec"].get("priority") or 0)

    @property
    def node_selector(self) -> dict[str, str]:
        """The labels that its node must have."""
        selector: dict[str, str] = self.object["spec"].get("nodeSelector", {})
        return selector

    @property
    def tolerations(self) -> list[JSON]:
        """The taints that it tolerates (core/v1 Toleration)."""
        tolerations: list[JSON] = self.object["spec"].get("tolerations", [])
        return tolerations

    @property
    def shape(self) -> Hashable:
        """A value that is the same for pods that ask for the same: if one finds no room, the others find none."""
        if self._shape is None:
            spec = self.object["spec"]
            requirements = {name: spec[name] for name in ("nodeSelector", "tolerations", "affinity") if name in spec}
            self._shape = (*self.requests.items(), str(requirements))
        return self._shape

    @property
    def walltime(self) -> float | None:
        """The most seconds that it runs; None if neither annotation nor deadline says."""
        if self._walltime_of is not self.object:
            told = self.annotations.get(WALLTIME) or self.object["spec"].get("activeDeadlineSeconds")
            self._walltime, self._walltime_of = None if told is None else float(told), self.object
        return self._walltime

    def expected_end(self, now: float) -> float | None:
        """Return the latest time of its end, if it has a walltime: from ``now`` on if it does not run yet."""
        walltime = self.walltime
        if walltime is None:
            return None
        return max(now, round((now if self.started is None else self.started) + walltime, DIGITS))
