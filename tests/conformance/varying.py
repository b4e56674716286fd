"""Values that differ from run to run (uids, times, versions, generated names), and the tokens it is recorded as."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

JSON = Any

UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
MICROTIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z(?!07:00)"  # but not the layout that Go's errors quote
AGE = r"<invalid>|(\d+[ydhms]){1,2}"
LONG_AGE = r"(\d+y)?\d+d"
"""Of what began at a date that a case names. A duration between two such dates is shown so, too, and none does that."""
SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
"""The text that is appended to a generateName."""

TOKEN = re.compile(r"<(rv|uid|name):([^>]*)>|<(time|microtime|continue|ip|port|age|jwt|host)>")

_HASH_LABELS = ("pod-template-hash", "controller-revision-hash")
_VARYING_TEXT = [
    (re.compile(r"(Too large resource version: \d+, current: )\d+"), r"\1<rv>"),
    (re.compile(r"(too old resource version: \d+) \(\d+\)"), r"\1 (<rv>)"),
    (re.compile(r"(ResourceVersion in (?:object meta|precondition): )\d+"), r"\1<rv>"),
    (re.compile(r"(ResourceVersion in (?:the precondition|record)) \(\d+\)"), r"\1 (<rv>)"),
    (re.compile(r"(\?hash=)[0-9A-F]{128}"), r"\1<hash>"),
    (re.compile(r"\bselfType\d+"), "selfType<n>"),
    (re.compile(r"^(\d+ \()(?:\d+[ydhms]){1,2} ago\)$"), r"\1<age> ago)"),
    (re.compile(r'(resourceVersion\\?"?: ?\\?")\d+(?=\\?")'), r"\1<rv>"),
]


def variable(name: str) -> str:
    """Return how a case refers to a value by its name."""
    return "${" + name + "}"


class Opaque(NamedTuple):
    """A leaf of an answer that differs from run to run."""

    kind: str  # rv, listrv, uid, time ... as in TOKEN
    value: str
    extra: str = ""


class Normaliser:
    """Turns the answers of one run of one case into values that can be compared with another run.

    A value that the case itself sent (an owner's made-up uid, a lease's renewTime) is no variable: it stays as it is,
    so that a server which keeps or drops it wrongly is noticed.
    """

    def __init__(self, steps: list[JSON], names: dict[str, str], keep: list[str]) -> None:
        requests = [{key: value for key, value in step.items() if key != "answer"} for step in steps]
        self.names = names
        self.saved_lists: dict[str, str] = {}  # version of a list -> variable it was saved in
        self._sent = json.dumps(requests, ensure_ascii=False)
        self._keep = keep
        self._generated: dict[str, str] = {}  # name -> prefix
        self._prefixes = set(re.findall(r'"generateName": "([^"]+)"', self._sent))

    def was_sent(self, text: str) -> bool:
        return text in self._sent

    def body(self, value: JSON, *, bookmark: bool = False) -> JSON:
        """A whole JSON answer, or the object of a watch event."""
        if not isinstance(value, dict):
            return self._value(value, "", False)
        self._learn_names(value)
        kind = str(value.get("kind", ""))
        normal = self._dict(value, "", bookmark or kind.endswith("List") or kind == "Table")
        if bookmark:  # as a table it has the version in a row as well
            normal = replaced(normal, lambda leaf: leaf._replace(kind="listrv") if leaf.kind == "rv" else leaf)
        return normal

    def text(self, text: str) -> str:
        """A text with tokens for what varies in it."""
        for name, actual in self.names.items():
            text = text.replace(actual, variable(name))
        for pattern, replacement in _VARYING_TEXT:
            text = pattern.sub(replacement, text)
        for name, prefix in self._generated.items():
            text = text.replace(name, f"<name:{prefix}>")
        varying = [(UID, "<uid>"), (MICROTIME, "<microtime>"), (TIME, "<time>")]
        # Generated names also where the object was refused, so that its name was never seen.
        varying += [(re.escape(prefix) + SUFFIX + r"(?![-\w])", f"<name:{prefix}>") for prefix in self._prefixes]
        for expression, token in varying:
            text = re.sub(expression, partial(self._unless_sent, token), text)
        return text

    def _unless_sent(self, token: str, match: re.Match[str]) -> str:
        return match[0] if self.was_sent(match[0]) else token

    def _learn_names(self, value: JSON) -> None:
        if isinstance(value, list):
            for item in value:
                self._learn_names(item)
        elif isinstance(value, dict):
            for label in _HASH_LABELS:
                if isinstance(value.get(label), str):
                    self.names["hash"] = value[label].rsplit("-", 1)[-1]
            prefix, name = value.get("generateName"), value.get("name")
            if isinstance(prefix, str) and isinstance(name, str) and self._is_generated(prefix, name):
                self._generated[name] = self.text(prefix)
            for item in value.values():
                self._learn_names(item)

    def _is_generated(self, prefix: str, name: str) -> bool:
        fits = re.fullmatch(re.escape(prefix[:58]) + SUFFIX, name)
        return prefix != "" and fits is not None and not self.was_sent(f'"{name}"')

    def _dict(self, value: dict[str, JSON], path: str, loose: bool) -> JSON:
        result: dict[str, JSON] = {}
        for key, item in value.items():
            here = f"{path}.{key}" if path else key
            if (key == "managedFields" and key not in self._keep) or key == "storageVersionHash":
                continue
            if key == "managedFields":
                # The server orders entries by their time in seconds first: by chance, that is.
                entries = sorted(
                    item, key=lambda entry: [str(entry.get(k)) for k in ("manager", "operation", "subresource")]
                )
                result[key] = self._value(entries, here, loose)
            elif key == "rows" and not path:
                result[key] = self._rows(value)
            elif key == "resourceVersion" and isinstance(item, str) and item.isdigit() and item != "0":
                result[key] = self._version(item, loose and here == "metadata.resourceVersion")
            elif here == "metadata.continue" and item:
                result[key] = Opaque("continue", item)
            elif key in ("clusterIP", "clusterIPs", "nodePort", "serverAddress") or here == "status.token":
                result[key] = self._network(key, item)
            else:
                result[self.text(key)] = self._value(item, here, loose)
        return result

    def _version(self, version: str, of_list: bool) -> JSON:
        if self.was_sent(f'"{version}"'):
            return version
        if not of_list:
            return Opaque("rv", version)
        # Other writes than the case's may raise it; but what is read at a saved version has just that.
        saved = self.saved_lists.get(version)
        return Opaque("listrv", version, variable(saved) if saved else "")

    def _network(self, key: str, item: JSON) -> JSON:
        if isinstance(item, list):
            return [self._network(key, one) for one in item]
        if item in ("", "None", None) or self.was_sent(json.dumps(item)):
            return item
        kind = {"nodePort": "port", "serverAddress": "host", "token": "jwt"}.get(key, "ip")
        return Opaque(kind, str(item))

    def _rows(self, table: dict[str, JSON]) -> JSON:
        columns = table.get("columnDefinitions") or []
        ages = [
            column.get("name") in ("Age", "Last Seen", "First Seen") or column.get("type") == "date"
            for column in columns
        ]
        lasting = [column.get("name") == "Duration" for column in columns]
        rows = []
        for row in table["rows"] or []:
            row = dict(row)
            cells = row.pop("cells", [])
            aged = ages or [True] * len(cells)
            shown = [
                Opaque("age", cell)
                if (aged[index : index + 1] == [True] and re.fullmatch(AGE, str(cell)))
                or (lasting[index : index + 1] == [True] and re.fullmatch(LONG_AGE, str(cell)))
                else self._value(cell, "cell", False)
                for index, cell in enumerate(cells)
            ]
            rows.append({"cells": shown, **self._dict(row, "row", False)})
        return rows

    def _value(self, value: JSON, path: str, loose: bool) -> JSON:
        if isinstance(value, dict):
            return self._dict(value, path, loose)
        if isinstance(value, list):
            return [self._value(item, f"{path}[]", False) for item in value]
        if not isinstance(value, str):
            return value
        for kind, pattern in (("uid", UID), ("microtime", MICROTIME), ("time", TIME)):
            if re.fullmatch(pattern, value) and not self.was_sent(value):
                return Opaque(kind, value)
        if value in self._generated:
            return Opaque("name", value, self._generated[value])
        return self.text(value)


def tokens(answers: list[JSON]) -> list[JSON]:
    """The recorded form of the answers of a case: every Opaque becomes a token, numbered within the case."""
    leaves: list[Opaque] = []

    def visit(leaf: Opaque) -> JSON:
        leaves.append(leaf)
        return leaf

    replaced(answers, visit)
    versions = sorted({int(leaf.value) for leaf in leaves if leaf.kind == "rv"})
    rank = {version: number for number, version in enumerate(versions, 1)}
    uids: dict[str, int] = {}
    for leaf in leaves:
        if leaf.kind == "uid":
            uids.setdefault(leaf.value, len(uids) + 1)

    def token(leaf: Opaque) -> str:
        if leaf.kind == "rv":
            return f"<rv:{rank[int(leaf.value)]}>"
        if leaf.kind == "listrv":
            return leaf.extra or f"<rv:{sum(version <= int(leaf.value) for version in versions)}+>"
        if leaf.kind == "uid":
            return f"<uid:{uids[leaf.value]}>"
        if leaf.kind == "name":
            return f"<name:{leaf.extra}>"
        return f"<{leaf.kind}>"

    return [replaced(answer, token) for answer in answers]


def replaced(value: JSON, replace: Callable[[Opaque], JSON]) -> JSON:
    """The value with another one for each Opaque in it."""
    if isinstance(value, Opaque):
        return replace(value)
    if isinstance(value, dict):
        return {key: replaced(item, replace) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, replace) for item in value]
    return value
