"""The cells of each kind's row, in the order of its columns."""

from __future__ import annotations

from . import admission, cluster, devices, network, pods, scheduling, storage, workloads
from .text import Cells

CELLS: dict[str, Cells] = {
    **admission.CELLS,
    **cluster.CELLS,
    **devices.CELLS,
    **network.CELLS,
    **pods.CELLS,
    **scheduling.CELLS,
    **storage.CELLS,
    **workloads.CELLS,
}
