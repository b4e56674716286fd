"""Actions: subresources that are not a part of an object (a binding, an eviction, a scale, a log), and resources whose
objects are not stored (reviews).

`strategies.py` has the table of them: `ACTIONS[storage, subresource]`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..apimachinery.status import ApiError
from ..apimachinery.users import User
from .strategy import Context

JSON = dict[str, Any]

Change = Callable[[JSON], None]
"""A function that changes an object in place."""


class Signer(Protocol):
    """The key pair that signs tokens. See `authentication.token_signer`."""

    algorithm: str

    @property
    def key_id(self) -> str: ...

    def sign(self, data: bytes) -> bytes: ...

    @property
    def verify(self) -> Callable[[bytes, bytes], bool]:
        """The function that returns True if the second is the signature of the first."""
        ...


class AccessControl(Protocol):
    """The access of users: who may come in, and what they may do. See `authentication.Authentication`."""

    @property
    def signer(self) -> Signer:
        """The key that the tokens of service accounts are signed with."""
        ...

    def user_of_token(self, token: bytes) -> User | None: ...

    def allows(self, user: str, groups: Collection[str], verb: str, path: str | None) -> bool: ...


class ObjectOperations(Protocol):
    """The operations of the server on the object that an action is about: see `verbs.operations.WriteOperations`."""

    access: AccessControl

    def patched(self, part: JSON) -> JSON:
        """Return the action's own object (a Scale) as the client wants it: the body, or that object patched."""
        ...

    def admit(self, sent: JSON) -> None:
        """Let admission change what was sent."""
        ...

    def admit_binding(self, pod: JSON, node: str) -> None:
        """Raise ApiError if a function refuses to put the pod on this node (an exclusive host that is taken)."""
        ...

    def update(self, how: Change) -> JSON:
        """Change the object by its kind's rules. Return the stored object. Raise 404 if there is none.

        It is a new version, unless nothing changed or it is a dry run.
        """
        ...

    def write(self, how: Change) -> JSON:
        """Change the object without rules, for writes of the API server itself, as in a binding."""
        ...

    def write_other(self, storage: str, name: str, how: Change) -> JSON:
        """Change another object of the namespace without rules (the budget of a pod)."""
        ...

    def delete(self, options: JSON) -> JSON:
        """Delete the object by the rules of DELETE, given DeleteOptions."""
        ...


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """A request for an action."""

    ctx: Context
    body: JSON | None  # decoded; of a patch there is none, see `ObjectOperations.patched`
    query: Mapping[str, str]
    upgrades: bool = False  # asks for another protocol on its connection


@dataclass(frozen=True, slots=True)
class ActionAnswer:
    """The answer of an action: a JSON object, or plain text."""

    code: int
    body: JSON | str


class Action:
    """An action. This class itself takes no request."""

    def answer(self, verb: str, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a request for that verb."""
        if verb == "get":
            return self.read(request, server)
        if verb == "create":
            return self.write(request, server)
        return self.delete(request, server) if verb == "delete" else self.update(request, server)

    def read(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a GET."""
        raise ApiError.method_not_allowed()

    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a POST."""
        raise ApiError.method_not_allowed()

    def update(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a PUT or a PATCH."""
        raise ApiError.method_not_allowed()

    def delete(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Answer a DELETE."""
        raise ApiError.method_not_allowed()
