"""Profiles: the work of a job, as workload files and REGISTER_PROFILE describe it.

They have Batsim 4's types, and Batsim 5's new names for the same types. Amounts are flops, bytes and simulated seconds.
https://batsim.readthedocs.io/en/latest/input-workload.html#profile
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AliasChoices, Field, PrivateAttr, ValidationError, model_validator

from batkube.batsim.input_file import FileObject, explain

JSON = dict[str, Any]

MAX_NUMBER = 1e30
"""The most flops, bytes or seconds. More are taken for a mistake: sums and quotients lose their meaning."""

_CLASSES: dict[str, type["Profile"]] = {}
"""The profiles by the spellings of their types."""

GenerationStrategy = Literal["DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"]
Amount = Annotated[float, Field(ge=0, le=MAX_NUMBER, allow_inf_nan=False)]
PositiveAmount = Annotated[float, Field(gt=0, le=MAX_NUMBER, allow_inf_nan=False)]


Flow = tuple[int, int, float]
"""A source executor, a destination executor, and the bytes from one to the other."""
Work = tuple[Sequence[float], list[Flow]]
"""The flops of each executor, and the flows between them."""


class Profile(FileObject):
    """A profile: ``name`` and the members of its type; the user's own members are in ``extra``."""

    types: ClassVar[tuple[str, ...]] = ()
    """The spellings of this type, Batsim 4's first: files name it by these."""
    is_task: ClassVar[bool] = False
    """True if it is played as a parallel task: it has ``work``."""
    merges: ClassVar[bool] = False
    """True if Batsim can merge it with an ``additional_io_job``, or of one."""
    stages: ClassVar[bool] = False
    """True if it moves bytes from one storage to another: Batsim wants to be told the hosts of these in any case."""

    type: str
    ret: int = 0
    """The return code. Jobs of a profile with a code other than 0 end as COMPLETED_FAILED."""
    _name: str = PrivateAttr("")

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Let files name the profile by its types."""
        cls.is_task = cls.work is not Profile.work
        _CLASSES.update(dict.fromkeys(cls.__dict__.get("types", ()), cls))

    @property
    def name(self) -> str:
        name: str = self.__pydantic_private__["_name"]  # type: ignore[index]
        return name

    @property
    def storages(self) -> tuple[str, ...]:
        """The labels of the storages that it uses, in order."""
        return ()

    @property
    def elements(self) -> Sequence[str]:
        """The profiles that it is composed of, in order, all in one repetition; none if it is a single one."""
        return ()

    @property
    def executors(self) -> int | None:
        """The number of hosts that it is made for; None for any."""
        return None

    @property
    def total(self) -> bool:
        """True if its flops and bytes are for all executors together, so that any number of hosts may share them."""
        return False

    def work(self, executors: int) -> Work:
        """Return the work of the parallel task on so many executors.

        Storage hosts count as further executors after them, in the order of ``storages``.
        """
        raise TypeError(f"a profile of type {self.type} is no parallel task")

    def check_known(self) -> None:
        """Raise ValueError if the type is not known: Batsim takes such a profile for a trace."""

    def check_registered(self) -> None:
        """Raise ValueError if Batsim does not take such a profile at run time (REGISTER_PROFILE)."""

    def check_files(self, folder: Path) -> None:
        """Raise ValueError if a file that it names is not in ``folder``, that of its workload."""


class DelayProfile(Profile):
    """A delay of so many seconds, whatever the hosts do."""

    types = ("delay", "DelayProfile")
    delay: PositiveAmount

    @classmethod
    def made(cls, name: str, delay: float) -> "DelayProfile":
        """Return a profile that is in no file. Its delay may be 0, which a file must not have."""
        profile = cls.model_construct(type="delay", delay=delay)
        profile._name, profile._raw = name, {"type": "delay", "delay": delay}
        return profile


class ParallelProfile(Profile):
    """A parallel task, executor by executor: flops each, and bytes from each (row) to each (column)."""

    types = ("parallel", "ParallelTaskProfile")
    merges = True
    cpu: list[Amount] = Field(default_factory=list)
    com: list[Amount] = Field(default_factory=list)
    """Batsim 4 wants both ``cpu`` and ``com``, Batsim 5 at least one of them."""

    @model_validator(mode="after")
    def _square(self) -> "ParallelProfile":
        lacking = {"cpu", "com"} - self.model_fields_set
        if len(lacking) == 2 or (lacking and self.type == "parallel"):
            raise ValueError(f"{min(lacking, key=('cpu', 'com').index)}: missing")
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

    def work(self, executors: int) -> Work:
        flows = [(index // executors, index % executors, amount) for index, amount in enumerate(self.com) if amount]
        return self.cpu or [0.0] * executors, flows


class HomogeneousProfile(Profile):
    """A parallel task of any size: flops for each executor, bytes for each ordered pair of them."""

    types: ClassVar[tuple[str, ...]] = ("parallel_homogeneous", "ParallelTaskHomogeneousProfile", "ptask_homogeneous")
    merges = True
    # The last is how test_walltime.json, which ships with Batsim 5, spells it.
    cpu: Amount
    com: Amount
    generation_strategy: GenerationStrategy | None = None
    """Batsim 5's member that says whether the amounts are for each executor or for all."""

    @property
    def total(self) -> bool:
        return self.generation_strategy == "DefinedAmountsSpreadUniformly"

    def amounts(self, executors: int) -> tuple[float, float]:
        """Return the flops of each executor, and the bytes of each ordered pair of them."""
        if not self.total:
            return self.cpu, self.com
        return self.cpu / executors, self.com / max(1, executors * (executors - 1))

    def work(self, executors: int) -> Work:
        flops, transfer = self.amounts(executors)
        return [flops] * executors, _all_pairs(executors, transfer)


