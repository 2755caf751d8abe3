"""Reads YAML as far as JSON goes, by the core schema of YAML 1.2: `yes`, `on`, `12:30`, `2024-05-01` are text.

Refused, with line and column: aliases (which could grow without bound), tags of a language, a key that comes twice,
more than one document.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from toolevals.grading.values.documents import MAX_READ_DEPTH, require_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonValue

# Reading YAML takes fifty times as long as JSON.
MAX_CHARACTERS = 10_000_000
# So many values, keys among them, are read in under two seconds.
MAX_VALUES = 500_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_STANDARD = "tag:yaml.org,2002:"
_MAX_DIGITS = 4_300
_WIDTH = 120


def load_yaml(text: str) -> Any:
    """Return the one value of YAML text from outside, as `load_json` would of JSON. Raises InvalidDocument."""
    if len(text) > MAX_CHARACTERS:
        raise InvalidDocument.at("", f"longer than {MAX_CHARACTERS:,} characters: convert it to JSON")
    try:
        value = _Builder(yaml.parse(text, Loader=_LOADER)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise InvalidDocument.at("", f"not YAML{_place(mark)}: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidDocument.at("", f"not YAML: {str(error)[:200]}") from None
    require_json(value)
    return value


def yaml_text(value: object) -> str:
    """Return a JSON value as YAML that `load_yaml` reads back; as indented JSON, which is YAML too, where it must be.

    What is written by YAML 1.1 may be read otherwise by 1.2, such as the text 1e3.
    """
    text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=_WIDTH)
    try:
        if load_yaml(text) == value:
            return text
    except InvalidDocument:
        pass
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


class _Builder:
    """Builds one document's value from the parser's events, without recursion."""

    def __init__(self, events: Iterator[object]) -> None:
        self.events = events
        # Each open list or object, and the key that waits for its value.
        self.open: list[tuple[Any, list[str]]] = []
        self.documents = self.values = 0
        self.value: JsonValue = None

    def document(self) -> Any:
        """Return the value."""
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    raise _refused(event, "a second document")
            elif isinstance(event, yaml.AliasEvent):
                raise _refused(event, "aliases are not read: write the value where it is used")
            elif isinstance(event, yaml.ScalarEvent):
                self._count(event)
                self._scalar(event)
            elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
                self._count(event)
                self._begin(event)
            elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
                self.open.pop()
        if not self.documents:
            raise InvalidDocument.at("", "the file is empty")
        return self.value

    def _count(self, event: object) -> None:
        self.values += 1
        if self.values > MAX_VALUES:
            raise _refused(event, f"more than {MAX_VALUES:,} values: convert it to JSON")

    def _begin(self, event: Any) -> None:
        is_list = isinstance(event, yaml.SequenceStartEvent)
        if event.tag not in (None, "!", f"{_STANDARD}{'seq' if is_list else 'map'}"):
            raise _refused(event, f"the tag {event.tag[:80]} is not read")
        if self._awaits_key():
            raise _refused(event, "a key that is not text")
        if len(self.open) >= MAX_READ_DEPTH:
            raise _refused(event, f"nested deeper than {MAX_READ_DEPTH} levels")
        made: Any = [] if is_list else {}
        self._put(made)
        self.open.append((made, []))

    def _scalar(self, event: Any) -> None:
        if self._awaits_key():
            holder, waiting = self.open[-1]
            if event.value in holder:
                raise _refused(event, f"the key {event.value[:80]!r} twice")
            waiting.append(event.value)
            return
        self._put(_value_of(event))

    def _awaits_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1][0], dict) and not self.open[-1][1]

    def _put(self, value: object) -> None:
        if not self.open:
            self.value = value
            return
        holder, waiting = self.open[-1]
        if isinstance(holder, list):
            holder.append(value)
        else:
            holder[waiting.pop()] = value


def _value_of(event: Any) -> Any:
    """Return what a scalar stands for by the core schema."""
    text: str = event.value
    kind = event.tag.removeprefix(_STANDARD) if event.tag else ""
    if kind in ("str", "!") or (not kind and not event.implicit[0]):
        return text
    if kind not in ("", "null", "bool", "int", "float"):
        raise _refused(event, f"the tag {event.tag[:80]} is not read")
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return _number_of(event, text)


def _number_of(event: object, text: str) -> Any:
    """Return the number that a text is, else the text."""
    if _INTEGER.fullmatch(text):
        if len(text) > _MAX_DIGITS:
            raise _refused(event, f"an integer of more than {_MAX_DIGITS:,} digits")
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _NO_NUMBER.fullmatch(text):
        raise _refused(event, f"{text} is not a JSON value")
    if not _FLOAT.fullmatch(text):
        return text
    number = float(text)
    if not math.isfinite(number):
        raise _refused(event, f"{text[:40]} is beyond what a number can hold")
    return number


def _refused(event: Any, words: str) -> InvalidDocument:
    return InvalidDocument.at("", f"not YAML{_place(event.start_mark)}: {words}")


def _place(mark: Any) -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
