"""Write values, matchers and paths for people."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

LONGEST_VALUE = 2000


def matcher_text(document: Any) -> str:
    """Return a matcher's document as a phrase: "one of 3, 4"."""
    if not isinstance(document, Mapping):
        return value_text(document)
    kind = next((name for name in MATCHER_WORDS if name in document), None)
    if kind is None:
        return value_text(document)
    text = MATCHER_WORDS[kind](document[kind])
    return f"{text}, or absent" if document.get("optional") else text


def value_text(value: Any) -> str:
    """Return a value as JSON on one line, cut where it is very long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def path_text(pointer: str) -> str:
    """Return a JSON pointer as it is read: "/a/0/b" is "a[0].b"."""
    text = ""
    for raw in pointer.split("/")[1:]:
        part = raw.replace("~1", "/").replace("~0", "~")
        text += f"[{part}]" if part.isdigit() and text else f".{part}" if text else part
    return text or "arguments"


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at most {value_text(high)}" if low is None else f"at least {value_text(low)}"
    return f"{value_text(low)} to {value_text(high)}"


def _approximately(value: float, absolute: float | None = None, relative: float | None = None) -> str:
    tolerances = [value_text(absolute)] if absolute is not None else []
    tolerances += [f"{value_text(relative)} of it"] if relative is not None else []
    return f"{value_text(value)} within {' or '.join(tolerances)}"


def _date_in_formats(content: Mapping[str, Any]) -> str:
    return f"the date {value_text(content['date'])}, read as {' or '.join(content['formats'])}"


def _result_of(call: int, pointer: str = "", **found: Any) -> str:
    text = f"result of call {call}{f' at {pointer}' if pointer else ''}"
    return f"{text}: {value_text(found['value'])}" if found else text


# A matcher's kind -> how its content reads.
MATCHER_WORDS: Final[dict[str, Callable[[Any], str]]] = {
    "exact": value_text,
    "key_only": lambda _: "any value",
    "one_of": lambda values: "one of " + ", ".join(value_text(value) for value in values),
    "range": lambda bounds: _range(*bounds),
    "pattern": lambda text: f"matches {text}",
    "contains": lambda text: f"contains {value_text(text)}",
    "has_prefix": lambda text: f"begins with {value_text(text)}",
    "has_suffix": lambda text: f"ends with {value_text(text)}",
    "natural_language": lambda text: f"in words: {text}",
    "fields": lambda fields: "{" + ", ".join(f"{name}: {matcher_text(each)}" for name, each in fields.items()) + "}",
    "items": lambda items: "[" + ", ".join(matcher_text(each) for each in items) + "]",
    "absent": lambda _: "must be absent",
    "approximately": lambda content: _approximately(**content),
    "result_of": lambda content: _result_of(**content),
    "date_equal": lambda date: f"the date {value_text(date)}" if isinstance(date, str) else _date_in_formats(date),
}
