"""A module of more than 400 lines holds two ideas, as CONTRIBUTING.md says: each gets a module of its own."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
MOST_LINES = 400


def test_no_module_holds_two_ideas() -> None:
    modules = [path for folder in ("batkube", "benchmarks", "tests") for path in (ROOT / folder).rglob("*.py")]
    lengths = {path: len(path.read_text().splitlines()) for path in modules}
    assert len(lengths) > 500  # they were found
    long = [f"{path.relative_to(ROOT)}: {lines}" for path, lines in lengths.items() if lines > MOST_LINES]
    assert not long
