"""The folders import one another only as docs/architecture.md says."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "batkube"

MAY_IMPORT = {
    "kube": set(),
    "batsim": set(),
    "simulator": {"batsim"},
    "clock": set(),
    "schedulers": set(),
    "results": set(),
    "startup": set(),
    "bridge": {"kube", "batsim", "simulator", "clock", "results", "startup", "settings", "__init__"},
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
