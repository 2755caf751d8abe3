"""Reading one result's text: JSON, or lines.

Agents ask the same things of the same tools, trial after trial, so what was read of a text is kept for a while.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from toolevals.grading.documents import load_json
from toolevals.grading.problems import InvalidDocument
from toolevals.grading.result_use.fields import FieldValue, raw_words
from toolevals.grading.result_use.forms import digit_runs, moment_forms
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.payloads import Leaf, Payload
from toolevals.grading.result_use.scanner import MAX_TEXT, identifier_key, value_mentions
from toolevals.grading.result_use.values import Key

# Fields of all results of a transcript; further ones are not read.
MAX_FIELDS = 20_000
# Values of all the results that are kept to be met again: some 20 MB.
MAX_KEPT = 50_000
# Text that may be repeated whole.
MAX_NAME = 120
# Names of a transcript's results that are looked for in replies.
MAX_NAMES = 200
_NAMING = frozenset({"name", "title", "symbol", "code", "city", "id", "flight", "sku"})
_TIME_WORDS = frozenset(
    {"at", "time", "timestamp", "created", "updated", "date", "epoch", "ts", "expires", "start", "end", "due"}
)


class _Shelf:
    """Payloads by text and place, the newest up to MAX_KEPT values in all."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Payload] = {}
        self._values = 0
        self._lock = Lock()

    def take(self, content: str, place: int) -> Payload | None:
        return self._kept.get((content, place))

    def put(self, content: str, payload: Payload) -> None:
        weight = _weight(content, payload)
        if weight > MAX_KEPT // 10:
            return
        with self._lock:
            while self._values + weight > MAX_KEPT:
                key = next(iter(self._kept))
                self._values -= _weight(key[0], self._kept.pop(key))
            if (content, payload.place) not in self._kept:
                self._kept[content, payload.place] = payload
                self._values += weight


def _weight(content: str, payload: Payload) -> int:
    return len(payload.values) + len(payload.leaves) + len(content) // 100


_shelf = _Shelf()


def read_payload(content: str, place: int, room: int = MAX_FIELDS) -> Payload:
    """Return what a result's text holds, of which `room` fields are read: JSON where it is JSON, else its lines."""
    payload = _shelf.take(content, place)
    if payload is None:
        payload = _read(content, place, MAX_FIELDS)
        _shelf.put(content, payload)
    return payload if len(payload.leaves) <= room else _read(content, place, room)


def _read(content: str, place: int, room: int) -> Payload:
    is_cut = len(content) > MAX_TEXT * 10
    document, is_text = _document(content[: MAX_TEXT * 10])
    payload = Payload(place, is_text)
    reader = _Reader(payload, room)
    reader.flatten(document, "", ("", False))
    return replace(payload, truncated=True) if is_cut or reader.is_full else payload


def _document(content: str) -> tuple[Any, bool]:
    """Return the document, and whether it is lines of text and no JSON."""
    if content[:1] in '{["-0123456789' or content[:1].isspace():
        try:
            return load_json(content), False
        except InvalidDocument:
            pass
    return content.splitlines() or [content], True


