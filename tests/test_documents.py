"""The modules, files and folders that documents name are there, and so are those that they link to."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/*/README.md")]
OF_BATKUBE = ("docs/architecture.md", "docs/glossary.md", "CONTRIBUTING.md")
"""Documents in which a module without a folder is one of batkube's, and not of a user's."""
NOT_THERE = {".batkube/", "bounds/", "sessions/NAME.md"}
"""The folders of a user's, and a placeholder."""


def paths() -> Iterator[Path]:
    """Yield all files and folders that documents may name."""
    for folder in ("batkube", "benchmarks", "docs", "examples", "platforms", "tests", "workloads"):
        yield ROOT / folder
        yield from (path for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts)


@pytest.fixture(scope="module")
def endings() -> set[str]:
    """All paths, and each again without its first folders, as documents name them."""
    found = set()
    for path in paths():
        parts = path.relative_to(ROOT).parts
        found |= {"/".join(parts[start:]) for start in range(len(parts))}
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_is_there(document: Path, endings: set[str]) -> None:
    of_batkube = str(document.relative_to(ROOT)) in OF_BATKUBE
    named = set(re.findall(r"`([\w./-]+(?:/|\.(?:py|c|md|yaml|jsonl?|txt)))`", document.read_text()))
    wanted = {name for name in named if "/" in name or (of_batkube and name.endswith(".py"))} - NOT_THERE
    assert sorted(name for name in wanted if name.rstrip("/") not in endings) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_links_to_is_there(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|mailto:|#)([^)#\s]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []
