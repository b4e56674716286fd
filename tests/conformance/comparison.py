"""The answers of one run of a case against the recorded ones."""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .levels import client_view, strict_view
from .varying import SUFFIX, TOKEN, Normaliser, Opaque, replaced, variable

JSON = Any

ABSENT = object()


class Difference(NamedTuple):
    """One value of an answer that is not as recorded. Step 0 is about the case as a whole."""

    step: int
    path: str
    expected: str
    got: str


@dataclass
class Comparison:
    """Compares step by step, remembering which token stands for what."""

    strict: bool
    keep: list[str]
    normaliser: Normaliser
    differences: list[Difference] = field(default_factory=list)
    _uids: dict[str, str] = field(default_factory=dict)
    _versions: dict[int, int] = field(default_factory=dict)  # rank -> value
    _lists: list[tuple[int, int]] = field(default_factory=list)  # at least this rank, value
    _step: int = 0

    def answer(self, step: int, expected: JSON, got: JSON) -> None:
        """Compare the answer of a step with the recorded one."""
        self._step = step
        if self.strict:
            expected, got = strict_view(expected), strict_view(got)
        else:
            expected, got = client_view(expected, self.keep), client_view(got, self.keep)
        if isinstance(got, dict) and expected.get("status") not in (None, got.get("status")):
            # Another status is another answer: comparing the bodies as well would only hide it.
            said = f"{got.get('status')} {show(got.get('body', got.get('text', '')))}"
            self._report("status", expected["status"], said)
        else:
            self._compare(expected, got, "")

    def _report(self, path: str, expected: JSON, got: JSON) -> None:
        self.differences.append(Difference(self._step, path or ".", show(expected), show(got)))

    def _compare(self, expected: JSON, got: JSON, path: str) -> None:
        if isinstance(expected, dict) and isinstance(got, dict):
            for key in [*expected, *(key for key in got if key not in expected)]:
                self._pair(expected.get(key, ABSENT), got.get(key, ABSENT), f"{path}.{key}" if path else key)
        elif isinstance(expected, list) and isinstance(got, list):
            for index in range(max(len(expected), len(got))):
                here = expected[index] if index < len(expected) else ABSENT
                there = got[index] if index < len(got) else ABSENT
                self._pair(here, there, f"{path}[{index}]")
        elif isinstance(expected, str) and expected != got and (match := TOKEN.fullmatch(expected)):
            self._token(match, got, path)
        elif isinstance(got, Opaque) and got.extra == expected:
            pass  # the saved version of a list
        elif isinstance(expected, str) and isinstance(got, str):
            if re.sub(r"<uid:\d+>", "<uid>", expected) != got:
                self._report(path, expected, got)
        elif type(expected) is not type(got) or expected != got:
            self._report(path, expected, got)

    def _pair(self, expected: JSON, got: JSON, path: str) -> None:
        if expected is ABSENT or got is ABSENT:
            self._report(path, expected, got)
        else:
            self._compare(expected, got, path)

    def _token(self, match: re.Match[str], got: JSON, path: str) -> None:
        kind, detail, token = match[1] or match[3], match[2], match[0]
        text = got.value if isinstance(got, Opaque) else got
        if kind == "rv":
            self._version(token, detail, text, path)
        elif kind == "uid":
            self._uid(token, got, text, path)
        elif kind == "name":
            prefix = detail
            for name, value in self.normaliser.names.items():
                prefix = prefix.replace(variable(name), value)
            if not isinstance(text, str) or not re.fullmatch(re.escape(prefix[:58]) + SUFFIX, text):
                self._report(path, f"{prefix} and 5 characters", got)
        elif not isinstance(got, Opaque) or got.kind != kind:
            self._report(path, token, got)

    def _uid(self, token: str, got: JSON, text: JSON, path: str) -> None:
        # Clients only need a string that is never used twice; strict wants the UUID as well.
        is_uid = isinstance(got, Opaque) and got.kind == "uid"
        fits = is_uid if self.strict else isinstance(text, str) and text != ""
        if not fits or (isinstance(got, str) and self.normaliser.was_sent(got)):
            self._report(path, token, got)
        elif token in self._uids:
            if self._uids[token] != text:
                self._report(path, f"the same uid as before ({token})", text)
        elif text in self._uids.values():
            self._report(path, f"a new uid ({token})", text)
        else:
            self._uids[token] = text

    def _version(self, token: str, detail: str, text: JSON, path: str) -> None:
        if not isinstance(text, str) or not text.isdigit():
            self._report(path, token, text)
            return
        value = int(text)
        if detail.endswith("+"):  # of a list or a bookmark: covers what was written before, and nothing written later
            rank = int(detail[:-1])
            newest = max((version for number, version in self._versions.items() if number <= rank), default=0)
            if value < newest:
                self._report(path, f"at least {newest}, the newest version it must cover", text)
            self._lists.append((rank, value))
            return
        rank = int(detail)
        if rank in self._versions:
            if value != self._versions[rank]:
                self._report(path, f"{self._versions[rank]}, unchanged ({token})", text)
            return
        below = max((version for number, version in self._versions.items() if number < rank), default=0)
        above = min((version for number, version in self._versions.items() if number > rank), default=value + 1)
        seen = max((version for number, version in self._lists if number < rank), default=0)
        if not below < value < above:
            limit = f" and under {above}" if value >= above else ""
            self._report(path, f"a version over {below}{limit}", text)
        elif value <= seen:
            self._report(path, f"a version over {seen}, that of an earlier list", text)
        else:
            self._versions[rank] = value


def show(value: JSON) -> str:
    """A value as a report has it: what is too long is cut."""
    if value is ABSENT:
        return "(absent)"
    plain = replaced(value, lambda leaf: leaf.value)
    text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    text = text if text != "" else '""'
    return text if len(text) <= 300 else text[:300] + f"... ({len(text)} characters)"
