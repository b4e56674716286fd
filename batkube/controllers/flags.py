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

    def play(self, names: tuple[str, ...]) -> bool:
        """Tell whether a controller of these names is played: an entry that names it counts before ``*``."""
        for entry in self.controllers:
            if entry.removeprefix("-") in names:
                return not entry.startswith("-")
        return ALL in self.controllers
