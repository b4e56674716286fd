"""Cases: what a line of the corpus says, and which of them are wanted."""

import fnmatch
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

JSON = Any
Case = dict[str, Any]
"""As README.md describes it: `case`, `why`, `steps`, and what else it needs."""

CORPUS = Path(__file__).parent / "corpus"


class CaseError(ValueError):
    """A file of cases cannot be used. The text names the file and the line."""


def load(paths: Iterable[Path]) -> list[Case]:
    """The cases of files, and of the files in folders (but not in folders below). Raises CaseError."""
    cases: list[Case] = []
    seen: set[str] = set()
    for file in [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]:
        for number, case in enumerate(load_file(file), 1):
            if case["case"] in seen:
                raise CaseError(f"{file}:{number}: two cases are named {case['case']}")
            seen.add(case["case"])
            cases.append(case)
    return cases


def load_file(file: Path) -> list[Case]:
    """The cases of one file, one a line. Raises CaseError."""
    cases = []
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise CaseError(f"{file}: {error.strerror}") from None
    # Not splitlines(): it also splits at U+2028, which JSON leaves as it is.
    for number, line in enumerate(text.split("\n"), 1):
        if not line:
            continue
        try:
            case = json.loads(line)
        except ValueError as error:
            raise CaseError(f"{file}:{number}: no JSON: {error}") from None
        missing = [key for key in ("case", "why", "steps") if not isinstance(case, dict) or key not in case]
        if missing:
            raise CaseError(f"{file}:{number}: not a case: it has no {missing[0]}")
        cases.append(case)
    return cases


def write_file(file: Path, cases: Iterable[Case]) -> None:
    """One case a line."""
    lines = [json.dumps(case, ensure_ascii=False) + "\n" for case in cases]
    file.write_text("".join(lines), encoding="utf-8")


def chosen(cases: Iterable[Case], only: Sequence[str] = (), skip_tags: Sequence[str] = ()) -> list[Case]:
    """Those whose name fits one of the globs (all, if there is none) and that have none of the tags."""
    return [
        case
        for case in cases
        if (not only or any(fnmatch.fnmatch(case["case"], glob) for glob in only))
        and not set(case.get("tags", ())) & set(skip_tags)
    ]


def area(case: Case) -> str:
    """Return what a case is about: the first part of its name."""
    return str(case["case"]).partition("/")[0]
