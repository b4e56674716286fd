"""The flags of kube-controller-manager that the controllers here heed."""

from dataclasses import dataclass

ALL = "*"
"""The entry of ``controllers`` that stands for all that no other entry names."""


@dataclass(frozen=True)
class Flags:
    """The flags, under their names."""

    controllers: tuple[str, ...] = (ALL,)
    """The controllers that are played: names, ``-name`` for those that are not, and ``*`` for all others."""
    terminated_pod_gc_threshold: int = 0
    """The number of ended pods that may stay; 0 for any."""
    pvclaimbinder_sync_period: float = 15.0
    """The simulated seconds between two looks at claims that have no volume, from the beginning of the simulation."""
    node_monitor_period: float = 5.0
    """The simulated seconds between two looks at the nodes, from the beginning of the simulation."""
    node_eviction_rate: float = 0.1
    """The nodes of a zone that are tainted, so that their pods go, a simulated second."""
    secondary_node_eviction_rate: float = 0.01
    """The same, of a large zone of which much is lost."""
    large_cluster_size_threshold: int = 50
    """The number of nodes beyond which a zone is large. Of one that is not, and of which much is lost, no pods go."""
    unhealthy_zone_threshold: float = 0.55
    """The share of a zone's nodes that is much to lose."""

    def play(self, names: tuple[str, ...]) -> bool:
        """Tell whether a controller of these names is played: an entry that names it counts before ``*``."""
        for entry in self.controllers:
            if entry.removeprefix("-") in names:
                return not entry.startswith("-")
        return ALL in self.controllers
