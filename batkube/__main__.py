"""``python -m batkube`` is the command ``batkube``."""

from batkube.commands.cli import main

main()
