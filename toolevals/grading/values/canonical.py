"""Writes JSON text in one exact form, and names values by content.

The form: no white space, integers of any size, floats in their shortest form that
reads back the same, and nothing escaped that need not be. What JSON cannot say exactly is refused: NaN, infinities,
NUL, lone surrogates, keys that are not text. `1` and `1.0` stay two values.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import orjson

# What orjson takes; the same limit holds for documents with large integers, which orjson does not take.
MAX_DEPTH = 254
# What Python reads and writes unless told otherwise; beyond it both take quadratic time.
MAX_DIGITS = 4_300
INTEGER_LIMIT: int = 10**MAX_DIGITS

_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
# orjson reads integers beyond 64 bits as floats; 19 digits are the first that may be beyond. They are looked for among
# bytes of which each digit is written as a zero: a tenth of the time of a regular expression.
_LONG_NUMBER = b"0" * 19
_DIGITS_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")


class Written(str):
    """JSON text that `exact` has made: a document that is ready to be kept."""

    __slots__ = ()


def canonical(value: object) -> str:
    """Return the canonical JSON text of `value`: equal values have equal texts. Raises ValueError where it has none."""
    return _text(value, sort=True)


def exact(value: object) -> str:
    """Return the JSON text of `value` with its keys in their own order, for keeping. Raises as `canonical`."""
    return _text(value, sort=False)


def _text(value: object, *, sort: bool) -> str:
    try:
        text = orjson.dumps(value, option=_OPTIONS | (orjson.OPT_SORT_KEYS if sort else 0)).decode()
    except TypeError:
        # Integers beyond 64 bits, and what must be refused with a reason.
        return _written(value, 1, sorted if sort else list)
    # orjson writes NaN and infinities as null, which reads back as another value, and NUL as an escape.
    if "\\u0000" in text or ("null" in text and orjson.loads(text) != value):
        _refuse_inexact(value)
    return text


def parse(text: str | bytes) -> Any:
    """Return the value of JSON text that is known to be good, such as our own. Raises ValueError on bad text."""
    if isinstance(text, bytes):
        text = text.decode()
    if holds_long_number(text):
        return json.loads(text, parse_constant=_refuse_constant)
    return orjson.loads(text)


def holds_long_number(text: str) -> bool:
    """Tell whether a text holds so many digits in a row that they may be an integer beyond 64 bits."""
    return _LONG_NUMBER in text.encode(errors="surrogatepass").translate(_DIGITS_AS_ZEROS)


def digest(value: object) -> str:
    """Return the SHA-256 of the canonical text of `value`, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def shown(value: object, length: int) -> str:
    """Return a value as JSON text for people, cut to `length` characters, whatever it holds."""
    try:
        text = canonical(value)
    except ValueError:
        text = _described(value)
    return text if len(text) <= length else f"{text[:length]}…"


def _described(value: object) -> str:
    """Return what can be said of a value that has no canonical text; this is text that has one."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__} beyond our limits"
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _refuse_inexact(value: object) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)
        elif isinstance(item, str | float):
            _written_scalar(item)


def _written(value: object, depth: int, order: Callable[[Iterable[str]], list[str]]) -> str:
    if isinstance(value, list | tuple | dict) and depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, list | tuple):
        return f"[{','.join([_written(item, depth + 1, order) for item in value])}]"
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key is not text")
        items = [f"{_written_scalar(key)}:{_written(value[key], depth + 1, order)}" for key in order(value)]
        return f"{{{','.join(items)}}}"
    return _written_scalar(value)


def _written_integer(value: int) -> str:
    if not -INTEGER_LIMIT < value < INTEGER_LIMIT:
        raise ValueError(f"an integer has more than {MAX_DIGITS:,} digits")
    return str(int(value))


def _written_scalar(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return _written_integer(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is not a JSON value")
    if isinstance(value, str) and "\0" in value:
        raise ValueError("text holds a NUL character")
    if not isinstance(value, str | float | bool | None):
        raise ValueError(f"{type(value).__name__} is not a JSON value")  # noqa: TRY004 (the one error of this module)
    try:
        return orjson.dumps(value).decode()
    except TypeError as error:
        raise ValueError("text holds a lone surrogate") from error
