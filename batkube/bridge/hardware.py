"""The hosts of a simulator that can do more with them than Batsim: take in others, and slow them down."""

from typing import Protocol

NO_MORE_HOSTS = "this simulator takes in no more while it runs"
"""The reason why a node is refused that is none of the platform's hosts."""


class Hardware(Protocol):
    """The hosts of the built-in simulator."""

    def add_host(self, name: str, cores: int, speed: float = 1.0) -> int | None:
        """Take in a host, ``speed`` times as fast as the first; return its number, or None if nothing runs there."""
        ...

    def set_speed(self, number: int, speed: float) -> None:
        """Let a host go on at this share of its speed: tasks, and the processes of pods that clients make."""
        ...
