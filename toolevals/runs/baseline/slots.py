"""Tell what one parameter takes, read from its JSON Schema, and how a mention becomes its value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

import re2

from toolevals.json_types import JsonObject
from toolevals.runs.baseline.mentions import Kind, Mention
from toolevals.runs.baseline.words import words

_IDENTIFIERS = frozenset(
    words("id identifier code key sku token reference order_number account phone zip postal season")
)
_DATES = frozenset(words("date day birthday dob departure arrival deadline"))
_WHOLE = frozenset(words("query question prompt text message content search description note command sentence reason"))
_FORMATS = {"email": (Kind.EMAIL,), "uri": (Kind.URL,), "url": (Kind.URL,), "date": (Kind.DATE,)}
# How dates are written where the description says so; ISO 8601 otherwise.
_DATE_STYLES = (
    (re.compile(r"MM/DD/YYYY", re.IGNORECASE), "%m/%d/%Y"),
    (re.compile(r"DD/MM/YYYY", re.IGNORECASE), "%d/%m/%Y"),
    (re.compile(r"DD-MM-YYYY", re.IGNORECASE), "%d-%m-%Y"),
    (re.compile(r"MM-DD-YYYY", re.IGNORECASE), "%m-%d-%Y"),
)
_EXAMPLE = re.compile(r"(?:e\.g\.,?|such as|for example,?|like)\s*['\"]([^'\"]{1,60})['\"]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter to be filled."""

    name: str
    schema: JsonObject
    required: bool

    @property
    def type(self) -> str:
        """The first type that is not null; "string" where none is said."""
        said = self.schema.get("type", "string")
        options = [option for option in said if option != "null"] if isinstance(said, list) else [said]
        return options[0] if options and isinstance(options[0], str) else "string"

    @property
    def cues(self) -> frozenset[str]:
        """The words that announce it in a text."""
        return frozenset(words(self.name))

    @property
    def description(self) -> str:
        """Return what its schema says about it."""
        said = self.schema.get("description", "")
        return said if isinstance(said, str) else ""

    @property
    def takes_whole_text(self) -> bool:
        """Return whether the request itself is a fair value: a query, a message."""
        return self.type == "string" and bool(self.cues & _WHOLE)

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The sorts of mention that fit, best first."""
        if self.type in ("integer", "number"):
            return (Kind.NUMBER, Kind.PERCENT, Kind.COUNT)
        if self.type != "string":
            return ()
        form = _FORMATS.get(str(self.schema.get("format", "")))
        if form:
            return form
        if "email" in self.cues or "url" in self.cues:
            return (Kind.EMAIL, Kind.QUOTED) if "email" in self.cues else (Kind.URL, Kind.QUOTED)
        if self.cues & _DATES or "YYYY" in self.description:
            return (Kind.DATE, Kind.QUOTED)
        if self.cues & _IDENTIFIERS or "pattern" in self.schema:
            return (Kind.CODE, Kind.QUOTED, Kind.NUMBER, Kind.EMAIL)
        return (Kind.QUOTED, Kind.NAME, Kind.CODE, Kind.URL)

    def value(self, mention: Mention) -> Any:
        """Return the value that `mention` gives, or None where it does not fit."""
        if mention.kind not in self.kinds:
            return None
        if self.type == "integer":
            return int(mention.value) if mention.value == int(mention.value) else None
        if self.type == "number":
            as_share = mention.kind is Kind.PERCENT and "percent" not in f"{self.name} {self.description}".lower()
            return mention.value / 100 if as_share else mention.value
        text = self._written(mention.value) if isinstance(mention.value, date) else str(mention.value).removeprefix("#")
        return text if self._fits(text) else None

    def _written(self, day: date) -> str:
        for style, form in _DATE_STYLES:
            if style.search(self.description):
                return day.strftime(form)
        return day.isoformat()

    def _fits(self, text: str) -> bool:
        """Return whether the schema's pattern allows `text`, and its examples, where they are codes, look alike."""
        pattern = self.schema.get("pattern")
        if isinstance(pattern, str):
            compiled = _pattern(pattern)
            return compiled is None or compiled.search(text) is not None
        shapes = {_shape(example) for example in self._examples() if re.search(r"\d", example)}
        return not shapes or not self.cues & _IDENTIFIERS or _shape(text) in shapes

    def _examples(self) -> list[str]:
        listed = self.schema.get("examples")
        said = [example for example in listed if isinstance(example, str)] if isinstance(listed, list) else []
        return said + _EXAMPLE.findall(self.description)


def _shape(text: str) -> str:
    """Return how a code is built: `ORD-9182` and `ABC-7` are both `A-9`."""
    return re.sub(r"[A-Za-z]+", "A", re.sub(r"\d+", "9", text))


@lru_cache(maxsize=512)
def _pattern(text: str) -> Any:
    """Return the pattern compiled by the linear-time engine, or None where it refuses."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error:
        return None
