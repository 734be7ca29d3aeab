"""The exceptions of the package. All derive from Error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from ._tables import Finding


@dataclass(frozen=True)
class Place:
    """A place in a model or in data; lines and columns count from 1."""

    file: str = ""
    line: int = 0
    column: int = 0
    text: str = ""  # what to see there

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True)
class Message:
    """An error or a warning about a model or its data.

    `ppl explain-error CODE`, or `python -m ppl explain-error CODE`, explains a code with
    examples.
    """

    severity: str  # error or warning
    code: str
    summary: str
    detail: str
    help: str
    place: Place
    end: Place
    notes: tuple[Place, ...] = ()

    @classmethod
    def of(cls, m: Mapping[str, Any]) -> Message:
        """A message from the JSON of `ppl check`."""

        def place(o: Mapping[str, Any]) -> Place:
            return Place(o.get("file", ""), o.get("line", 0), o.get("column", 0), o.get("message", ""))

        return cls(
            m["severity"], m.get("code", ""), m["summary"], m.get("detail", ""), m.get("help", ""), place(m),
            Place(m.get("file", ""), m.get("endLine", 0), m.get("endColumn", 0)), tuple(place(n) for n in m.get("notes", ())),
        )

    def __str__(self) -> str:
        at = f"{self.place}: " if self.place.file else ""
        code = f" [{self.code}]" if self.code else ""
        lines = [f"{at}{self.severity}: {self.summary}{code}"]
        if self.detail:
            lines.append("  " + self.detail)
        lines += [f"  note: {n}: {n.text}" for n in self.notes]
        if self.help:
            lines.append("  help: " + self.help)
        return "\n".join(lines)


class Error(Exception):
    """The base of all errors of ppl."""


class _Messages(Error):
    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages: tuple[Message, ...] = tuple(messages)
        super().__init__(self.messages)

    def __str__(self) -> str:
        return "\n".join(str(m) for m in self.messages)


class ModelError(_Messages):
    """A model is wrong: messages has what, where, and how to fix it."""


class DataError(_Messages, ValueError):
    """Data do not fit the model: messages has which, where, and what is expected."""


class RunError(Error):
    """The program has failed: code is its exit code, findings are those of the run."""

    def __init__(self, text: str, code: int, findings: Sequence[Finding] = ()) -> None:
        super().__init__(text, code, tuple(findings))
        self.text, self.code, self.findings = text, code, tuple(findings)

    def __str__(self) -> str:
        return self.text


class UsageError(RunError, ValueError):
    """An option is unknown, or has a value that it cannot have."""


class LibraryError(Error):
    """libppl cannot be used in this process."""
