"""A server in the hands of a test, and programs that its idle oracle looks at."""

import socket
from collections.abc import Callable

WAITS = "print('ready', flush=True); input()"
SPINS = "print('ready', flush=True)\nwhile True: pass"
CONNECTS = """
import socket, sys, time
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
print('ready', flush=True)
"""


class Server:
    """A ServerSide in the hands of a test: nothing is accepted or read unless the test does."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.accepted: list[socket.socket] = []
        self.is_busy = False
        self.not_read: list[socket.socket] = []

    def accept(self) -> socket.socket:
        connection, _ = self.socket.accept()
        self.accepted.append(connection)
        return connection

    def busy(self) -> bool:
        return self.is_busy

    def when_bytes_come(self, heed: Callable[[], None]) -> None:
        pass

    def held_up(self) -> list[socket.socket]:
        return self.not_read

    def connections(self) -> list[socket.socket]:
        return self.accepted

    def active(self) -> None:
        return None

    def listener(self) -> socket.socket | None:
        return self.socket
