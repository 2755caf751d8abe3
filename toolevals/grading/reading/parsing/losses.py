"""Accounts for what a reader of messages leaves out: every part is kept, lost by name, or a reason to refuse.

A reader hands each thing that it does not keep to an Account. A part that is known and carries no call (reasoning, an
image) is a loss of its kind. An unknown key or part is a loss by its name, unless it looks like a call: then the
document is refused, because leaving it out would turn a call into no call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from toolevals.grading.reading.parsing.extras import REASONING, thought_in
from toolevals.grading.reading.parsing.json_calls import describes_tools, printable
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN, identifiers, provider_run
from toolevals.grading.values import Message
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

_NAMES = frozenset({"name", "tool", "toolname", "functionname", "function", "action", "recipient"})
_ARGUMENTS = frozenset({
    "arguments", "args", "input", "parameters", "params", "kwargs", "toolinput", "toolargs", "toolkwargs",
    "actioninput", "toolarguments", "inputs", "rawinput",
})  # fmt: skip
_IDENTIFIERS = frozenset({"toolcallid", "tooluseid", "callid", "toolid"})
# Keys that hold calls in one format or another, without case, underscores and hyphens.
_CALLS = frozenset({
    "toolcall", "toolcalls", "functioncall", "functioncalls", "tooluse", "tooluses", "toolinvocation",
    "toolinvocations", "invalidtoolcalls", "toolrequests", "toolcallrequests",
})  # fmt: skip
# Keys under which definitions of tools stand, which are not calls.
_DEFINITIONS = frozenset({"tools", "functions", "toolconfig", "toolchoice", "tooldefinitions", "availabletools"})
# So many kinds are told apart; the rest count as one.
MOST_KINDS = 100
_LONGEST = 60
_PLACES = re.compile(r"/\d+(?=/|$)")
OTHER_KINDS = "other parts"
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def call_place(value: object, key: str = "") -> tuple[str | int, ...] | None:
    """Return the path to the first thing inside a value (or to itself, empty) that looks like a call; None without one.

    `key` is the key that the value stands at.
    """
    if isinstance(value, str) or not isinstance(value, dict | list):
        return None
    waiting: list[tuple[tuple[str | int, ...], str, Any]] = [((), _plain(key), value)]
    while waiting:
        path, name, item = waiting.pop()
        if name in _DEFINITIONS or not item:
            continue
        if name in _CALLS or (isinstance(item, dict) and _is_call(item)):
            return path
        children = item.items() if isinstance(item, dict) else enumerate(item)
        inside = [
            ((*path, part), _plain(part) if isinstance(part, str) else "", child)
            for part, child in children
            if isinstance(child, dict | list)
        ]
        waiting.extend(reversed(inside))
    return None


def arguments_alike(value: object) -> bool:
    """Tell whether a value may be the arguments of a call: an object with keys, or JSON text of an object."""
    return (isinstance(value, dict) and bool(value)) or (isinstance(value, str) and value.lstrip().startswith("{"))


def _is_call(item: JsonObject) -> bool:
    keys = {_plain(key): key for key in item}
    arguments = [item[keys[name]] for name in _ARGUMENTS & keys.keys()]
    if not any(isinstance(given, dict) or arguments_alike(given) for given in arguments):
        return False
    named = any(isinstance(item[keys[name]], str) for name in (_NAMES | _IDENTIFIERS) & keys.keys())
    return named and not describes_tools(item)


def _plain(key: str) -> str:
    return key.replace("_", "").replace("-", "").lower()


class UnknownShapeError(InvalidDocument):
    """A document that is of no known format, or not of the one that it seems to be."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Parts of one kind that were left out.

    `where` is a JSON pointer with `*` for every position in a list, `first` the pointer of the first one. `known` tells
    that the format has such parts and that a transcript has no place for them; otherwise the format does not have them.
    """

    what: str
    where: str
    count: int = 1
    first: str = ""
    known: bool = True

    def below(self, prefix: str) -> Loss:
        """Return the same loss as seen from a document that holds this one at `prefix`."""
        return replace(self, where=_pattern(prefix) + self.where, first=prefix + self.first)

    def __str__(self) -> str:
        return f"{self.count:,} × {self.what} at {self.where or 'the top'}"

    def to_document(self) -> JsonObject:
        """Return the loss as JSON."""
        return {
            "what": self.what, "where": self.where, "count": self.count, "first": self.first, "known": self.known,
        }  # fmt: skip

    @classmethod
    def from_document(cls, document: JsonMapping) -> Loss:
        """Return the loss that `to_document` wrote."""
        return cls(**{key: document[key] for key in ("what", "where", "count", "first", "known")})


@dataclass(slots=True)
class Tally:
    """Losses of many documents, added up by kind and place."""

    _kinds: dict[tuple[str, str, bool], Loss] = field(default_factory=dict)

    def add(self, losses: Iterable[Loss]) -> None:
        """Add losses; beyond MOST_KINDS kinds they count as other parts."""
        for loss in losses:
            key = loss.what, loss.where, loss.known
            if key not in self._kinds and len(self._kinds) >= MOST_KINDS:
                loss = replace(loss, what=OTHER_KINDS, where="", known=False)  # noqa: PLW2901 (counted as another)
                key = OTHER_KINDS, "", False
            before = self._kinds.get(key)
            self._kinds[key] = loss if before is None else replace(before, count=before.count + loss.count)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Every kind: first what the format does not have, then what it has; the most frequent first."""
        return tuple(sorted(self._kinds.values(), key=lambda loss: (loss.known, -loss.count, loss.what, loss.where)))


