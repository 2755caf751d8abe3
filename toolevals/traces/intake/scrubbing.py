"""Keep the rules by which a project takes personal data out of what it stores, and apply them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar, get_args

from toolevals.grading.reading.telemetry.scrubbing import ScrubbingRules, compared_name, scrubbed
from toolevals.grading.values.matchers import compile_pattern
from toolevals.json_types import JsonMapping

Value = TypeVar("Value")

Kind = Literal["email", "phone", "card", "iban", "field", "pattern"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
TITLES: Final[Mapping[Kind, str]] = {
    "email": "E-mail addresses",
    "phone": "Phone numbers: international, national, and under a key such as phone",
    "card": "Card numbers of a known issuer with a valid check digit",
    "iban": "IBANs of a known country with valid check digits",
    "field": "Fields by their name",
    "pattern": "A pattern of RE2",
}
RULES_MAX: Final = 50


@dataclass(frozen=True, slots=True)
class ScrubRule:
    """One rule. `value` is the name of a field, in any case, or a pattern; empty for the other kinds."""

    kind: Kind
    value: str = ""

    @property
    def title(self) -> str:
        """The rule in words."""
        return f"{TITLES[self.kind]}: {self.value}" if self.value else TITLES[self.kind]

    def as_document(self) -> dict[str, str]:
        """Return the rule as it is stored."""
        return {"kind": self.kind, "value": self.value} if self.value else {"kind": self.kind}


def rules_of(documents: Iterable[JsonMapping]) -> tuple[ScrubRule, ...]:
    """Return rules as they were stored. Raises ValueError that says which is wrong and why."""
    rules = []
    for place, document in enumerate(documents, start=1):
        kind, value = document.get("kind"), str(document.get("value") or "").strip()
        if kind not in KINDS:
            raise ValueError(f"rule {place} has the kind {kind!r:.40}; kinds are {', '.join(KINDS)}")
        if kind in ("field", "pattern") and not value:
            raise ValueError(f"rule {place} needs the {'name of a field' if kind == 'field' else 'pattern'}")
        if kind == "field" and not compared_name(value):
            raise ValueError(f"rule {place} names the field {value!r:.40}, which has no letter and no digit")
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


class Scrubber:
    """Rules, compiled once, for any number of texts and spans."""

    def __init__(self, rules: Sequence[ScrubRule]) -> None:
        kinds = {rule.kind for rule in rules}
        self._rules = ScrubbingRules(
            email="email" in kinds,
            phone="phone" in kinds,
            card="card" in kinds,
            iban="iban" in kinds,
            fields=tuple(rule.value for rule in rules if rule.kind == "field"),
            patterns=tuple(("pattern", rule.value) for rule in rules if rule.kind == "pattern"),
        )

    def without(self, value: Value) -> Value:
        """Return a text, a value of JSON or a part of an export of OTLP without what the rules take out.

        JSON in a text stays JSON, and an export stays one. Raises InvalidDocument where a value is nested deeper than
        any that can be kept.
        """
        return scrubbed(value, self._rules)[0]
