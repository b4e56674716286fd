"""The users who send requests, as the API server knows them (`k8s.io/apiserver/pkg/authentication/user`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

JSON = dict[str, Any]

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """A user with the groups of the user."""

    name: str
    groups: tuple[str, ...]
    uid: str = ""
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The other facts about the user, by keys."""

    def info(self) -> JSON:
        """Return the user as a `UserInfo` of authentication.k8s.io/v1."""
        uid = {"uid": self.uid} if self.uid else {}
        extra = {"extra": {key: list(values) for key, values in self.extra}} if self.extra else {}
        return {"username": self.name, **uid, "groups": list(self.groups), **extra}


def service_account_groups(namespace: str) -> tuple[str, ...]:
    """Return the groups of the service accounts of a namespace, except the group of all authenticated users."""
    return "system:serviceaccounts", f"system:serviceaccounts:{namespace}"


ADMIN = User("admin", ("system:masters", AUTHENTICATED), uid="admin")
ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))
