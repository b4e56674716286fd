"""The command ``batkube``, and ``python -m batkube``."""

from batkube.commands import garbage


def main() -> None:
    """Entry point."""
    garbage.seldom()
    from batkube.commands.cli import main as command

    command()


if __name__ == "__main__":
    main()
