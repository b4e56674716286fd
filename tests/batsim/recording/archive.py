"""Recordings in the repository: one compressed archive for each group of kinds."""

import lzma
import tarfile
import tempfile
from functools import cache
from pathlib import Path

RECORDINGS = Path(__file__).parents[1] / "recordings"


def pack(folders: list[Path], archive: Path) -> None:
    """Write the folders into an archive; the same content gives the same bytes."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (
        lzma.open(archive, "wb", preset=9 | lzma.PRESET_EXTREME) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for folder in sorted(folders):
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    tar.add(path, str(path.relative_to(folder.parent)), filter=_bare)


def _bare(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The entry without what differs from machine to machine."""
    entry.mtime = entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry


@cache
def _unpacked() -> tempfile.TemporaryDirectory[str]:
    """All recordings, unpacked once in this process; gone with it."""
    directory = tempfile.TemporaryDirectory(prefix="batsim-recordings-")
    for archive in sorted(RECORDINGS.glob("*/*.tar.xz")):
        with tarfile.open(archive, "r:xz") as tar:
            tar.extractall(Path(directory.name) / archive.parent.name, filter="data")
    return directory


def recordings(version: str) -> list[Path]:
    """The folders of the recorded runs of a version of the protocol, in order of their names."""
    return sorted((Path(_unpacked().name) / version).glob("*/"), key=lambda folder: folder.name)
