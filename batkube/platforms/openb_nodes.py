"""The lists of nodes of Alibaba's openb trace (CSV): ``sn,cpu_milli,memory_mib,gpu,model``."""

from batkube.batsim.platform import PlatformError
from batkube.kube.apimachinery.quantity import Quantity
from batkube.platforms.machine import GPU, Machine
from batkube.workloads.csv_table import rows
from batkube.workloads.openb import GPU_MILLI, MODEL, WHOLE
from batkube.workloads.source import Source
from batkube.workloads.values import whole

COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")


def read_openb(source: Source) -> list[Machine]:
    """Return the nodes. Raises PlatformError, with the number of the line."""
    machines: dict[str, Machine] = {}
    for line, row in rows(source, needed=COLUMNS):
        name = row["sn"]
        if not name or name in machines:
            raise PlatformError(f"{source.path}: line {line}: sn: expected a name that no other node has, not {name!r}")
        amounts = {}
        for column in ("cpu_milli", "memory_mib", "gpu"):
            try:
                amounts[column] = whole(row[column], most=10**12)
            except ValueError as error:
                raise PlatformError(f"{source.path}: line {line}: {column}: {error}") from None
        gpus = amounts["gpu"]
        machines[name] = Machine(
            name,
            str(Quantity.parse(f"{amounts['cpu_milli']}m")),
            str(Quantity.parse(f"{amounts['memory_mib']}Mi")),
            resources={GPU: str(gpus), GPU_MILLI: str(WHOLE * gpus)} if gpus else {},
            labels={MODEL: row["model"]} if row["model"] else {},
        )
    return list(machines.values())