class _Reader:
    """Reads a document into a payload, depth first, up to `room` fields."""

    def __init__(self, payload: Payload, room: int) -> None:
        self.payload = payload
        self.is_full = False
        self._room = room

    def flatten(self, node: Any, pointer: str, money: tuple[str, bool]) -> None:
        """Read a node; `money` is the currency of the object that it is in, and whether that is in lower case."""
        if isinstance(node, dict):
            code = node.get("currency")
            if isinstance(code, str) and len(code) == 3:
                money = (code.upper(), code.islower())
            for key, child in node.items():
                if child is not None and child is not True and child is not False and child != "":
                    name = key.replace("~", "~0").replace("/", "~1") if "~" in key or "/" in key else key
                    self.flatten(child, f"{pointer}/{name}", money)
        elif isinstance(node, list):
            if not self.payload.is_text:
                self.payload.lists[pointer] = len(node)
            for position, child in enumerate(node):
                if child is not None and child is not True and child is not False and child != "":
                    self.flatten(child, f"{pointer}/{position}", money)
        else:
            self._add_leaf(node, pointer, money)

    def _add_leaf(self, node: int | float | str, pointer: str, money: tuple[str, bool]) -> None:
        if len(self.payload.leaves) >= self._room:
            self.is_full = True
            return
        self.payload.leaves.append(Leaf(pointer, node))
        if isinstance(node, str):
            self._add_text(node, pointer, money)
        else:
            self._add_number(node, pointer, money)

    def _add_text(self, text: str, pointer: str, money: tuple[str, bool]) -> None:
        mentions = value_mentions(text)
        is_line = self.payload.is_text
        for mention in mentions:
            before = text[max(0, mention.start - 40) : mention.start] if is_line else ""
            self._add_mention(mention, pointer, money[0], before)
        if not mentions:
            key = identifier_key(text) if len(text) <= MAX_NAME else ""
            self._add(key, FieldValue(self.payload.place, pointer, "quote", key, is_text=True))
        names = self.payload.names
        if 3 <= len(text) <= 40 and len(names) < MAX_NAMES and not raw_words(pointer).isdisjoint(_NAMING):
            names[text] = None

    def _add_number(self, node: int | float, pointer: str, money: tuple[str, bool]) -> None:
        number = node if isinstance(node, int) else round(node, 6)
        self._add(number, FieldValue(self.payload.place, pointer, "number", number, "", money[0], money[1]))
        if 1e9 < number < 4e9 and not raw_words(pointer).isdisjoint(_TIME_WORDS):
            moment = datetime.fromtimestamp(int(number), UTC)
            keys: tuple[Key, ...] = ((moment.year, moment.month, moment.day), (moment.hour * 60 + moment.minute,))
            self._add_mention(Mention(0, 0, "date", keys, zone=0), pointer, "")

    def _add_mention(self, mention: Mention, pointer: str, currency: str, before: str = "") -> None:
        place = self.payload.place
        for key in mention.keys:
            if isinstance(key, tuple):
                kind = "time" if len(key) == 1 else mention.kind
                value = FieldValue(place, pointer, kind, key, mention.unit, currency, False, True, mention.zone, before)
                self._add(key, value)
                for other in moment_forms(key, mention.zone):
                    self._point(other)
            else:
                value = FieldValue(
                    place, pointer, mention.kind, key, mention.unit, currency, False, True, mention.zone, before
                )
                self._add(key, value)
        if mention.zone and len(mention.keys) == 2:
            self._add_shifted(mention, pointer)
        if mention.kind == "identifier":
            for other in digit_runs(str(mention.keys[0])):
                self._point(other)

    def _add_shifted(self, mention: Mention, pointer: str) -> None:
        """A moment with a zone also has a date in UTC, which may be the day before or after."""
        date, minute = mention.keys
        if not (isinstance(date, tuple) and len(date) == 3 and isinstance(minute, tuple) and mention.zone):
            return
        shift = (minute[0] - mention.zone) // 1440
        if shift:
            try:
                day = datetime(*date, tzinfo=UTC).toordinal() + shift
                moved = datetime.fromordinal(day)
            except (ValueError, OverflowError):
                return
            key = (moved.year, moved.month, moved.day)
            self._add(key, FieldValue(self.payload.place, pointer, "date", key, is_text=True, zone=0))
            for other in moment_forms(key, None):
                self._point(other)

    def _add(self, key: Key, value: FieldValue) -> None:
        index = self.payload.index
        places = index.get(key)
        if places is None:
            self.payload.own.append(key)
            index[key] = [len(self.payload.values)]
        else:
            places.append(len(self.payload.values))
        self.payload.values.append(value)

    def _point(self, key: Key) -> None:
        """Let another key lead to the value that was added last."""
        self.payload.index.setdefault(key, []).append(len(self.payload.values) - 1)
