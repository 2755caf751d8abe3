"""Take a tool's arguments from the conversation; what is not mentioned is not made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from toolevals.runs.baseline.mentions import Kind, Mention, mentions
from toolevals.runs.baseline.slots import Slot
from toolevals.runs.baseline.words import words

# How many characters may stand between a parameter's name and its value, for a required and for an optional one.
_NEAR, _CLOSE = 60, 25
_MAX_DEPTH = 3
# Longer texts are read up to here.
_MAX_TEXT = 20_000
_NEGATIONS = ("no ", "not ", "without ", "n't ", "exclude ", "disable ")


@dataclass(slots=True)
class Source:
    """A text to take values from; each of its mentions serves once."""

    text: str
    context: Mapping[str, Any] = field(default_factory=dict)
    mentions: list[Mention] = field(init=False)
    lower: str = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.text[:_MAX_TEXT]
        self.mentions = mentions(self.text)
        self.lower = self.text.lower()

    def take(self, mention: Mention) -> None:
        """Mark `mention` as used."""
        self.mentions.remove(mention)

    def distance(self, slot: Slot, mention: Mention) -> int | None:
        """Return how many characters lie between the mention and a word of the slot's name; None where too many."""
        before = self.text[max(0, mention.start - _NEAR) : mention.start]
        after = self.text[mention.end : mention.end + _CLOSE]
        gaps = [len(before) - end for end in _ends(before, slot.cues)]
        # A unit or noun may follow its number ("100 trials"), but a name in front is the better sign.
        gaps += [end + _CLOSE for end in _ends(after, slot.cues)]
        return min(gaps, default=None)


def _ends(text: str, cues: frozenset[str]) -> Iterator[int]:
    """Yield where the words of `text` that are among `cues` end."""
    end = 0
    for is_word, letters in groupby(text, str.isalnum):
        token = "".join(letters)
        end += len(token)
        if is_word and cues.intersection(words(token)):
            yield end


def fill(schema: Mapping[str, Any], source: Source, *, depth: int = 0) -> dict[str, Any]:
    """Return arguments for an object schema, in the schema's order; only those for which something speaks."""
    slots = _slots(schema)
    values: dict[str, Any] = {}
    for slot in slots:
        if (value := _said(slot, source)) is not None:
            values[slot.name] = value
    values |= _announced(_open(slots, values), source)
    for slot in _open(slots, values):
        if (value := _rest(slot, source, depth)) is not None:
            values[slot.name] = value
    return {slot.name: values[slot.name] for slot in slots if slot.name in values}


def _slots(schema: Mapping[str, Any]) -> list[Slot]:
    properties = schema.get("properties")
    required = schema.get("required")
    needed = set(map(str, required)) if isinstance(required, list) else set()
    pairs = properties.items() if isinstance(properties, dict) else ()
    return [Slot(name, inner if isinstance(inner, dict) else {}, name in needed) for name, inner in pairs]


def _open(slots: list[Slot], found: Mapping[str, Any]) -> list[Slot]:
    return [slot for slot in slots if slot.name not in found]


def _said(slot: Slot, source: Source) -> Any:
    """Return what the context, the only possible value, the mentioned choice or a flag's name decides, or None."""
    given = source.context.get(slot.name)
    if isinstance(given, str | int | float):
        return given
    if "const" in slot.schema:
        return slot.schema["const"] if slot.required else None
    choices = slot.schema.get("enum")
    if isinstance(choices, list):
        return _choice(choices, source)
    return _flag(slot, source) if slot.type == "boolean" else None


def _choice(choices: list[Any], source: Source) -> Any:
    """Return the longest choice that the text mentions, an underscore reading like a space."""
    mentioned = [
        choice for choice in choices if isinstance(choice, str) and choice and _mentioned(choice, source.lower)
    ]
    return max(mentioned, key=len, default=None)


def _mentioned(choice: str, lower: str) -> bool:
    return any(_whole_word(form, lower) for form in {choice.lower(), choice.lower().replace("_", " ")})


def _whole_word(form: str, lower: str) -> bool:
    at = lower.find(form)
    while at >= 0:
        end = at + len(form)
        if not (lower[at - 1 : at].isalnum() and at) and not lower[end : end + 1].isalnum():
            return True
        at = lower.find(form, at + 1)
    return False


def _flag(slot: Slot, source: Source) -> bool | None:
    """Return True where the flag's own words are in the text, False where a negation stands before them."""
    for end in _ends(source.lower, slot.cues):
        return not any(negation in source.lower[max(0, end - 30) : end] for negation in _NEGATIONS)
    return None


def _announced(slots: list[Slot], source: Source) -> dict[str, Any]:
    """Give mentions to the parameters whose names stand nearest to them."""
    pairs = sorted(
        (
            (gap, slot.kinds.index(mention.kind), number, mention.start, slot, mention)
            for number, slot in enumerate(slots)
            for mention in source.mentions
            if mention.kind in slot.kinds and (gap := source.distance(slot, mention)) is not None
            if slot.required or gap <= _CLOSE
        ),
        key=lambda pair: pair[:4],
    )
    values: dict[str, Any] = {}
    for *_, slot, mention in pairs:
        if slot.name not in values and mention in source.mentions and (value := slot.value(mention)) is not None:
            values[slot.name] = value
            source.take(mention)
    return values


def _rest(slot: Slot, source: Source, depth: int) -> Any:
    """Return a value for a parameter that nothing in the text announces, or None."""
    if slot.type == "array":
        return _items(slot, source)
    if slot.type == "object":
        inner = fill(slot.schema, source, depth=depth + 1) if depth < _MAX_DEPTH else {}
        return inner or ({} if slot.required else None)
    if not slot.required:
        return None
    for kind in slot.kinds:
        for mention in source.mentions:
            if mention.kind is kind and (value := slot.value(mention)) is not None:
                source.take(mention)
                return value
    if slot.schema.get("default") is not None:
        return slot.schema["default"]
    return source.text.strip() if slot.takes_whole_text else None


def _items(slot: Slot, source: Source) -> list[Any] | None:
    """Return the longest list that the text enumerates, as items of the array; None where there is none."""
    items = slot.schema.get("items")
    item = Slot(slot.name, items if isinstance(items, dict) else {}, required=True)
    choices = item.schema.get("enum")
    if isinstance(choices, list):
        return [choice for choice in choices if isinstance(choice, str) and _mentioned(choice, source.lower)] or None
    runs = [run for kind in item.kinds for run in _enumerations(source, kind)]
    longest = max(runs, key=len, default=[])
    if not longest or (len(longest) == 1 and not slot.required):
        return None
    values = [item.value(mention) for mention in longest]
    for mention in longest:
        source.take(mention)
    return [value for value in values if value is not None] or None


def _enumerations(source: Source, kind: Kind) -> list[list[Mention]]:
    """Return the runs of mentions of one kind between which only commas, brackets and "and" stand."""
    runs: list[list[Mention]] = []
    for mention in (mention for mention in source.mentions if mention.kind is kind):
        between = source.lower[runs[-1][-1].end : mention.start] if runs else ""
        if runs and not between.replace("and", "").replace("or", "").strip(" ,;[]()\n"):
            runs[-1].append(mention)
        else:
            runs.append([mention])
    return runs
