"""The exchange of messages between the simulated Batsim and a decision process."""

from collections.abc import Mapping
from typing import Protocol

from batkube.batsim.messages import Message
from batkube.batsim.workload import Workload
from batkube.simulator.controls.exact import ExactControl
from batkube.simulator.controls.ideal import IdealControl
from batkube.simulator.conversation.decisions import Decisions
from batkube.simulator.conversation.exact import ExactConversation
from batkube.simulator.conversation.ideal import IdealConversation
from batkube.simulator.conversation.simulation_begins import simulation_begins_event
from batkube.simulator.server.engine import Engine


class Conversation(Protocol):
    """The exchange with a decision process, as the control of the simulation has it."""

    def next_message(self) -> Message | None:
        """Let time go on until the server has something to say; None if nothing can ever happen again."""
        ...

    def answer(self, reply: Message) -> None:
        """Take the decisions of the reply to the last message.

        Raises SimulatorError for decisions that cannot be taken.
        """
        ...


def converse(engine: Engine, workloads: Mapping[str, Workload]) -> Conversation:
    """Return the conversation of a simulation that is about to begin: its first message is SIMULATION_BEGINS."""
    clock, server, control = engine.clock, engine.server, engine.control
    decisions = Decisions(engine)
    server.registration_over = lambda: decisions.registration.over
    first = Message(now=0.0, events=[simulation_begins_event(engine.resources, workloads, engine.options)])
    if isinstance(control, ExactControl):
        return ExactConversation(control, clock, server, decisions, engine.resources.master, first)
    assert isinstance(control, IdealControl)
    return IdealConversation(control, clock, server, decisions, first)
