"""The folders import one another only as docs/architecture.md says."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "batkube"
KUBE = PACKAGE / "kube"

MAY_IMPORT = {
    "kube": set(),
    "batsim": {"__init__"},  # the version, for Batsim to know who it talks with
    "simulator": {"batsim", "event_queue"},
    "clock": set(),
    "schedulers": {"kube"},
    "results": set(),
    "comparison": {"results", "option"},
    "checks": {"comparison", "results", "kube"},
    "report": {"results"},
    "startup": {"kube"},
    "ci": {"option"},
    "testing": {"kube", "results", "comparison", "checks", "commands"},
    "bridge": {
        "kube",
        "batsim",
        "simulator",
        "clock",
        "results",
        "startup",
        "schedulers",
        "option",
        "event_queue",
        "__init__",
    },
    "live": {"kube", "bridge", "clock", "results", "report", "__init__"},
    "session": {
        "live",
        "report",
        *("kube", "batsim", "simulator", "clock", "results", "startup", "schedulers", "bridge"),
        *("settings", "settings_rules", "option", "__init__"),
    },
}


def imports_of(path: Path) -> set[str]:
    """The parts of batkube that a module imports: ``kube``, ``settings`` ..."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        elif isinstance(node, ast.ImportFrom):
            depth = len(path.relative_to(PACKAGE).parts) - node.level
            if depth < 1:
                names = [f"batkube.{node.module or ''}"]
        for name in names:
            first, _, rest = name.partition(".")
            if first == "batkube":
                found.add(rest.partition(".")[0] or "__init__")
    return found


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_folder_imports_only_what_it_may(folder: str) -> None:
    modules = sorted((PACKAGE / folder).rglob("*.py"))
    assert modules, f"nothing in batkube/{folder}"
    for path in modules:
        others = imports_of(path) - MAY_IMPORT[folder] - {folder}
        assert not others, f"{path.relative_to(PACKAGE.parent)} imports {', '.join(sorted(others))}"


def kube_rooms() -> dict[str, set[str]]:
    """The rooms of ``batkube/kube`` and what each may import, from the table in the document."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms: dict[str, set[str]] = {}
    for room, words in re.findall(r"^\| `(\w+)` \|[^|]*\| ([^|]*) \|$", text, re.MULTILINE):
        named = set(re.findall(r"`(\w+)`", words))
        rooms[room] = {*rooms} - named if words.startswith("all above") else named
    return rooms


def rooms_of(path: Path) -> set[str]:
    """The rooms of ``batkube/kube`` that one of its modules imports, but for its own."""
    package = ["batkube", *path.relative_to(PACKAGE).parts[:-1]]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            names = [".".join([*filter(None, base), alias.name]) for alias in node.names]
            found |= {name.split(".")[2] for name in names if name.startswith("batkube.kube.")}
    return found - {path.relative_to(KUBE).parts[0]}


def test_the_rooms_of_kube_are_those_of_the_document() -> None:
    folders = {path.parent.name for path in KUBE.glob("*/__init__.py")}
    assert folders == kube_rooms().keys()
    assert {path.name for path in KUBE.glob("*.py")} == {"__init__.py", "server.py"}


@pytest.mark.parametrize("room", sorted(kube_rooms()))
def test_a_room_of_kube_imports_only_what_it_may(room: str) -> None:
    may = kube_rooms()[room]
    for path in sorted((KUBE / room).rglob("*.py")):
        others = rooms_of(path) - may
        assert not others, f"{path.relative_to(ROOT)} imports {', '.join(sorted(others))}"
