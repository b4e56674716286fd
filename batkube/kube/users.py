"""Who asks: users as the API server knows them (`k8s.io/apiserver/pkg/authentication/user`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

JSON = dict[str, Any]

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"


@dataclass(frozen=True, slots=True)
class User:
    """A user and the groups he is in."""

    name: str
    groups: tuple[str, ...]
    uid: str = ""

    def info(self) -> JSON:
        """As `UserInfo` of authentication.k8s.io/v1."""
        uid = {"uid": self.uid} if self.uid else {}
        return {"username": self.name, **uid, "groups": list(self.groups)}


ADMIN = User("admin", ("system:masters", AUTHENTICATED), uid="admin")
ANONYMOUS = User("system:anonymous", (UNAUTHENTICATED,))
