"""Ends of the program: its exit codes, and the line that says why."""

import sys

FINISHED, FAILED, BAD_INPUT = 0, 1, 2
"""The exit codes."""


def fail(text: str, code: int) -> int:
    """Say on standard error why the program ends, and return ``code``."""
    print(f"batkube.simulator: {text}", file=sys.stderr, flush=True)
    return code
