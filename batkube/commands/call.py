"""``batkube.run``: a run from Python, with the names of the command's options."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from batkube.results.result import Result
from batkube.settings import BAD_INPUT, RunSettings


class RunError(RuntimeError):
    """A run could not begin. The text is what the command said."""


def run(scenario: str | Path | None = None, /, *, out: str | Path | None = None, **options: Any) -> Result:
    """Run a simulation to its end and return its results.

    The options are those of ``batkube run``, with underscores: ``run(platform="p.xml", workload="w.json",
    scheduler="easy", seed=1)``. True turns a switch on, False and None leave an option out, several values come as a
    list. A ``scenario`` file may have options, too; the results go to ``out`` all the same. The run is a process of its
    own, so that it can be called from anywhere, a notebook included; what it prints is dropped. A run that fails has
    results, too: ``result.run.status`` and ``reason`` say so. Raises RunError where there are none, for bad options or
    input.
    """
    folder = Path(out) if out is not None else RunSettings.model_fields["out"].default
    words = [sys.executable, "-m", "batkube", "run", "--quiet", "--out", str(folder), *_words(options)]
    if scenario is not None:
        words.append(str(scenario))
    record = folder / "run.json"
    record.unlink(missing_ok=True)
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode == BAD_INPUT or not record.exists():
        raise RunError(done.stderr.strip() or f"batkube run ended with exit code {done.returncode}")
    return Result(folder)


def _words(options: dict[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            yield option
        elif value is not None and value is not False:
            for one in value if isinstance(value, list | tuple) else [value]:
                yield from (option, str(one))
