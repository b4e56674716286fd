"""Settings of how long a simulation goes on, and of how long pods run that clients make."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from batkube.option import CLUSTER, INPUTS, TIME, Option
from batkube.startup.lengths import LONGEST, read_length


class RunTimeSettings(BaseModel):
    """Times are simulated seconds."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    durations: Annotated[
        Path | None,
        Option("How long pods run that clients make (YAML, docs/pods.md).", INPUTS, "FILE"),
    ] = None
    default_duration: Annotated[
        Annotated[float, Field(ge=0, le=LONGEST)] | None,
        Option(
            "How long such a pod runs of which nothing is known: seconds, or 1h30m; else to the end.",
            INPUTS,
            "LENGTH",
            read=read_length,
        ),
    ] = None
    until: Annotated[
        float,
        Field(ge=0, le=LONGEST),
        Option(
            "Go on until this date at least (simulated: seconds, or 7d), though no job is left.",
            TIME,
            "LENGTH",
            read=read_length,
            shows_default=False,
        ),
    ] = 0.0
    oom_killer: Annotated[
        bool,
        Option("Kill pods that use more memory (batkube.io/usage) than their limit, or their node, has.", CLUSTER),
    ] = False
