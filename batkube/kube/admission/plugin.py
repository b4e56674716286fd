"""The interface of plugins, and the data that they get (`k8s.io/apiserver/pkg/admission`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..kinds.strategy import Context
from ..schema.resources import ResourceType

JSON = dict[str, Any]


@dataclass(slots=True)
class Attributes:
    """A write as plugins see it (`admission.Attributes`)."""

    context: Context
    obj: JSON  # as it is to be stored; of a binding the binding
    old: JSON | None = None  # what is stored, never to be changed; None: the object is new
    along: list[tuple[str, JSON]] = field(default_factory=list)  # what is stored with the object, by storage key


class Plugin:
    """A plugin. This class itself admits everything."""

    name = ""
    by_default = True
    """True if the plugin is at work by default."""
    handles: tuple[str, ...] = ()
    """The kinds of writes that the plugin is asked about: storage keys with subresources, `pods`, `pods/resize`.

    `*` are all main resources.
    """

    def enter(self, resource: ResourceType, name: str, context: Context) -> None:
        """Look at a write before anything is done with it.

        `resource` is the one of the request, `name` is the object's name from the client. kube-apiserver has no such
        step: its admission comes after a name is generated. Here generated names are counted (`storage.identity`), and
        a request that is refused at once must not use one up.
        """

    def admit(self, write: Attributes) -> None:
        """Change the object, or raise ApiError. The object has its defaults, and is not validated yet
        (`MutationInterface`).
        """

    def validate(self, write: Attributes) -> None:
        """Raise ApiError if the write is not allowed. The object is valid (`ValidationInterface`)."""


class Elsewhere(Plugin):
    """A plugin of kube-apiserver that has nothing to do here, or that is not available."""

    def __init__(self, name: str, *, by_default: bool = True) -> None:
        self.name = name
        self.by_default = by_default
