"""The profiles that jobs may name, and when Batsim forgets them."""

from collections.abc import Collection

from batkube.batsim.profiles import Profile
from batkube.batsim.workload import Workload


class KnownProfiles:
    """Profiles by workload and name.

    Unless ``reuse`` is set, a profile is forgotten when the first job that used it has gone, whatever other jobs use
    it; nothing changes for jobs that have it already. A profile that no static job uses is forgotten from the
    beginning. A name that is forgotten stays taken. (``Jobs::delete_job``, ``Profiles::remove_profile``.)
    """

    def __init__(self, workloads: Collection[Workload], *, reuse: bool) -> None:
        self._known: dict[str, dict[str, Profile]] = {w.name: dict(w.used_profiles) for w in workloads}
        self._forgotten: dict[str, set[str]] = {w.name: w.profiles.keys() - w.used_profiles.keys() for w in workloads}
        self._reuse = reuse

    def __contains__(self, workload: str) -> bool:
        return workload in self._known

    def of(self, workload: str) -> dict[str, Profile]:
        """Return the profiles of a workload, by name."""
        return self._known[workload]

    def add(self, workload: str, profile: Profile) -> None:
        """Make a profile known, and its workload too. Raises ValueError if the name is taken."""
        known = self._known.setdefault(workload, {})
        if profile.name in known:
            raise ValueError(f"workload {workload} has a profile {profile.name!r} already")
        if profile.name in self._forgotten.get(workload, ()):
            raise ValueError(f"workload {workload} had a profile {profile.name!r}: the name stays taken")
        known[profile.name] = profile

    def check_name(self, workload: str, name: object) -> None:
        """Raise ValueError for an unknown profile; the text says whether it never existed or has been forgotten."""
        if isinstance(name, str) and name not in self._known[workload]:
            if name in self._forgotten.get(workload, ()):
                raise ValueError(f"profile {name!r} existed and was forgotten: profile reuse is not enabled")
            raise ValueError(f"workload {workload} has no profile {name!r}")

    def forget(self, workload: str, profile: Profile) -> None:
        """Forget a profile and its elements: a job that used it has gone."""
        if self._reuse:
            return
        known, forgotten = self._known[workload], self._forgotten.setdefault(workload, set())
        if profile.name in known:
            forgotten.add(profile.name)
            del known[profile.name]
            for element in profile.elements:
                if element in known:
                    self.forget(workload, known[element])
