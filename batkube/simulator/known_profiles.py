"""The profiles that jobs may name, and when Batsim forgets them."""

from collections import Counter
from collections.abc import Iterable

from batkube.batsim.profiles import Profile
from batkube.batsim.workload import Workload


class KnownProfiles:
    """Profiles by workload and name.

    Unless ``reuse`` is set a profile is forgotten when the last job that used it has gone. One that no static job uses
    is not known at all.
    """

    def __init__(self, workloads: Iterable[Workload], *, reuse: bool) -> None:
        self._known: dict[str, dict[str, Profile]] = {w.name: dict(w.used_profiles) for w in workloads}
        self._forgotten: dict[str, set[str]] = {}
        self._users: Counter[tuple[str, str]] = Counter()
        self._reuse = reuse

    def __contains__(self, workload: str) -> bool:
        return workload in self._known

    def of(self, workload: str) -> dict[str, Profile]:
        """Those of a workload, by name."""
        return self._known[workload]

    def add(self, workload: str, profile: Profile) -> None:
        """Make a profile known, and its workload too. Raises ValueError where the name is taken."""
        known = self._known.setdefault(workload, {})
        if profile.name in known:
            raise ValueError(f"workload {workload} has a profile {profile.name!r} already")
        known[profile.name] = profile

    def check_name(self, workload: str, name: object) -> None:
        """Raise ValueError for a profile that is not known, telling what never was from what has been forgotten."""
        if isinstance(name, str) and name not in self._known[workload]:
            if name in self._forgotten.get(workload, ()):
                raise ValueError(
                    f"profile {name!r} existed and was forgotten when its last job ended: profile reuse is not enabled"
                )
            raise ValueError(f"workload {workload} has no profile {name!r}")

    def use(self, workload: str, names: Iterable[str]) -> None:
        """A job uses these."""
        for name in names:
            self._users[workload, name] += 1

    def release(self, workload: str, names: Iterable[str]) -> None:
        """A job that used these has gone."""
        for name in names:
            self._users[workload, name] -= 1
            if not self._reuse and not self._users[workload, name]:
                self._known[workload].pop(name, None)
                self._forgotten.setdefault(workload, set()).add(name)
