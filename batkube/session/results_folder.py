"""The folder of results: one run at a time has it, it holds nothing of others, and nothing of an earlier run stays."""

import fcntl
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from batkube.bridge.errors import InputError
from batkube.session.programs import former_files
from batkube.session.result_files import RESULT_FILES, WITH_THE_SERIES
from batkube.settings import ClusterSettings

BOUNDS = "bounds"
"""The folder with a folder of results for each built-in policy (``--bounds``)."""
MARKS = ("run.json", "events.jsonl", "repeat.json", "seeds.json", "kubeconfig")
"""A folder with one of these was made by batkube."""
SERVED = "simulation-"
"""The beginning of the names of folders in which ``serve`` keeps a simulation each."""
STALE = (
    *RESULT_FILES,
    *WITH_THE_SERIES,
    *(
        "events.jsonl",
        "attempts.csv",
        "waits.csv",
        "usage.csv",
        "resizes.csv",
        "error.txt",
        "repeat.json",
        "seeds.json",
    ),
    *("imported-platform.xml", "machine-events.txt"),
    *("scheduler.log", "kube-scheduler.yaml", "kubeconfig", "batsim.log"),
)
"""The files that a run leaves; those of a Batsim are ``batsim_*``."""


@contextmanager
def held(out: Path) -> Iterator[None]:
    """Make the folder, and hold it as long as the context lasts. Raises InputError if another process holds it.

    The lock is the kernel's, on the folder itself: it ends with the process, however that ends.
    """
    out.mkdir(parents=True, exist_ok=True)
    folder = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"--out {out}: another run writes its results there") from None
        yield
    finally:
        os.close(folder)


def check_own(out: Path) -> None:
    """Raise InputError if the folder holds files, and none that says that batkube made it."""
    names = sorted(path.name for path in out.iterdir())
    if names and not any(name in MARKS or name.startswith(SERVED) for name in names):
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise InputError(
            f"--out {out}: holds {names[0]}{others}, and no results of a run; --force takes it all the same"
        )


@contextmanager
def own_folder(settings: ClusterSettings) -> Iterator[None]:
    """Hold the folder of results as long as the context lasts; InputError where it is another's."""
    with held(settings.out):
        if not settings.force:
            check_own(settings.out)
        yield


def clear(out: Path, *, keep: Collection[Path] = (), batsim: bool = True) -> None:
    """Remove what an earlier run has left, its repetitions included, but for the files to ``keep``.

    ``batsim``: the files of a Batsim go, too; not where one that is started by hand may already write there.
    """
    kept = {os.path.realpath(path) for path in keep}
    found = [*(out / name for name in STALE), *out.glob("jittered-w*.json"), *out.glob("imported-w*.json")]
    found += former_files(out)
    found += [path.with_suffix(".parquet") for path in found if path.suffix == ".csv"]
    if batsim:
        found += out.glob("batsim_*")
    for path in found:
        if os.path.realpath(path) not in kept and (path.is_symlink() or path.is_file()):
            path.unlink()
    repeated = [folder for folder in out.iterdir() if folder.name.isdecimal()]
    for folder in (*repeated, *out.glob(f"{BOUNDS}/*")):
        if (folder / "run.json").is_file() and not folder.is_symlink():
            clear(folder, keep=keep, batsim=batsim)
            if not any(folder.iterdir()):
                folder.rmdir()
