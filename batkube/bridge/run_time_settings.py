"""Settings of how long a simulation and the pods of clients go on, and of what becomes of them where hosts fail."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from batkube.bridge.requeue_rule import NEVER, read_requeue
from batkube.bridge.spare_hosts import read_spare
from batkube.option import CLUSTER, INPUTS, TIME, Option, checked
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
    requeue: Annotated[
        Annotated[str, AfterValidator(checked(read_requeue))],
        Option(
            "Jobs that lose their node, are evicted or preempted: never again, restart, or checkpoint:SECONDS.",
            CLUSTER,
            "RULE",
        ),
    ] = NEVER
    spare_hosts: Annotated[
        tuple[Annotated[str, AfterValidator(checked(read_spare))], ...],
        Option(
            "Hosts without a node at first, for nodes that clients create: names, n[8-15], or how many, the last ones "
            "(docs/machines.md); may be repeated.",
            CLUSTER,
            "HOSTS",
        ),
    ] = ()
    node_monitor_grace_period: Annotated[
        float,
        Field(ge=0, le=LONGEST),
        Option(
            "Notice a host that has failed when nothing was heard of it for so long (docs/machines.md); 0: at once.",
            CLUSTER,
            "LENGTH",
            read=read_length,
        ),
    ] = 0.0
    """As kube-controller-manager's flag, whose default is 50 seconds."""
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
