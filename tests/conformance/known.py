"""Known differences: the cases in which batkube differs from the real server, and why (`differences.yaml`)."""

from pathlib import Path

import yaml

FILE = Path(__file__).parent / "differences.yaml"

LEVELS = ("default", "strict")


def known_differences(*, strict: bool, file: Path = FILE) -> dict[str, str]:
    """The reason by the name of the case. What differs at the default level differs at the strict one too.

    ValueError, naming the case, where the file is not as it should be.
    """
    found: dict[str, str] = {}
    for level, groups in yaml.safe_load(file.read_text(encoding="utf-8")).items():
        if level not in LEVELS:
            raise ValueError(f"{file}: {level} is none of {', '.join(LEVELS)}")
        for group in groups:
            for case in group["cases"]:
                if case in found:
                    raise ValueError(f"{file}: {case} stands twice")
                if strict or level == "default":
                    found[case] = group["reason"]
    return found
