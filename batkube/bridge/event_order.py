"""The order in which the events of one message are told."""

from collections.abc import Sequence
from itertools import groupby

from batkube.batsim import messages
from batkube.bridge.availability import AVAILABLE, UNAVAILABLE
from batkube.bridge.draw import Draw


def in_drawn_order(events: Sequence[messages.Event], draw: Draw) -> list[messages.Event]:
    """Put jobs that end at one date, or come at one, into the order drawn.

    The order in which kubelets tell ends is open. Jobs come in the order of their file, as one client sends them
    over two connections: one may overtake another.
    """
    if draw.keeps_order:
        return [*events]
    drawn: list[messages.Event] = []
    for (kind, _), group in groupby(events, key=lambda event: (type(event), event.timestamp)):
        together = list(group)
        if kind is messages.JobCompleted:
            together = draw.order(together)
        elif kind is messages.JobSubmitted:
            together = draw.order_of_sending(together)
        drawn += together
    return drawn


def takes_away(event: messages.Event) -> bool:
    """Tell whether a job or a host may be gone after the event."""
    if isinstance(event, messages.JobCompleted):
        return True
    return isinstance(event, messages.Notify) and event.data.type in (UNAVAILABLE, AVAILABLE)
