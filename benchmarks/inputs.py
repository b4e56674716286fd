"""Platform and workload files that benchmarks write."""

import json
from pathlib import Path
from typing import Any

JSON = dict[str, Any]
_DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">'  # SimGrid reads none without


def write_platform(folder: Path, hosts: int, *, cores: int = 1, memory: str | None = None) -> Path:
    """Write ``platform.xml``: equal hosts ``node-0``, ``node-1`` ... and a master host."""
    inner = f'<prop id="memory" value="{memory}"/></host>' if memory else "</host>"
    lines = [f'<host id="node-{number}" speed="1Gf" core="{cores}">{inner}' for number in range(hosts)]
    zone = "\n".join(['<zone id="site" routing="Full">', *lines, '<host id="master_host" speed="1Gf"/>', "</zone>"])
    path = folder / "platform.xml"
    path.write_text(f'<?xml version="1.0"?>\n{_DOCTYPE}\n<platform version="4.1">\n{zone}\n</platform>\n')
    return path


def write_workload(folder: Path, workload: JSON) -> Path:
    """Write ``workload.json``."""
    path = folder / "workload.json"
    path.write_text(json.dumps(workload, indent=1))
    return path
