"""Simulations that tests ask for: ``batkube run`` in a process of its own, and its results."""

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from batkube.results.result import Result

WITHIN = 600.0
"""Real seconds a simulation may take, unless the test says otherwise."""


class SimulationFailed(AssertionError):
    """A simulation that did not finish; the text is what it said."""


class Simulation:
    """Runs simulations for one test, each into a folder of its own below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def __call__(
        self,
        workload: Path | str | Mapping[str, Any] | Iterable[Mapping[str, Any]],
        *,
        platform: Path | str | None = None,
        nodes: int = 4,
        cores: int = 1,
        memory: str = "16Gi",
        timeout: float = WITHIN,
        **options: Any,
    ) -> Result:
        """Run a workload to its end; the results.

        ``workload``: a file, the content of one, or just its jobs: ``{"id": "a", "subtime": 0, "delay": 60}``, whose
        ``delay`` makes a profile. ``platform``: a file; else there are ``nodes`` with ``cores`` and ``memory``.
        ``options``: those of ``batkube run``, by name: ``scheduler_cmd="my-scheduler --kubeconfig {kubeconfig}"``,
        ``seed=3``, ``enable_compute_sharing=True``. Raises SimulationFailed.
        """
        self._count += 1
        folder = self._folder / f"simulation-{self._count}"
        folder.mkdir(parents=True)
        out = folder / "out"
        __tracebackhide__ = True
        words = [sys.executable, "-m", "batkube", "run", "--quiet", "--out", str(out)]
        words += ["--platform", str(platform or _platform(folder / "platform.xml", nodes, cores, memory))]
        words += ["--workload", str(_workload(folder / "workload.json", workload, nodes))]
        words += [word for name, value in options.items() for word in _option(name, value)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout)
        if done.returncode != 0:
            raise SimulationFailed(f"batkube run ended with {done.returncode}: {done.stderr.strip()}")
        return Result(out)


def _option(name: str, value: Any) -> list[str]:
    option = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    values = value if isinstance(value, list | tuple) else [value]
    return [word for one in values for word in (option, str(one))]


def _platform(path: Path, nodes: int, cores: int, memory: str) -> Path:
    width = len(str(max(0, nodes - 1)))
    hosts = "".join(
        f'<host id="node-{number:0{width}}" speed="1Gf" core="{cores}">'
        f'<prop id="memory" value={quoteattr(memory)}/></host>\n'
        for number in range(nodes)
    )
    path.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1"><zone id="site" routing="Full">\n{hosts}'
        '<host id="master_host" speed="1Gf"/>\n</zone></platform>\n'
    )
    return path


def _workload(path: Path, given: Any, nodes: int) -> Path:
    if isinstance(given, str | Path):
        return Path(given)
    if not isinstance(given, Mapping):
        given = _of_jobs(given, nodes)
    path.write_text(json.dumps(given, indent=1))
    return path


def _of_jobs(jobs: Iterable[Mapping[str, Any]], nodes: int) -> dict[str, Any]:
    written, profiles = [], {}
    for job in jobs:
        if "delay" in job and "profile" not in job:
            profile = f"delay-{job['delay']}"
            profiles[profile] = {"type": "delay", "delay": job["delay"]}
            job = {"res": 1, **{name: value for name, value in job.items() if name != "delay"}, "profile": profile}
        written.append(dict(job))
    return {"nb_res": nodes, "jobs": written, "profiles": profiles}
