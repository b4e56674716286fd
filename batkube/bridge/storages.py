"""Storage hosts for the profiles that read from storages and write to them, Batsim's ``storage_mapping``.

A profile names storages by labels. The job says under ``batkube.storage`` which host each label stands for. It need not
say so for a label that is a storage host's name, nor if there is only one storage host.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from batkube.batsim.messages import Resource
from batkube.batsim.profiles import Profile


@dataclass(frozen=True, slots=True)
class StorageNeeds:
    """The storages that the profile of a job, and all it is composed of, use."""

    labels: tuple[str, ...] = ()
    stages: bool = False
    """True if bytes are moved between storages: Batsim wants to be told the hosts of these in any case."""

    @classmethod
    def of(cls, profiles: Iterable[Profile]) -> "StorageNeeds":
        """Return the needs of all these profiles together."""
        labels: dict[str, None] = {}
        stages = False
        for profile in profiles:
            labels.update(dict.fromkeys(profile.storages))
            stages = stages or profile.stages
        return cls(tuple(labels), stages) if labels or stages else NO_STORAGES


NO_STORAGES = StorageNeeds()
"""The needs of the many profiles that use none."""


class Storages:
    """The storage hosts of the platform.

    ``named``: each storage that a job uses must be named to Batsim, even the only one, and beside a mapping, too.
    """

    def __init__(self, resources: Sequence[Resource] = (), *, named: bool = False) -> None:
        self.named = named
        self._numbers = {resource.name: resource.id for resource in resources}

    def __contains__(self, number: int) -> bool:
        return number in self._numbers.values()

    def mapping(self, needs: StorageNeeds, requirements: Mapping[str, str]) -> dict[str, int] | None:
        """Return the host number of each label; None if Batsim need not be told.

        Raises ValueError for a label whose host is not named.
        """
        if not needs.labels:
            return None
        numbers = {label: self._number(label, requirements.get(label)) for label in needs.labels}
        needless = len(self._numbers) == 1 and not needs.stages and not self.named
        return None if needless else numbers

    def _number(self, label: str, wish: str | None) -> int:
        known = ", ".join(self._numbers) or "none"
        if wish is not None and wish not in self._numbers:
            raise ValueError(f"batkube.storage: {label}: there is no storage host {wish!r}; the platform has {known}")
        name = wish or (label if label in self._numbers else None)
        if name is None:
            if len(self._numbers) != 1:
                raise ValueError(
                    f"its profile uses the storage {label!r}, and nobody says which host that is (batkube.storage);"
                    f" the platform has {known}"
                )
            (name,) = self._numbers
        return self._numbers[name]
