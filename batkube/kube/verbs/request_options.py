"""The options of a request, in its query and in the body of a DELETE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from ..apimachinery.durations import DurationError, nanoseconds
from ..apimachinery.status import ApiError, FieldError, quote
from ..apimachinery.users import ADMIN, User

JSON = dict[str, Any]

MAX_FIELD_MANAGER = 128


class Query(Mapping[str, str]):
    """The parameters of a URL: the first value of each. Parameters that cannot be decoded are left out, as in Go's
    net/url.
    """

    def __init__(self, text: str = "") -> None:
        self._values: dict[str, list[str]] = {}
        for pair in text.split("&") if text else ():
            if pair and ";" not in pair:
                name, _, value = pair.partition("=")
                if decodable(name) and decodable(value):
                    self._values.setdefault(unquote_plus(name), []).append(unquote_plus(value))

    def __getitem__(self, name: str) -> str:
        return self._values[name][0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def all(self, name: str) -> list[str]:
        return self._values.get(name, [])

    def flag(self, name: str) -> bool:
        """Return a boolean: True if the parameter is present and neither `false` nor `0`."""
        values = self._values.get(name)
        return values is not None and values[0].lower() not in ("false", "0")

    def integer(self, name: str) -> int | None:
        text = self.get(name)
        if text is None:
            return None
        digits = text[1:] if text[:1] in ("+", "-") else text
        if not (digits.isascii() and digits.isdigit()):
            raise ApiError.bad_request(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
        if not -(2**63) <= int(text) < 2**63:
            raise ApiError.bad_request(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
        return int(text)


NO_QUERY = Query()


def check_timeout(query: Query) -> None:
    """Raise 400 if the timeout of a request is not a duration (`WithRequestDeadline`).

    The timeout has no other effect: no request takes that long here.
    """
    given = query.get("timeout", "")
    try:
        nanoseconds(given or "0")
    except DurationError as error:
        why = f"invalid timeout specified in the request URL - time: {error}"
        raise ApiError.bad_request(why) from None


def decodable(text: str) -> bool:
    """Return True if every escape in the text is a percent sign and two hexadecimal digits."""
    if "%" not in text:
        return True
    pieces = text.split("%")[1:]
    return all(len(piece) >= 2 and all(c in "0123456789abcdefABCDEF" for c in piece[:2]) for piece in pieces)


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The options of a create, an update or a patch."""

    dry_run: bool = False
    field_manager: str = ""
    names_manager: bool = False  # the request says its field manager
    field_validation: str = "Warn"
    force: bool = False
    user: User = ADMIN
    large: bool = False  # the object may be larger than what the real server's storage takes

    @classmethod
    def of(cls, query: Query, kind: str, client: str = "", apply: bool = False, user: User = ADMIN) -> WriteOptions:
        """Return the checked options; `kind` is CreateOptions, UpdateOptions or PatchOptions.

        A client that names no field manager has the name `client`, the first word of its User-Agent.
        """
        if not query and not apply:
            return cls(field_manager=client, user=user) if client or user is not ADMIN else PLAIN_WRITE
        errors = _dry_run_errors(query.all("dryRun"))
        manager = query.get("fieldManager", "")
        if len(manager.encode()) > MAX_FIELD_MANAGER:
            errors.append(FieldError.too_long("fieldManager", MAX_FIELD_MANAGER))
        elif not manager.isprintable():
            odd = next(index for index, character in enumerate(manager) if not character.isprintable())
            why = f"invalid character U+{ord(manager[odd]):04X} (at position {odd})"
            errors.append(FieldError.invalid("fieldManager", manager, why))
        validation = query.get("fieldValidation", "")
        if validation not in ("", "Ignore", "Warn", "Strict"):
            errors.append(FieldError.not_supported("fieldValidation", validation, ("", "Ignore", "Strict", "Warn")))
        force = "force" in query and kind == "PatchOptions"
        if force and not apply:
            errors.append(FieldError.forbidden("force", "may not be specified for non-apply patch"))
        if apply and not manager:
            errors.append(FieldError.required("fieldManager", "is required for apply patch"))
        if errors:
            raise ApiError.invalid(f"{kind}.meta.k8s.io", "", errors)
        return cls(
            dry_run=bool(query.all("dryRun")),
            field_manager=manager or client,
            names_manager=bool(manager),
            field_validation=validation or "Warn",
            force=force and query.flag("force"),
            user=user,
        )


PLAIN_WRITE = WriteOptions()
DRY_RUN = WriteOptions(dry_run=True)


def _dry_run_errors(values: list[str]) -> list[FieldError]:
    if all(value == "All" for value in values):
        return []
    return [FieldError.not_supported("dryRun", values, ("All",))]


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of a DELETE. `grace_seconds` None and `propagation` "" are the kind's own defaults."""

    grace_seconds: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    propagation: str = ""  # Orphan, Background, Foreground
    dry_run: bool = False

    @property
    def as_write(self) -> WriteOptions:
        """The same options for a write."""
        return DRY_RUN if self.dry_run else PLAIN_WRITE

    @classmethod
    def of(cls, body: JSON | None, query: Query) -> DeleteOptions:
        """Return the options in the body if there is one, or else those in the query."""
        if body is None:
            if not query:
                return PLAIN_DELETE
            body = {"dryRun": query.all("dryRun"), "propagationPolicy": query.get("propagationPolicy")}
            body["gracePeriodSeconds"] = query.integer("gracePeriodSeconds")
            if "orphanDependents" in query:
                body["orphanDependents"] = query.flag("orphanDependents")
            body["preconditions"] = {name: query[name] for name in ("uid", "resourceVersion") if query.get(name)}
        return cls._checked(body)

    @classmethod
    def _checked(cls, body: JSON) -> DeleteOptions:
        grace = body.get("gracePeriodSeconds")
        orphan = body.get("orphanDependents")
        propagation = body.get("propagationPolicy")
        dry_run = body.get("dryRun") or []
        preconditions = body.get("preconditions") or {}
        errors = []
        if propagation is not None and orphan is not None:
            why = "orphanDependents and deletionPropagation cannot be both set"
            errors.append(FieldError.invalid("propagationPolicy", propagation, why))
        if propagation is not None and propagation not in ("Foreground", "Background", "Orphan"):
            allowed = ("Foreground", "Background", "Orphan", "nil")
            errors.append(FieldError.not_supported("propagationPolicy", propagation, allowed))
        errors += _dry_run_errors(dry_run)
        if errors:
            raise ApiError.invalid("DeleteOptions.meta.k8s.io", "", errors)
        if orphan is not None:
            propagation = "Orphan" if orphan else "Background"
        return cls(
            grace_seconds=grace,
            uid=preconditions.get("uid"),
            resource_version=preconditions.get("resourceVersion"),
            propagation=propagation or "",
            dry_run=bool(dry_run),
        )


PLAIN_DELETE = DeleteOptions()
