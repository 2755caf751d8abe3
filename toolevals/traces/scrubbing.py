"""Take personal data out of what is about to be stored: by kind, by the name of a field, and by patterns of a project.

Patterns are RE2's: they take time in proportion to the text, whoever wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import orjson
import re2

from toolevals.grading.values.patterns import compile_pattern

Kind = Literal["email", "phone", "card", "iban", "field", "pattern"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
TITLES: Final[Mapping[Kind, str]] = {
    "email": "E-mail addresses",
    "phone": "Phone numbers: international, and of North America",
    "card": "Card numbers with a valid check digit",
    "iban": "IBANs with valid check digits",
    "field": "Fields by their name",
    "pattern": "A pattern of RE2",
}
RULES_MAX: Final = 50
# JSON may stand as text in JSON: so deep it is opened.
_OPENED: Final = 4
# The texts of a span; all else in it is ids, times and names of attributes.
_TEXTS: Final = ("stringValue", "message", "name")


@dataclass(frozen=True, slots=True)
class ScrubRule:
    """One rule. `value` is the name of a field, in any case, or a pattern; empty for the other kinds."""

    kind: Kind
    value: str = ""

    @property
    def mark(self) -> str:
        """What stands where something was taken out."""
        return f"[{self.value if self.kind == 'field' else self.kind}]"

    @property
    def title(self) -> str:
        """The rule in words."""
        return f"{TITLES[self.kind]}: {self.value}" if self.value else TITLES[self.kind]

    def as_document(self) -> dict[str, str]:
        """Return the rule as it is stored."""
        return {"kind": self.kind, "value": self.value} if self.value else {"kind": self.kind}


def rules_of(documents: Iterable[Mapping[str, Any]]) -> tuple[ScrubRule, ...]:
    """Return rules as they were stored. Raises ValueError that says which is wrong and why."""
    rules = []
    for place, document in enumerate(documents, start=1):
        kind, value = document.get("kind"), str(document.get("value") or "").strip()
        if kind not in KINDS:
            raise ValueError(f"rule {place} has the kind {kind!r:.40}; kinds are {', '.join(KINDS)}")
        if kind in ("field", "pattern") and not value:
            raise ValueError(f"rule {place} needs the {'name of a field' if kind == 'field' else 'pattern'}")
        if kind == "pattern":
            try:
                matches_nothing = compile_pattern(value).search("") is None
            except ValueError as error:
                raise ValueError(f"rule {place}: {error}") from None
            if not matches_nothing:
                raise ValueError(f"rule {place} matches the empty text: it would be found everywhere")
        rules.append(ScrubRule(kind, value if kind in ("field", "pattern") else ""))
    if len(rules) > RULES_MAX:
        raise ValueError(f"there are {len(rules)} rules; {RULES_MAX} is the most")
    return tuple(rules)


@dataclass(frozen=True, slots=True)
class _Search:
    pattern: Any
    mark: str
    is_one: Callable[[str], bool]
    # What a text must hold for the pattern to be worth asking.
    hint: Callable[[str], bool]


class Scrubber:
    """Rules, compiled once, for any number of texts and spans."""

    def __init__(self, rules: Sequence[ScrubRule]) -> None:
        self._fields = {rule.value.casefold(): rule.mark for rule in rules if rule.kind == "field"}
        self._searches = [_search(rule) for rule in rules if rule.kind != "field"]

    def text(self, text: str) -> str:
        """Return a text without what the rules take out; JSON in it stays JSON."""
        return self._text(text, _OPENED)

    def document(self, value: Any) -> Any:
        """Return a value of JSON without what the rules take out of its texts and fields."""
        return self._value(value, _OPENED)

    def span(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return a part of an export of OTLP, without what the rules take out of its texts."""
        return {key: self._part(key, value) for key, value in document.items()}

    def _part(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value) if key in _TEXTS else value
        if isinstance(value, Mapping):
            return self.span(value)
        if isinstance(value, list):
            return [self._pair(each) if isinstance(each, Mapping) else each for each in value]
        return value

    def _pair(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return an item of a list, which may be a key with its value."""
        name = item.get("key")
        if isinstance(name, str):
            if (mark := self._mark(name.rsplit(".", 1)[-1]) or self._mark(name)) is not None:
                return {**item, "value": {"stringValue": mark}}
            value = item.get("value")
            if isinstance(value, Mapping) and "intValue" in value:
                text = str(value["intValue"])
                scrubbed = self._searched(text)
                return {**item, "value": {"stringValue": scrubbed}} if scrubbed != text else dict(item)
        return self.span(item)

    def _mark(self, name: str) -> str | None:
        return self._fields.get(name.casefold())

    def _text(self, text: str, depth: int) -> str:
        if depth and text.lstrip()[:1] in ("{", "[", '"'):
            try:
                value = orjson.loads(text)
            except ValueError:
                return self._searched(text)
            changed = self._value(value, depth - 1)
            return text if changed == value else orjson.dumps(changed).decode()
        return self._searched(text)

    def _value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, depth)
        if isinstance(value, dict):
            return {
                key: self._value(inner, depth) if (mark := self._mark(key)) is None else mark
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._value(each, depth) for each in value]
        if isinstance(value, int) and not isinstance(value, bool):
            text = str(value)
            scrubbed = self._searched(text)
            return value if scrubbed == text else scrubbed
        return value

    def _searched(self, text: str) -> str:
        for search in self._searches:
            if search.hint(text):
                text = search.pattern.sub(
                    lambda found, search=search: search.mark if search.is_one(found.group()) else found.group(), text
                )
        return text


def _search(rule: ScrubRule) -> _Search:
    if rule.kind == "pattern":
        return _Search(compile_pattern(rule.value), rule.mark, bool, lambda _: True)
    pattern, is_one, hint = _KNOWN[rule.kind]
    return _Search(re2.compile(pattern), rule.mark, is_one, hint)


def _digits(text: str) -> list[int]:
    return [int(each) for each in text if each in "0123456789"]


def _is_card(text: str) -> bool:
    """Tell whether the check digit is right (Luhn)."""
    digits = _digits(text)[::-1]
    doubled = (each * 2 - 9 if each > 4 else each * 2 for each in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _is_iban(text: str) -> bool:
    """Tell whether the check digits are right (ISO 13616)."""
    packed = text.replace(" ", "")
    turned = packed[4:] + packed[:4]
    return int("".join(str(int(each, 36)) for each in turned)) % 97 == 1


def _has_digits(text: str) -> bool:
    return sum(map(text.count, "0123456789")) > 6


_KNOWN: Final[Mapping[str, tuple[str, Callable[[str], bool], Callable[[str], bool]]]] = {
    "email": (r"[\pL\pN._%+\-]+@[\pL\pN\-]+(?:\.[\pL\pN\-]+)+", bool, lambda text: "@" in text),
    "phone": (
        r"(?:\+|\b00)\d[\d ().\-/]{6,18}\d\b|(?:\(\d{3}\) ?|\b\d{3}[ .\-])\d{3}[ .\-]\d{4}\b",
        bool,
        _has_digits,
    ),
    "card": (r"\b\d(?:[ \-]?\d){12,18}\b", _is_card, _has_digits),
    "iban": (r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b", _is_iban, _has_digits),
}
