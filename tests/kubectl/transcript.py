"""Transcripts: sessions at a shell, written down as prose with indented blocks of commands and what they print.

    $ kubectl create configmap limits --from-literal=cpu=2
    configmap/limits created

A line that begins with `> ` goes on with the command before it; `(exit 1)` ends the output of a command that failed. In
the file all that is indented by four spaces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

INDENT = "    "
_COMMAND, _MORE = "$ ", "> "


@dataclass(frozen=True)
class Step:
    """A command, and what it printed to both streams, as `settled` writes it."""

    command: str
    output: str = ""


@dataclass(frozen=True)
class Transcript:
    """Prose (`str`) and steps in turn."""

    parts: tuple[str | Step, ...]

    @property
    def steps(self) -> list[Step]:
        return [part for part in self.parts if isinstance(part, Step)]

    def answered(self, outputs: list[str]) -> Transcript:
        """The same commands with other outputs."""
        left = iter(outputs)
        return Transcript(
            tuple(replace(part, output=next(left)) if isinstance(part, Step) else part for part in self.parts)
        )

    def text(self) -> str:
        """As the file has it."""
        return "\n".join(part if isinstance(part, str) else _block(part) for part in self.parts) + "\n"


def parse(text: str) -> Transcript:
    """Read a file. Indented lines after blank ones go on with the output of the command before."""
    parts: list[str | Step] = []
    for line in text.rstrip("\n").split("\n"):
        blank = ""
        if line.startswith(INDENT) and not line.startswith(INDENT + _COMMAND):
            while parts and parts[-1] == "":
                parts.pop()
                blank += "\n"
        last = parts[-1] if parts else ""
        if line.startswith(INDENT + _COMMAND):
            parts.append(Step(line[len(INDENT + _COMMAND) :]))
        elif line.startswith(INDENT + _MORE) and isinstance(last, Step) and not last.output and not blank:
            parts[-1] = Step(f"{last.command}\n{line[len(INDENT + _MORE) :]}")
        elif line.startswith(INDENT) and isinstance(last, Step):
            parts[-1] = Step(last.command, f"{last.output}{blank}{line.removeprefix(INDENT)}\n")
        else:
            parts.append(line)
    return Transcript(tuple(parts))


def _block(step: Step) -> str:
    command = step.command.split("\n")
    lines = [_COMMAND + command[0], *(_MORE + line for line in command[1:]), *step.output.splitlines()]
    return "\n".join((INDENT + line).rstrip() for line in lines)


# What differs from run to run and from server to server, and what stands in its place.
_VARYING = (
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<uid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000"), "<time>"),
    (re.compile(r'(resourceVersion"?: )"\d+"'), r'\1"<version>"'),
    (re.compile(r"(Resource Version: +)\d+"), r"\1<version>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC"), "<time>"),
    (re.compile(r"https?://127\.0\.0\.1:\d+"), "<server>"),
    (re.compile(r"\b10\.(0|96)\.\d+\.\d+\b"), "<ip>"),
    (re.compile(r"(?<![\w.-])(\d{1,2}|1[01]\d)s(?![\w.-])"), "<age>"),
    (re.compile(r"(?<![\w.-])\d+y(?![\w.-])"), "<years>"),  # since a time that a manifest names, of the year 2000
    (re.compile(r"\b([a-z]+\.)[0-9a-f]{16}\b"), r"\1<hash>"),  # names of events
)
_LOGGED = re.compile(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} ")  # by kubectl's libraries, of how its watches ended
_PADDED = re.compile(r"(<(?:uid|time|version|server|ip|age|years|hash)>) {2,}")


def settled(output: str) -> str:
    """Output as it is written down: what varies as a token, no spaces at the ends of lines, no lines of a log."""
    for pattern, token in _VARYING:
        output = pattern.sub(token, output)
    lines = (line for line in output.splitlines() if not _LOGGED.match(line))
    lines = (_PADDED.sub(r"\1 ", line).rstrip() for line in lines)
    return "".join(f"{line}\n" for line in lines).rstrip("\n") + "\n" if output.strip() else ""
