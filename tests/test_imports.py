"""The parts of batkube import one another only as the tables of docs/architecture.md say."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Package:
    """A package with a table in the document: a row for each of its rooms, which are its folders and modules."""

    folder: Path
    heading: str
    """The heading above the table."""

    def __str__(self) -> str:
        return self.folder.name

    @cached_property
    def rooms(self) -> set[str]:
        """The folders and modules that there are, by name."""
        folders = {path.parent.name for path in self.folder.glob("*/__init__.py")}
        return folders | {path.stem for path in self.folder.glob("*.py") if path.stem != "__init__"}

    @cached_property
    def table(self) -> list[tuple[set[str], set[str]]]:
        """The rows from the ground up: rooms, and those that they may import besides one another."""
        text = "\n" + (ROOT / "docs" / "architecture.md").read_text()
        section = text.partition(f"\n{self.heading}\n")[2].partition("\n## ")[0]
        rows: list[tuple[set[str], set[str]]] = []
        above: set[str] = set()
        for first, words in re.findall(r"^\| (`[^|]*`) \|[^|]*\| ([^|]*) \|$", section, re.MULTILINE):
            given, _, left_out = words.partition(" but ")
            may = self._names(given) | (above if given.startswith("all above") else set())
            rows.append((self._names(first), may - self._names(left_out)))
            above = above | self._names(first)
        return rows

    def _names(self, cell: str) -> set[str]:
        """The rooms that a cell names: ```http```, ```batkube/kube/```, ```option.py```."""
        return {Path(name).stem for name in re.findall(r"`([^`]*)`", cell)}

    def modules(self, room: str) -> list[Path]:
        """The modules of a room."""
        module = self.folder / f"{room}.py"
        return [module] if module.exists() else sorted((self.folder / room).rglob("*.py"))

    def imported(self, path: Path) -> set[str]:
        """The rooms that a module imports."""
        prefix = ".".join(self.folder.relative_to(ROOT).parts) + "."
        inside = {name.removeprefix(prefix).partition(".")[0] for name in names_of(path) if name.startswith(prefix)}
        return inside & self.rooms


BATKUBE = Package(ROOT / "batkube", "# Architecture")
KUBE = Package(ROOT / "batkube" / "kube", "## The API server")
SIMULATOR = Package(ROOT / "batkube" / "simulator", "## The built-in simulator")
PACKAGES = (BATKUBE, KUBE, SIMULATOR)


def names_of(path: Path) -> Iterator[str]:
    """Yield what a module imports, with all the dots: modules, and what may be modules."""
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = [*base, *filter(None, [node.module])]
            yield from (".".join([*module, alias.name]) for alias in node.names)


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_the_rooms_are_those_of_the_document(package: Package) -> None:
    assert set().union(*(rooms for rooms, _ in package.table)) == package.rooms


@pytest.mark.parametrize("package", PACKAGES, ids=str)
def test_no_room_of_the_document_may_import_one_below_it(package: Package) -> None:
    above: set[str] = set()
    for rooms, may in package.table:
        assert may <= above, f"{', '.join(sorted(rooms))}: {', '.join(sorted(may - above))} is no room above"
        above |= rooms


@pytest.mark.parametrize(
    ("package", "room"),
    [pytest.param(package, room, id=f"{package}-{room}") for package in PACKAGES for room in sorted(package.rooms)],
)
def test_a_room_imports_only_what_it_may(package: Package, room: str) -> None:
    may = next(rooms | may for rooms, may in package.table if room in rooms)
    for path in package.modules(room):
        others = package.imported(path) - may
        assert not others, f"{path.relative_to(ROOT)} imports {', '.join(sorted(others))}"
