"""Which fields of each result the replies used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from toolevals.grading.result_use.payloads import label_stems, stems
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.values import ResultFields

# Replies' words among which fields' texts are looked for, in characters.
MAX_WORDS = 200_000
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Usage:
    """The words of replies, the fields that their claims rest on (result's place, pointer), the results passed on."""

    texts: list[str] = field(default_factory=list)
    used: set[tuple[int, str]] = field(default_factory=set)
    passed_on: set[int] = field(default_factory=set)


class _Said(NamedTuple):
    """What replies say: their text, its words, and their stems."""

    text: str
    words: frozenset[str]
    stems: frozenset[str]


def utilisation(sources: Sources, usage: Usage) -> list[ResultFields]:
    """Return each result's used and unused fields: values that a claim rests on, and texts that a reply holds."""
    text = "\n".join(map(_said_form, usage.texts))[:MAX_WORDS]
    said = _Said(text, frozenset(_WORD.findall(text)), frozenset(stems(text)))
    return [_fields(place, sources, usage, said) for place in range(len(sources.results))]


def _fields(place: int, sources: Sources, usage: Usage, said: _Said) -> ResultFields:
    result = sources.results[place]
    used: dict[str, None] = {}
    unused: dict[str, None] = {}
    for leaf in result.payload.leaves:
        is_used = (place, leaf.pointer) in usage.used
        if isinstance(leaf.value, bool):
            labels = label_stems(leaf.path)
            is_used = bool(labels) and labels <= said.stems
            if not is_used:
                continue
        elif not is_used and isinstance(leaf.value, str):
            plain = _said_form(leaf.value)
            first = _WORD.search(plain)
            is_used = first is not None and first[0] in said.words and plain in said.text
        (used if is_used else unused)[leaf.pointer] = None
    unused_pointers = tuple(pointer for pointer in unused if pointer not in used)
    return ResultFields(
        result.message, result.call_id, result.tool, tuple(used), unused_pointers, place in usage.passed_on
    )


def _said_form(text: str) -> str:
    return text.casefold().replace("_", " ")
