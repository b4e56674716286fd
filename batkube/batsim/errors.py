"""The errors between us and a simulator."""

import signal


class SimulatorError(Exception):
    """The simulation cannot go on, or cannot start. The text is for the user."""


class EndpointError(SimulatorError):
    """Nobody can listen at an endpoint: it is none, or another process has it. The text names it."""


class ProtocolError(SimulatorError):
    """A message that breaks the protocol. The text quotes the offending part."""


class SimulatorDied(SimulatorError):
    """The simulator ended although the simulation had not."""

    def __init__(
        self,
        who: str,
        exit_code: int | None = None,
        last_lines: str = "",
        *,
        when: str = "before the simulation ended",
    ) -> None:
        self.exit_code = exit_code
        """The exit code as in ``subprocess``: negative for a signal; None if it is not our child, and the code is not
        known."""
        self.last_lines = last_lines
        """The end of its standard error output."""
        if exit_code is None:
            how = f"is gone: the connection was closed {when}"
        elif exit_code < 0:
            how = f"was killed by {_signal_name(-exit_code)} {when}"
        else:
            how = f"exited with code {exit_code} {when}"
        words = f"; its last words: {last_lines}" if last_lines else ""
        super().__init__(f"{who} {how}{words}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
