"""The packing of a job of n processors into pods: n pods, or fewer that ask for several cores each."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from batkube.kube.apimachinery.quantity import Quantity

if TYPE_CHECKING:  # settings ask here for the names of packings, and shall not load all that readers need
    from batkube.workloads.reader import Record

PODS = "pods"
"""The packing where each processor is a pod."""
_PACKING = re.compile(r"pods|cores(=([1-9][0-9]{0,6}))?")


def checked_packing(text: str) -> str:
    """Return the text, if it says how jobs are packed. Raises ValueError."""
    if _PACKING.fullmatch(text) is None:
        raise ValueError(f"expected pods, cores or cores=N, not {text!r}")
    return text


@dataclass(frozen=True)
class Packing:
    """The meaning of ``pods``, ``cores`` or ``cores=N`` on the hosts that there are."""

    cores: int | None = None
    """The most cores of a pod; None: each processor is a pod."""

    @classmethod
    def parse(cls, text: str, host_cores: int | None) -> "Packing":
        """Return what the text means where hosts have so many cores; None: they are not known. Raises ValueError."""
        if checked_packing(text) == PODS:
            return cls()
        _, _, given = text.partition("=")
        if not given and host_cores is None:
            raise ValueError("--packing cores: there are no hosts; say how many cores a pod may have: cores=N")
        return cls(int(given) if given else host_cores)

    def packed(self, record: "Record") -> "Record":
        """Return the record with as few pods as hosts allow, all of one size; one whose pods name their cpu stays."""
        if self.cores is None or "cpu" in record.wants:
            return record
        pods = -(-record.pods // self.cores)
        each = -(-record.pods // pods)
        wants = {"cpu": str(each), **record.wants}
        for name in ("memory", "gpu"):
            if name in wants:
                wants[name] = str(Quantity.parse(str(wants[name])) * each)
        return replace(record, pods=pods, wants=wants)
