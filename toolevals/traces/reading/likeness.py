"""Find turns that ask nearly the same: by the words of what was said, the numbers in the request, and the tools."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from labeling.lint.inputs import ALIKE, FEWEST_WORDS, MOST_IN_A_PROBE, PROBES, conversation_text
from labeling.lint.texts import resemblance, sketch, words_in
from toolevals.grading.reading.examples import first_words
from toolevals.grading.values.canonical import digest

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Likeness:
    """Tells whether two turns ask the same. `exact` is equal where they do so in other spacing or case.

    `apart` are the names of tools and the words with digits in the request: order 7 is not order 8.
    """

    exact: str
    apart: tuple[tuple[str, ...], tuple[str, ...]]
    whole: array[int]
    request: array[int]
    is_short: bool


def likeness_of(shown: Mapping[str, Any], tools: Iterable[str]) -> Likeness:
    """Return the likeness of an example's input. The system's words are left aside where they only resemble."""
    messages = shown.get("messages")
    said = [each for each in (messages if isinstance(messages, list) else ()) if isinstance(each, dict)]
    words = words_in(conversation_text(shown))
    last = next((each for each in reversed(said) if each.get("role") == "user"), {})
    asked = words_in(conversation_text({"messages": [last]}))
    names = tuple(sorted(tools))
    numbers = tuple(sorted({word for word in asked if any(each.isdigit() for each in word)}))
    return Likeness(
        digest([*([str(each.get("role")), _plain(each)] for each in said), list(names)]),
        (names, numbers),
        sketch(words),
        sketch(asked),
        is_short=len(words) < FEWEST_WORDS,
    )


class LikeTurns(Generic[Key]):
    """Turns so far, each under a key of its own, by their likeness."""

    def __init__(self) -> None:
        self._exact: dict[str, Key] = {}
        self._kept: list[tuple[Likeness, Key]] = []
        self._probes: dict[int, list[int]] = defaultdict(list)

    def find(self, turn: Likeness) -> Key | None:
        """Return the key of the first turn that asks nearly the same; None where none does."""
        if (found := self._exact.get(turn.exact)) is not None:
            return found
        if turn.is_short:
            return None
        places = {place for value in turn.whole[:PROBES] for place in self._probes.get(value, ())}
        for place in sorted(places):
            other, key = self._kept[place]
            if other.apart == turn.apart and _are_alike(other, turn):
                return key
        return None

    def add(self, turn: Likeness, key: Key) -> None:
        """Keep a turn that is like none before it."""
        self._exact.setdefault(turn.exact, key)
        place = len(self._kept)
        self._kept.append((turn, key))
        for value in turn.whole[:PROBES]:
            if len(probe := self._probes[value]) < MOST_IN_A_PROBE:
                probe.append(place)


def _are_alike(one: Likeness, other: Likeness) -> bool:
    return resemblance(one.request, other.request) >= ALIKE and resemblance(one.whole, other.whole) >= ALIKE


def _plain(message: Mapping[str, Any]) -> str:
    words = first_words({"messages": [{**message, "role": "user"}]}) or ""
    return " ".join(words.split()).casefold()
