"""Holds a model's text while it is read: every reader moves forward, and what is searched in vain is not again."""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, call_of, printable
from toolevals.grading.values import Call, MalformedCall, ToolSpec
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# The calls that stand at a marker and where reading goes on.
Found: TypeAlias = tuple[tuple[Call, ...], int]

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"\s*")
_LEVELS: Final = re.compile(r"[./\-:]")
# What no one offers as a tool and everyone writes in code.
_CODE: Final = frozenset(dir(builtins)) | {"console", "document", "main", "printf", "require", "window"}


class Offered:
    """The tools that a model was offered, by name; `known` is False where no one says which."""

    def __init__(self, tools: Iterable[ToolSpec] | None) -> None:
        self.known = tools is not None
        self._tools = {tool.name: tool for tool in tools or ()}
        self._alike = {_alike(name): tool for name, tool in self._tools.items()}

    def find(self, name: str) -> ToolSpec | None:
        """Return the tool of this name, or of one that differs in case and separators alone; None without any."""
        return self._tools.get(name) or self._alike.get(_alike(name.removeprefix("functions.")))

    def has(self, name: str | None) -> bool:
        """Tell whether a tool may be meant: it is offered, or, where no one says what is, it is no word of code."""
        if name is None:
            return not self.known
        if not self.known:
            return name.split(".")[0] not in _CODE
        return self.find(name) is not None


def _alike(name: str) -> str:
    return _LEVELS.sub("_", name).casefold()


class Source:
    """A text and the tools that were offered."""

    def __init__(self, text: str, offered: Offered) -> None:
        self.text = text
        self.offered = offered
        self._absent: set[str] = set()
        # How many characters may still be read in vain: the cost stays linear.
        self._characters = 16 * len(text) + 1_000

    def skip(self, place: int) -> int:
        """Return the place behind white space."""
        found = _SPACE.match(self.text, place)
        return found.end() if found else place

    def search(self, pattern: re.Pattern[str], place: int) -> re.Match[str] | None:
        """Return the next match. What is not found once is not there later, and is not searched again."""
        if pattern.pattern in self._absent:
            return None
        found = pattern.search(self.text, place)
        if found is None:
            self._absent.add(pattern.pattern)
        return found

    def json_end(self, place: int) -> int | None:
        """Return where the JSON value ends that begins here; None where none does, or too much was read in vain."""
        if self._characters <= 0 or self.text[place : place + 1] not in {"{", "["}:
            return None
        try:
            _, end = _DECODER.raw_decode(self.text, place)
        except json.JSONDecodeError as error:
            self._characters -= error.pos - place
        except (ValueError, RecursionError):
            self._characters -= len(self.text) - place
        else:
            return end
        return None

    def json_problem(self, place: int) -> str:
        """Return why no JSON value can be read here."""
        if not self.text[place : place + 1].strip():
            return "the text ends within this call"
        try:
            load_json(self.text[place : place + LONGEST_SHOWN])
        except InvalidDocument as error:
            return str(error)
        return "not JSON"

    def malformed(self, reason: str, start: int, name: str | None = None) -> MalformedCall:
        """Return the call that begins here and cannot be read."""
        return MalformedCall(reason, None, printable(self.text[start : start + LONGEST_SHOWN]), name)

    def json_call(self, name: str, place: int, start: int, identifier: str | None = None) -> Found:
        """Return the call of this tool whose arguments are the JSON object here; nothing at all is no arguments."""
        end = self.json_end(place)
        if end is None:
            if self.text[place : place + 1] in {"{", "["}:
                return (self.malformed(f"the arguments: {self.json_problem(place)}", start, name or None),), place
            return (self.malformed("no arguments in JSON follow the tool's name", start, name or None),), place
        return (call_of(name, self.text[place:end], identifier),), end


Reader: TypeAlias = Callable[[Source, re.Match[str]], Found]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """A form of calls. `marker` is the source of an expression that begins one; `models` write it so, as `example`."""

    name: str
    models: str
    marker: str
    read: Reader
    example: str
