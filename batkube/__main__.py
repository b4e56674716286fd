"""``python -m batkube`` is the command ``batkube``."""

from batkube.cli import main

main()
