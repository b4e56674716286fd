"""The values of ``-p``: a platform of SimGrid's, or machines in other forms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from batkube.batsim.platform import Platform, PlatformError, read_platform
from batkube.batsim.platform_file import read_xml
from batkube.batsim.workload import WorkloadError
from batkube.platforms.machine import Machine, numbered
from batkube.platforms.node_dump import read_dump
from batkube.platforms.openb_nodes import COLUMNS, read_openb
from batkube.platforms.platform_text import platform_text
from batkube.platforms.short_form import EXAMPLE, is_short_form, read_more, read_short_form
from batkube.workloads.source import Head, Source

Read = TypeVar("Read")


@dataclass(frozen=True)
class GivenPlatform:
    """A platform, and the file that there must be of it."""

    platform: Platform
    text: str | None = None
    """The file that has to be written; None where it is there already."""
    files: list[Path] = field(default_factory=list)
    """The files that were read."""
    warnings: list[str] = field(default_factory=list)


def read_given_platform(given: Sequence[Path], added: Sequence[str] = ()) -> GivenPlatform:
    """Return what was given, together. ``added``: ``20 like n1``. Raises PlatformError."""
    sources = [None if is_short_form(str(one)) else _Source(one) for one in given]
    if xml := next((source for source in sources if source is not None and source.is_xml), None):
        if len(given) > 1 or added:
            others = "--add-nodes" if added else "another -p"
            raise PlatformError(
                f"{xml.path}: a platform of SimGrid's stands alone, without {others}: its network says nothing of "
                "other machines"
            )
        return GivenPlatform(read_platform(xml.path), files=[xml.path])
    machines: list[Machine] = []
    warnings: list[str] = []
    for one, source in zip(given, sources, strict=True):
        if source is None:
            machines += _short(read_short_form, str(one))
        else:
            found, left_out = source.machines()
            machines += found
            warnings += left_out
    machines = numbered(machines, {machine.name for machine in machines})
    for more in added:
        times, name = _short(read_more, more, "--add-nodes: ")
        like = next((machine for machine in machines if machine.name == name), None)
        if like is None:
            raise PlatformError(f"--add-nodes: there is no node {name!r} to be like")
        machines += [like.named(f"{name}-more-{number:0{len(str(times))}}") for number in range(1, times + 1)]
    names: set[str] = {"master_host"}
    for machine in machines:
        if machine.name in names:
            raise PlatformError(f"there are two nodes {machine.name!r}, or it is the name of Batsim's own host")
        names.add(machine.name)
    text = platform_text(machines)
    contents = read_xml(text)
    return GivenPlatform(
        Platform(contents.hosts, contents.zone_of, contents.links),
        text,
        [source.path for source in sources if source is not None],
        warnings,
    )


def _short(read: Callable[[str], Read], text: str, where: str = "") -> Read:
    try:
        return read(text)
    except ValueError as error:
        raise PlatformError(f"{where}{error}") from None


class _Source:
    """A file of machines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._source = Source(path)
        try:
            self._head: Head = self._source.head()
        except WorkloadError as error:
            raise PlatformError(str(error)) from None

    @property
    def is_xml(self) -> bool:
        return self._head.text.lstrip().startswith("<")

    def machines(self) -> tuple[list[Machine], list[str]]:
        """Return the machines, and what to warn of. Raises PlatformError."""
        try:
            if set(COLUMNS) <= set(self._head.columns):
                return read_openb(self._source), []
            if '"apiVersion"' in self._head.text or "apiVersion:" in self._head.text:
                found, others = read_dump(self.path, self._source.content())
                words = ", ".join(f"{count} {kind}" for kind, count in others.items())
                return found, [f"{self.path}: objects that are no nodes are left out: {words}"] if others else []
        except WorkloadError as error:
            raise PlatformError(str(error)) from None
        raise PlatformError(
            f"{self.path}: expected a platform of SimGrid's (XML), nodes as kubectl get nodes -o yaml writes them, "
            f"a list of nodes of openb's, or machines such as {EXAMPLE}"
        )
