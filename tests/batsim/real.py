"""A real Batsim 4, where there is one on PATH."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest


@cache
def _real() -> Path | None:
    found = shutil.which("batsim")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=120).stdout
    return Path(found) if said.strip().startswith("v4.") else None


REAL = _real() or Path("batsim")
needs_batsim = pytest.mark.skipif(_real() is None, reason="there is no Batsim 4 on PATH")
