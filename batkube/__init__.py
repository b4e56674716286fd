"""batkube: any Kubernetes scheduler, unmodified, against a cluster that Batsim simulates.

::

    import batkube
    result = batkube.load("out")
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from batkube.results.result import Result, load

__version__ = "0.1.0"

__all__ = ["Result", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """Load what is asked for only then: commands start sooner."""
    if name in ("Result", "load"):
        from batkube.results import result

        return getattr(result, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