class HomogeneousTotalProfile(HomogeneousProfile):
    """A parallel task whose amounts are divided by the number of executors, the bytes of a pair as well."""

    types = ("parallel_homogeneous_total",)

    @property
    def total(self) -> bool:
        return True

    def amounts(self, executors: int) -> tuple[float, float]:
        return self.cpu / executors, self.com / executors


class ComposedProfile(Profile):
    """Other profiles one after the other, the whole repeated; it ends at the first that does not return 0."""

    types = ("composed", "SequentialCompositionProfile")
    seq: Annotated[list[str], Field(min_length=1)]
    repeat: Annotated[int, Field(ge=1)] = 1

    @property
    def elements(self) -> Sequence[str]:
        return self.seq

    def check_registered(self) -> None:
        raise ValueError("Batsim crashes on a composed profile that is registered at run time")


class PfsProfile(Profile):
    """Bytes that each executor reads from a storage host and writes to it."""

    types = ("parallel_homogeneous_pfs", "ParallelTaskOnStorageHomogeneousProfile")
    bytes_to_read: Amount = 0.0
    bytes_to_write: Amount = 0.0
    storage: str = "pfs"
    generation_strategy: GenerationStrategy | None = None
    """Batsim 5's member that says whether the bytes are for all executors together."""

    @model_validator(mode="after")
    def _some(self) -> "PfsProfile":
        if not self.model_fields_set & {"bytes_to_read", "bytes_to_write"}:
            raise ValueError("needs bytes_to_read, bytes_to_write or both")
        return self

    @property
    def storages(self) -> tuple[str, ...]:
        return (self.storage,)

    def amounts(self, executors: int) -> tuple[float, float]:
        """Return the bytes that each executor reads, and writes."""
        share = executors if self.generation_strategy == "DefinedAmountsSpreadUniformly" else 1
        return self.bytes_to_read / share, self.bytes_to_write / share

    def work(self, executors: int) -> Work:
        read, written = self.amounts(executors)
        reads = [(executors, executor, read) for executor in range(executors)]
        writes = [(executor, executors, written) for executor in range(executors)]
        return [0.0] * (executors + 1), reads + writes


class DataStagingProfile(Profile):
    """Bytes from one storage host to another."""

    types = ("data_staging", "ParallelTaskDataStagingBetweenStoragesProfile")
    stages = True
    nb_bytes: Amount
    source: str = Field(alias="from")
    destination: str = Field(alias="to")

    @property
    def storages(self) -> tuple[str, ...]:
        return (self.source, self.destination)

    def work(self, executors: int) -> Work:
        return [0.0] * (executors + 2), [(executors, executors + 1, self.nb_bytes)]


class TraceProfile(Profile):
    """Replay of a trace: SMPI's (``smpi``) or the use of the hosts' cores over time (``usage_trace``)."""

    types = ("smpi", "usage_trace", "TraceReplayProfile")
    trace: str = Field(validation_alias=AliasChoices("trace", "filename"))
    """The file that names the files of the ranks, from the workload's folder."""
    trace_type: str = ""
    """Batsim 5's member that distinguishes the two kinds."""

    @property
    def smpi(self) -> bool:
        """True if the ranks are MPI's."""
        return self.type == "smpi" or self.trace_type == "SMPI"

    def check_registered(self) -> None:
        raise ValueError(f"Batsim takes a profile of type {self.type} from a workload file only")

    def check_files(self, folder: Path) -> None:
        if not (folder / self.trace).is_file():
            raise ValueError(f"trace: there is no file {str(folder / self.trace)!r}")


class SendProfile(Profile):
    """A message to the decision process (FROM_JOB_MSG), then a sleep."""

    types = ("send",)
    msg: JSON
    sleeptime: PositiveAmount = 1e-7
    """The sleep in seconds."""


class RecvProfile(Profile):
    """A choice of a profile to go on with, by the first unread message of the decision process (TO_JOB_MSG)."""

    types = ("recv",)
    regex: str = ".*"
    """The pattern that the whole message must match."""
    success: str = ""
    """The profile to go on with if it matches; empty for none."""
    failure: str = ""
    """The profile to go on with if it does not match; empty for none."""
    timeout: str = ""
    """The profile to go on with if there is no message; empty to wait for one."""
    polltime: PositiveAmount = 0.005
    """Seconds from one look for a message to the next."""


class UnknownProfile(Profile):
    """A profile of another type. No workload may have one."""

    def check_known(self) -> None:
        known = ", ".join(kind for kind in _CLASSES if kind.islower())
        raise ValueError(f"type: {self.type!r} is no profile type; known are {known}")

    def check_registered(self) -> None:
        raise ValueError(f"type: {self.type!r} is no profile type")


def _all_pairs(executors: int, amount: float) -> list[Flow]:
    if not amount:
        return []
    everyone = range(executors)
    return [(source, destination, amount) for source in everyone for destination in everyone if source != destination]


def parse_profile(name: str, raw: object) -> Profile:
    """Return the profile that ``raw``, a JSON object, describes. Raises ValueError, whose text names the member."""
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
