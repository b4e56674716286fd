"""Files that a command writes for a user to go on with: none that is there already is written over."""

from collections.abc import Iterable
from pathlib import Path


def write_new(folder: Path, contents: Iterable[tuple[str | Path, str]]) -> list[Path]:
    """Write files by their paths below a folder; return where. Raises OSError, and writes none if one is there."""
    texts = {folder / name: text for name, text in contents}
    for path in texts:
        if path.exists():
            raise FileExistsError(f"{path} is there already; nothing was written")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(texts)
