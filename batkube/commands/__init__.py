"""The commands, one module each; ``cli.py`` is the command line."""
