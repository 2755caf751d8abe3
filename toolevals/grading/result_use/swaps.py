"""Claims that some field supports, and that are wrong nonetheless: the value of another thing, or of another field."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from toolevals.grading.result_use.fields import FieldValue
from toolevals.grading.result_use.lexicon import CHANGE_WORDS
from toolevals.grading.result_use.mentions import Mention
from toolevals.grading.result_use.replies import Reply
from toolevals.grading.result_use.sorts import comparable
from toolevals.grading.result_use.sources import Sources
from toolevals.grading.result_use.subjects import subjects_of
from toolevals.grading.result_use.values import Finding

SWAPPED_KINDS = frozenset({"amount", "percent", "time", "date"})
# How far from a value its object's other fields are looked for.
_NEAR = 40
_COMPARING = (" than ", " from ", " instead ")


def swapped(reply: Reply, place: int, entries: Sequence[int], sources: Sources) -> FieldValue | None:
    """Return what contradicts a claim that some field supports, None where nothing does.

    It is the value of the same field of the thing that the claim is about, or of the field whose name stands right
    before the claim, in the same object.
    """
    if reply.mentions[place].kind not in SWAPPED_KINDS:
        return None
    other = _other_field(reply, place, entries, sources) or _other_subject(reply, place, entries, sources)
    if other is None or reply.is_in_arithmetic(place) or reply.has_word(place, CHANGE_WORDS):
        return None
    return other


def swap_finding(reply: Reply, place: int, other: FieldValue, sources: Sources, claim: int) -> Finding:
    """Return the finding on a value that a result holds for something else."""
    mention = reply.mentions[place]
    result = sources.results[other.result]
    text = reply.text[mention.start : mention.end]
    where = f"{result.tool or 'the tool'}'s {other.pointer}"
    reason = f"“{text}” is the value of something else: {where} has {other.written}."
    return Finding("contradiction", reason, (claim,), result.message, other.pointer)


def _other_subject(reply: Reply, place: int, entries: Sequence[int], sources: Sources) -> FieldValue | None:
    values = [sources.values[entry] for entry in entries]
    name = values[0].name
    if any(value.name != name for value in values) or (subject := _subject_of(reply, place, sources)) is None:
        return None
    things = sources.index.get(subject, [])[-8:]
    if any(_within(value, sources.values[thing]) for value in values for thing in things):
        return None
    for thing in reversed(things):
        held = sources.values[thing]
        if not held.container and len(sources.results) == 1:
            continue
        for other in sources.near(thing, _NEAR):
            if other.name == name and other.kind == values[0].kind and _within(other, held):
                return other
    return None


def _within(value: FieldValue, thing: FieldValue) -> bool:
    return value.result == thing.result and f"{value.pointer}/".startswith(f"{thing.container}/")


def _subject_of(reply: Reply, place: int, sources: Sources) -> str | None:
    """Return the thing that the claim's sentence or line is about, where its order says so without doubt."""
    mention = reply.mentions[place]
    start, end = reply.segment(place)
    subjects = subjects_of(reply, sources)
    begun = subjects[bisect_left(subjects, (start,)) : bisect_left(subjects, (end,))]
    here = [subject for subject in begun if subject[1] <= end]
    if not here:
        return None
    before = [subject for subject in here if subject[1] <= mention.start]
    is_single = len({subject[2] for subject in here}) == 1
    if not before:
        link = reply.text[mention.end : here[0][0]].strip().lower()
        return here[0][2] if is_single and link in {"for", "of", "on"} else None
    values = [other for other in reply.between(start, mention.start) if other.kind not in {"identifier", "quote"}]
    if values and values[0].start < here[0][0] and not is_single:
        return None
    if _is_listed(before, values, mention):
        return None
    text = reply.text[before[-1][1] : mention.start].casefold()
    return None if any(word in text for word in _COMPARING) else before[-1][2]


def _is_listed(before: Sequence[tuple[int, int, str]], values: Sequence[Mention], mention: Mention) -> bool:
    """Whether several things are named with no value of the claim's kind between them: it may be of all of them."""
    last = max((value.end for value in values if value.kind == mention.kind), default=0)
    return len({subject[2] for subject in before if subject[0] >= last}) > 1


def _other_field(reply: Reply, place: int, entries: Sequence[int], sources: Sources) -> FieldValue | None:
    if len(entries) > 4 or not (words := reply.words_close(place)):
        return None
    values = [sources.values[entry] for entry in entries]
    if any((words | reply.words_after(place)) & value.labels for value in values):
        return None
    for entry, value in zip(entries, values, strict=True):
        named = [
            other
            for other in sources.beside(entry, _NEAR)
            if other.pointer != value.pointer
            and other.kind == value.kind
            and other.is_money == value.is_money
            and words & other.labels
        ]
        if len({other.pointer for other in named}) == 1:
            other = named[0]
            if comparable(reply.mentions[place], other) and other.key != value.key:
                return other
    return None
