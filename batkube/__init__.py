"""batkube: any Kubernetes scheduler, unmodified, against a cluster that Batsim simulates.

::

    import batkube

    result = batkube.run(platform="platform.xml", workload="workload.json", scheduler="easy")
    result = batkube.load("out")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batkube.commands.call import RunError, run
    from batkube.results.csv_rows import ResultsError
    from batkube.results.result import Result, load

__version__ = "0.1.0"

__all__ = ["Result", "ResultsError", "RunError", "__version__", "load", "run"]

_HOMES = {
    "Result": "batkube.results.result",
    "ResultsError": "batkube.results.csv_rows",
    "RunError": "batkube.commands.call",
    "load": "batkube.results.result",
    "run": "batkube.commands.call",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for only then, so that commands start soon."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