class Account:
    """The losses of one reading. `label` is the format's name for people, `calls_at` where it keeps calls.

    With `strict`, a part of unknown shape refuses the document: nothing has shown that it is of this format.
    """

    __slots__ = ("_calls_at", "_label", "_strict", "_tally", "_thoughts", "left_calls")

    def __init__(self, label: str = "this format", calls_at: str = "elsewhere", *, strict: bool = False) -> None:
        self._label = label
        self._calls_at = calls_at
        self._strict = strict
        self._tally = Tally()
        # Thoughts that no message holds yet, by where they stand.
        self._thoughts: dict[str, str] = {}
        # The ids of calls that were left out: so are their results.
        self.left_calls: set[str] = set()

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Return what was left out so far."""
        self._lose_thoughts()
        return self._tally.losses

    def lost(self, pointer: str, what: str, part: object = None) -> None:
        """Note a part that the format has and a transcript does not. Words of reasoning in `part` are a thought."""
        if what == REASONING and (thought := thought_in(part)) is not None:
            self._thoughts[pointer] = thought
        else:
            self._tally.add((Loss(what, _pattern(pointer), first=pointer),))

    def with_thought(self, message: Message) -> Message:
        """Return a message with the thoughts that were found before it. They are lost before one of anyone else."""
        if not self._thoughts:
            return message
        if message.role != "assistant":
            self._lose_thoughts()
            return message
        # Some servers write the same thought under two keys.
        thought = "\n".join(dict.fromkeys(self._thoughts.values()))
        self._thoughts = {}
        return replace(message, thought=thought)

    def _lose_thoughts(self) -> None:
        self._tally.add(Loss(REASONING, _pattern(pointer), first=pointer) for pointer in self._thoughts)
        self._thoughts = {}

    def provider_run(self, part: JsonValue, pointer: str, name: str | None = None) -> bool:
        """Tell whether a part is a call of a tool that the provider runs, or its result, and leave it out then.

        `name` is the tool's where the format itself says that it is one.
        """
        tool = provider_run(part) if name is None else name
        if tool is None:
            return False
        self.lost(pointer, f"{PROVIDER_RUN} ({_short(tool)})")
        self.left_calls.update(identifiers(part))
        return True

    def unknown(self, pointer: str, value: object, what: str) -> None:
        """Note what the format does not have; empty values are nothing. Raises InvalidDocument for a call."""
        if value is None or value is False or value == "" or value in ([], {}):
            return
        key = pointer.rpartition("/")[2]
        if (place := call_place(value, key)) is not None:
            raise self.refusal(pointer + pointer_to(place))
        self._tally.add((Loss(f"unknown {_short(what)}", _pattern(pointer), first=pointer, known=False),))

    def unknown_part(self, pointer: str, part: object) -> None:
        """Note a part of a message that is of no type that the format has. Raises InvalidDocument for a call."""
        if self.provider_run(part, pointer):
            return
        kind = next(
            (part[key] for key in ("type", "part_kind", "kind") if isinstance(part, dict) and key in part), None
        )
        named = f" {_short(kind)}" if isinstance(kind, str) else ""
        self.unknown(pointer, part, f"part{named}")
        if self._strict and part not in ("", None, [], {}):
            raise UnknownShapeError.at(pointer, f"is a part{named} that no known format of messages has")

    def role(self, role: str, pointer: str) -> str:
        """Return the role. One that no one has is noted; with `strict` it refuses the document."""
        if role not in ROLES:
            if self._strict:
                raise UnknownShapeError.at(f"{pointer}/role", f"is not one of the roles {', '.join(sorted(ROLES))}")
            self.unknown(f"{pointer}/role", role, f"role {role}")
        return role

    def needs(self, key: str, message: JsonMapping, known: frozenset[str], pointer: str) -> None:
        """With `strict`, refuse a message without a key that has another one which no one knows."""
        if self._strict and key not in message and not known.issuperset(message):
            other = next(name for name in message if name not in known)
            here = pointer + pointer_to([other])
            raise UnknownShapeError.at(here, f"is a key that no known format of messages has, and `{key}` is missing")

    def rest(self, holder: JsonMapping, known: frozenset[str], pointer: str) -> None:
        """Note every key of an object that is not among the known ones."""
        if not known.issuperset(holder):
            for key in holder:
                if key not in known:
                    self.unknown(pointer + pointer_to([key]), holder[key], f"key {key}")

    def rest_of_call(self, call: JsonMapping, known: frozenset[str], given: bool, pointer: str) -> None:
        """Note unknown keys of a call. Raises InvalidDocument where one may be the arguments, which are not given."""
        if known.issuperset(call):
            return
        for key in call:
            if key in known:
                continue
            here = pointer + pointer_to([key])
            if not given and arguments_alike(call[key]):
                raise UnknownShapeError.at(
                    here, f"may be the arguments of the call, and {self._label} does not have them under this key"
                )
            self.unknown(here, call[key], f"key {key}")

    def refusal(self, pointer: str) -> InvalidDocument:
        """Return the error for what looks like a call where the format has none."""
        return UnknownShapeError.at(
            pointer,
            f"looks like a call, and {self._label} has calls in {self._calls_at}: correct it, or name the format",
        )


def _pattern(pointer: str) -> str:
    return _PLACES.sub("/*", pointer)


def _short(text: str) -> str:
    return printable(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
