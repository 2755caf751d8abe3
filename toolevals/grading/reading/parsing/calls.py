"""Reads calls in the forms of OpenAI and its imitators, with account of every key.

Puts calls together that come in pieces, as models stream them.

By the published protocol each piece has its call's `index`, and only the first has id and name. Servers differ: they
give every call the same index, or none; repeat the name in each piece; give each piece an id of its own; or send a
call's arguments as an object. What is told in two ways that do not agree is refused: no one can say what was called.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from toolevals.grading.reading.parsing.json_calls import ARGUMENT_KEYS, call_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.values import Call
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject, JsonValue

_BESIDE = frozenset({
    "id", "type", "index", "name", "function", "call_id", "status", "extra_content", "provider_specific_fields",
    "extras", "error", "title", "caller",
})  # fmt: skip
_INSIDE = frozenset({"name", "description", "strict", "parsed_arguments"})
_NOTHING = frozenset({"id", "name", "arguments"})


def called(item: object, pointer: str, account: Account) -> Call:
    """Read one call as `call_in` does. Raises InvalidDocument where its arguments may stand under an unknown key."""
    if isinstance(item, dict) and not _NOTHING.issuperset(item):
        _account(item, pointer, account)
    return call_in(item)


def calls_in(given: object, pointer: str, account: Account) -> tuple[Call, ...]:
    """Read a list of calls; none where there is nothing, and one that cannot be read where it is no list."""
    if given is None or given in ("", []):
        return ()
    if not isinstance(given, list):
        return (called(given, pointer, account),)
    return tuple(
        called(item, f"{pointer}/{place}", account)
        for place, item in enumerate(given)
        if not account.provider_run(item, f"{pointer}/{place}")
    )


def _account(item: JsonObject, pointer: str, account: Account) -> None:
    if isinstance(item.get("malformed"), dict):
        account.rest(item, _BESIDE | {"malformed"}, pointer)
        return
    if item.get("type") == "custom" and isinstance(item.get("custom"), dict):
        account.rest(item, _BESIDE | {"custom"}, pointer)
        account.rest_of_call(
            item["custom"], frozenset({"name", "input"}), "input" in item["custom"], f"{pointer}/custom"
        )
        return
    if isinstance(inner := item.get("function"), dict):
        key = _arguments_key(inner)
        account.rest_of_call(inner, _INSIDE | {key}, key in inner, f"{pointer}/function")
        account.rest_of_call(item, _BESIDE, key in inner, pointer)
        return
    key = _arguments_key(item)
    account.rest_of_call(item, _BESIDE | {key}, key in item, pointer)


def _arguments_key(holder: JsonObject) -> str:
    """Return the key that `call_in` reads arguments from; the usual one where there are none."""
    return next((key for key in ARGUMENT_KEYS if key in holder), ARGUMENT_KEYS[0])


Index: TypeAlias = int | str | None


@dataclass(slots=True)
class _Growing:
    """A call of which pieces came. `given` are arguments that came as a value, not as text."""

    index: Index
    id: str | None
    name: str = ""
    text: str = ""
    given: JsonValue = None

    def add(self, name: str, arguments: object) -> None:
        # A name that comes again whole is one name.
        if name != self.name:
            self.name += name
        if isinstance(arguments, str):
            self.text += arguments
        elif arguments is not None:
            if self.given not in (None, arguments):
                raise _unclear("come as several values")
            self.given = arguments
        if self.text.strip() and self.given is not None:
            raise _unclear("come as text and as a value")

    @property
    def has_begun(self) -> bool:
        return self.given is not None or bool(self.text.strip())

    @property
    def is_whole(self) -> bool:
        return self.given is not None or _is_object(self.text)

    def to_document(self) -> JsonObject:
        arguments = self.text if self.given is None else self.given
        return {"name": self.name, "arguments": arguments} | ({"id": self.id} if self.id else {})


class CallPieces:
    """The calls of one message, while pieces of them come."""

    def __init__(self) -> None:
        self._calls: list[_Growing] = []

    def add(self, pieces: object) -> None:
        """Take in the list of pieces that came together. Raises InvalidDocument."""
        named: set[int] = set()
        if not isinstance(pieces, list):
            raise InvalidDocument.at("", f"pieces of calls are {_kind(pieces)}, not a list")
        for piece in pieces:
            if not isinstance(piece, dict):
                raise InvalidDocument.at("", f"a piece of a call is {_kind(piece)}, not an object")
            self._take(piece, named)

    @property
    def made(self) -> list[JsonObject]:
        """The calls so far, each with `name`, `arguments` and perhaps `id`, in the order of their indexes."""
        made: list[_Growing] = []
        for call in self._calls:
            before = next((each for each in reversed(made) if each.index == call.index), None)
            if before is not None and _continues(before, call):
                before.add(call.name, call.text if call.given is None else call.given)
            else:
                made.append(_Growing(call.index, call.id, call.name, call.text, call.given))
        numbers = [call.index for call in made if isinstance(call.index, int)]
        if len(numbers) == len(made):
            made = [call for _, call in sorted(zip(numbers, made, strict=True), key=lambda numbered: numbered[0])]
        return [call.to_document() for call in made]

    def _take(self, piece: JsonObject, named: set[int]) -> None:
        """Give a piece to its call. `named` are the calls that were named by pieces which came together with it."""
        inner = piece.get("function")
        inner = inner if isinstance(inner, dict) else {**piece, "name": inner or piece.get("name")}
        name = _text(inner.get("name"), "name")
        arguments = inner["arguments"] if "arguments" in inner else inner.get("args")
        identifier = piece.get("id")
        identifier = str(identifier) if isinstance(identifier, int) else _text(identifier, "id") or None
        call = self._found(_index(piece), identifier, name, arguments)
        if call is None or (identifier is None and name and id(call) in named):
            call = _Growing(_index(piece), identifier)
            self._calls.append(call)
        call.id = call.id or identifier
        call.add(name, arguments)
        if name:
            named.add(id(call))

    def _found(self, index: Index, identifier: str | None, name: str, arguments: object) -> _Growing | None:
        """Return the call that a piece goes on with, None where it begins one."""
        open_calls = [call for call in reversed(self._calls) if index is None or call.index == index]
        if identifier is not None:
            known = next((call for call in open_calls if call.id == identifier), None)
            if known is not None:
                return known
        last = open_calls[0] if open_calls else None
        if last is None or (identifier is not None and last.id is not None):
            return None
        says_more = bool(arguments.strip() if isinstance(arguments, str) else arguments is not None)
        begins = bool(name) and last.has_begun and (name != last.name or (last.is_whole and says_more))
        return None if begins else last


def joined_calls(pieces: Iterable[object]) -> list[JsonObject]:
    """Return the calls of pieces that came one after the other. Raises InvalidDocument."""
    calls = CallPieces()
    for each in pieces:
        calls.add(each)
    return calls.made


def _continues(before: _Growing, call: _Growing) -> bool:
    """Tell whether what came under another id is more of the call before it: some servers give each piece its own."""
    if not call.name:
        return True
    return call.name == before.name and before.has_begun and not before.is_whole and not call.is_whole


def _index(piece: JsonObject) -> Index:
    index = piece.get("index")
    return index if isinstance(index, int | str) and not isinstance(index, bool) else None


def _text(value: object, what: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidDocument.at("", f"the {what} of a call is {_kind(value)}, not text")
    return value


def _is_object(text: str) -> bool:
    try:
        return isinstance(load_json(text), dict)
    except InvalidDocument:
        return False


def _kind(value: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list", dict: "an object"}
    return "null" if value is None else names.get(type(value), "no JSON value")


def _unclear(how: str) -> InvalidDocument:
    return InvalidDocument.at("", f"the arguments of one call {how}")
