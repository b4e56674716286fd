"""Profiles: what a job does while it runs, as workload files and REGISTER_PROFILE say it.

Batsim 4's types, and Batsim 5's new names for the same. Flops, bytes and seconds throughout.
https://batsim.readthedocs.io/en/latest/input-workload.html#profile
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from batkube.batsim.input_file import FileObject, explain

JSON = dict[str, Any]

MAX_NUMBER = 1e30
"""More flops, bytes or seconds than this are taken for a slip: beyond, sums and quotients lose their meaning."""

MAX_NESTING = 100
"""Sequences in sequences; deeper ones are refused."""
MAX_LEAVES = 10_000_000
"""Delays and tasks that a job plays in all; longer sequences are refused."""

Amount = Annotated[float, Field(ge=0, le=MAX_NUMBER, allow_inf_nan=False)]
PositiveAmount = Annotated[float, Field(gt=0, le=MAX_NUMBER, allow_inf_nan=False)]


class Profile(FileObject):
    """A profile. ``name`` and the members of its type; those of the user's are in ``extra``."""

    types: ClassVar[tuple[str, ...]] = ()
    """The spellings of this type, Batsim 4's first."""

    type: str
    ret: int = 0
    """The return code; jobs of a profile with another than 0 end as COMPLETED_FAILED."""
    _name: str = PrivateAttr("")

    @property
    def name(self) -> str:
        return self._name


class DelayProfile(Profile):
    """So many seconds, whatever the hosts do."""

    types = ("delay", "DelayProfile")
    delay: PositiveAmount


class ParallelProfile(Profile):
    """A parallel task, executor by executor: flops each, and bytes from each (row) to each (column)."""

    types = ("parallel", "ParallelTaskProfile")
    cpu: list[Amount] = Field(default_factory=list)
    com: list[Amount] = Field(default_factory=list)

    @model_validator(mode="after")
    def _square(self) -> "ParallelProfile":
        if not self.cpu and not self.com:
            raise ValueError("needs cpu, com or both")
        if self.cpu and self.com and len(self.com) != len(self.cpu) ** 2:
            raise ValueError(
                f"com must have {len(self.cpu) ** 2} numbers for {len(self.cpu)} in cpu, not {len(self.com)}"
            )
        if not self.cpu and self.executors**2 != len(self.com):
            raise ValueError(f"com must have a square number of members, not {len(self.com)}")
        return self

    @property
    def executors(self) -> int:
        return len(self.cpu) or round(len(self.com) ** 0.5)


class HomogeneousProfile(Profile):
    """A parallel task of any size: flops for each executor, bytes for each ordered pair of them."""

    types: ClassVar[tuple[str, ...]] = ("parallel_homogeneous", "ParallelTaskHomogeneousProfile", "ptask_homogeneous")
    # The last is how test_walltime.json, which ships with Batsim 5, spells it.
    cpu: Amount = 0.0
    com: Amount = 0.0
    generation_strategy: Literal["DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"] | None = None
    """Batsim 5's way to say ``parallel_homogeneous_total``."""

    @property
    def total(self) -> bool:
        """Whether the amounts are for all executors together."""
        return self.generation_strategy == "DefinedAmountsSpreadUniformly"


class HomogeneousTotalProfile(HomogeneousProfile):
    """A parallel task whose amounts are divided by the number of executors."""

    types = ("parallel_homogeneous_total",)

    @property
    def total(self) -> bool:
        return True


class ComposedProfile(Profile):
    """Other profiles one after the other, the whole repeated; ends at the first that does not return 0."""

    types = ("composed", "SequentialCompositionProfile")
    seq: Annotated[list[str], Field(min_length=1)]
    repeat: Annotated[int, Field(ge=1)] = 1


class PfsProfile(Profile):
    """Bytes that all executors together read from a storage host and write to it."""

    types = ("parallel_homogeneous_pfs", "ParallelTaskOnStorageHomogeneousProfile")
    bytes_to_read: Amount = 0.0
    bytes_to_write: Amount = 0.0
    storage: str = "pfs"


class DataStagingProfile(Profile):
    """Bytes from one storage host to another."""

    types = ("data_staging", "ParallelTaskDataStagingBetweenStoragesProfile")
    nb_bytes: Amount
    source: str = Field(alias="from")
    destination: str = Field(alias="to")


class TraceProfile(Profile):
    """Replay of a trace: SMPI's (``smpi``) or the use of the hosts' cores over time (``usage_trace``)."""

    types = ("smpi", "usage_trace", "TraceReplayProfile")


class MessageProfile(Profile):
    """Talk with the decision process."""

    types = ("send", "recv")


class UnknownProfile(Profile):
    """A profile of another type. Harmless as long as no job uses it."""


_CLASSES: dict[str, type[Profile]] = {
    spelling: kind
    for kind in (
        DelayProfile,
        ParallelProfile,
        HomogeneousProfile,
        HomogeneousTotalProfile,
        ComposedProfile,
        PfsProfile,
        DataStagingProfile,
        TraceProfile,
        MessageProfile,
    )
    for spelling in kind.types
}
PROFILE_TYPES = tuple(_CLASSES)


def parse_profile(name: str, raw: object) -> Profile:
    """The profile that ``raw``, a JSON object, describes. Raises ValueError, whose text names the member."""
    if not isinstance(raw, dict):
        raise ValueError(f"expected an object, not {raw!r}")
    spelling = raw.get("type")
    if not isinstance(spelling, str):
        raise ValueError(f"type: expected the name of a profile type, not {spelling!r}")
    try:
        profile = _CLASSES.get(spelling, UnknownProfile).model_validate(raw)
    except ValidationError as error:
        raise ValueError(explain(error)) from None
    profile._name = name
    profile._raw = raw
    return profile


def parts(profile: Profile, profiles: Mapping[str, Profile]) -> list[Profile]:
    """The profile and all that it is composed of, each once, elements before their sequence.

    Raises ValueError where a sequence names a profile that is not there, contains itself, or is too deep or too long to
    be meant.
    """
    found: dict[str, tuple[Profile, int]] = {}
    _collect(profile, profiles, found, ())
    return [part for part, _ in found.values()]


def _collect(
    profile: Profile, profiles: Mapping[str, Profile], found: dict[str, tuple[Profile, int]], above: tuple[str, ...]
) -> int:
    """Add the parts of ``profile`` to ``found``; the number of leaves that are played in all."""
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
