"""The profiles that a sequence is composed of, and the limits on sequences."""

from collections.abc import Mapping

from batkube.batsim.profiles import ComposedProfile, Profile

MAX_NESTING = 100
"""The deepest nesting of sequences. Deeper ones are refused."""
MAX_LEAVES = 10_000_000
"""The most delays and tasks that a job plays in all. Longer sequences are refused."""


def parts(profile: Profile, profiles: Mapping[str, Profile]) -> list[Profile]:
    """Return the profile and all that it is composed of, each once, elements before their sequence.

    Raises ValueError if a sequence names a profile that does not exist, contains itself, or is unreasonably deep or
    long.
    """
    if not isinstance(profile, ComposedProfile):
        return [profile]
    found: dict[str, tuple[Profile, int]] = {}
    _collect(profile, profiles, found, ())
    return [part for part, _ in found.values()]


def _collect(
    profile: Profile, profiles: Mapping[str, Profile], found: dict[str, tuple[Profile, int]], above: tuple[str, ...]
) -> int:
    """Add the parts of ``profile`` to ``found``; return the number of leaves that are played in all."""
    if profile.name in found:
        return found[profile.name][1]
    if profile.name in above:
        raise ValueError(f"profile {profile.name!r} contains itself: {' > '.join((*above, profile.name))}")
    if len(above) >= MAX_NESTING:
        raise ValueError(f"profile {above[0]!r}: has sequences in sequences more than {MAX_NESTING} deep")
    leaves = 1
    if isinstance(profile, ComposedProfile):
        leaves = 0
        for element in profile.seq:
            if element not in profiles:
                raise ValueError(f"profile {profile.name!r}: seq: there is no profile {element!r}")
            leaves += _collect(profiles[element], profiles, found, (*above, profile.name))
        leaves *= profile.repeat
        if leaves > MAX_LEAVES:
            raise ValueError(
                f"profile {profile.name!r}: repeat: plays {leaves} profiles in all, more than {MAX_LEAVES}"
            )
    found[profile.name] = (profile, leaves)
    return leaves
