"""A file of ``--controllers``: flags of kube-controller-manager, in YAML.

controllers: ['*', '-cronjob-controller']   # as the flag has them: all but one; or those that are named
terminated-pod-gc-threshold: 1000
pvclaimbinder-sync-period: 15s
node-eviction-rate: 0.1                     # and others, as docs/controllers.md has them
"""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from batkube.controllers.catalogue import BUILT_IN, RESOURCE_CLAIMS
from batkube.controllers.flags import ALL, Flags
from batkube.startup.lengths import Length
from batkube.startup.model_file import read_model


def _entries(value: Any) -> Any:
    """Return the entries of a text with commas, as the flag has them; a list as it is."""
    return tuple(entry.strip() for entry in value.split(",")) if isinstance(value, str) else value


def _built_in(entries: tuple[str, ...]) -> tuple[str, ...]:
    names = [kind.names for kind in (*BUILT_IN, RESOURCE_CLAIMS)]
    for entry in entries:
        if entry != ALL and not any(entry.removeprefix("-") in each for each in names):
            raise ValueError(f"{entry!r} is not built in; there are {', '.join(sorted(each[0] for each in names))}")
    return entries


Rate = Annotated[float, Field(ge=0, le=1e6)]
"""A number of nodes a simulated second."""


class FlagFile(BaseModel):
    """The content of the file: what is left out is as it is without a file."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, alias_generator=lambda name: name.replace("_", "-")
    )

    controllers: Annotated[tuple[str, ...], BeforeValidator(_entries), AfterValidator(_built_in)] = Flags.controllers
    terminated_pod_gc_threshold: Annotated[int, Field(strict=True, ge=0)] = Flags.terminated_pod_gc_threshold
    pvclaimbinder_sync_period: Length = Flags.pvclaimbinder_sync_period
    node_monitor_period: Length = Flags.node_monitor_period
    node_eviction_rate: Rate = Flags.node_eviction_rate
    secondary_node_eviction_rate: Rate = Flags.secondary_node_eviction_rate
    large_cluster_size_threshold: Annotated[int, Field(strict=True, ge=0)] = Flags.large_cluster_size_threshold
    unhealthy_zone_threshold: Annotated[float, Field(ge=0, le=1)] = Flags.unhealthy_zone_threshold

    @model_validator(mode="before")
    @classmethod
    def _heeded(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError("expected flags of kube-controller-manager, such as `controllers: job-controller`")
        heeded = [str(field.alias) for field in cls.model_fields.values()]
        for name in value:
            if name == "node-monitor-grace-period":
                raise ValueError(f"{name} is an option of its own: --{name}")
            if name not in heeded:
                near = get_close_matches(str(name), heeded, n=1)
                meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(heeded)}"
                raise ValueError(f"{name} is no flag that the controllers here heed: {meant}")
        return value


def read_flags(path: Path) -> Flags:
    """Read the file. Raises StartupError, which names the file, the line and the field."""
    return Flags(**read_model(path, FlagFile).model_dump())
