"""The folder of the programs that `make tools` builds."""

import os
from pathlib import Path


def tools_folder() -> Path:
    """Return the folder into which the Makefile builds (the same rule is written there)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "batkube"
    return Path(os.environ.get("BATKUBE_TOOLS") or cache) / "bin"
