"""Finds statuses and yes-or-no fields that a reply says otherwise, as "It was completed." of what failed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from toolevals.grading.layers.result_use.payloads import Leaf, field_name, stems
from toolevals.grading.layers.result_use.sources import ResultText, Sources
from toolevals.grading.layers.result_use.units import name_words
from toolevals.grading.layers.result_use.words import words_of

# Sentences of a reply that are compared, and their longest; leaves of a result.
MAX_SENTENCES = 400
MAX_SENTENCE = 300
MAX_LEAVES = 2_000
_SENTENCE = re.compile(r"(?:[^.!?\n;]|[.!?](?=\S))+[.!?\n;]?")
_CLAUSE = re.compile(r",|\b(?:so|but|and|und|aber)\b|:|[ .!?\n;]*$")
_WORD = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_COPULAS = words_of("is are was were been it's has ist sind wurde wurden es está est")
_NEGATIONS = words_of(
    "no not never without none isn't aren't wasn't weren't don't doesn't hasn't can't nicht kein keine"
)
# Words of sentences that state no fact about now, and of clauses.
_CONDITIONS = words_of("if whether unless once until when before after wenn ob sobald bis previously earlier")
_HEDGES = words_of("would could should may might can will cannot like want shall must please")
# Words after "is open" that say when, where or for whom.
_LATER = words_of("from until till again by starting as at on after when where only for to ab bis wieder")
_FILLERS = words_of("currently now still already successfully on in been also the a fully")
_STATUS_NAMES = words_of("status state stage verify outcome phase result estado statut")
# Statuses that exclude one another; words of one line do not.
_GROUPS = (
    "completed complete succeeded success successful passed done finished delivered approved accepted",
    "failed failure declined rejected denied bounced refused",
    "pending processing queued waiting backorder backordered unpaid scheduled",
    "cancelled canceled voided",
    "shipped dispatched",
    "expired",
    "closed",
    "active running",
    "paused suspended inactive stopped",
)
_GROUP_OF = {word: place for place, words in enumerate(_GROUPS) for word in words.split()}
_SAME = {
    **dict.fromkeys(("needed", "necessary", "mandatory", "compulsory"), "required"),
    **dict.fromkeys(("permitted", "welcome"), "allowed"),
    **dict.fromkeys(("closed", "shut"), "open"),
    "rx": "prescription",
}
_OPPOSITES = frozenset({"closed", "shut"})
_VERBS = words_of(
    "get list find search fetch check create book cancel update read show look track refund return"
    " exchange modify change"
)
_PREFIXES = frozenset({"is", "has", "can", "are", "was"})
_Held: TypeAlias = tuple[ResultText, Leaf]
_Statuses: TypeAlias = dict[object, tuple[_Held, int]]


def denials(sources: Sources, text: str) -> Iterator[tuple[int, int, _Held]]:
    """Yield the clauses of a reply that a result's status or yes-or-no field contradicts: start, end, field."""
    flags, statuses = _flags(sources), _statuses(sources)
    for count, sentence in enumerate(_SENTENCE.finditer(text) if flags or statuses else ()):
        if count >= MAX_SENTENCES or len(sentence[0]) > MAX_SENTENCE or sentence[0].endswith("?"):
            continue
        if not _CONDITIONS.isdisjoint(_words(sentence[0])):
            continue
        start = sentence.start()
        for mark in _CLAUSE.finditer(sentence[0]):
            stop = sentence.start() + mark.start()
            if denied := _denied(_words(text[start:stop]), flags, statuses):
                yield start, stop, denied
            start = sentence.start() + mark.end()


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def _flags(sources: Sources) -> dict[frozenset[str], _Held]:
    """Return the yes-or-no fields by the words of their names, where all of a name agree."""
    found: dict[frozenset[str], list[_Held]] = {}
    for result in sources.results:
        for leaf in result.payload.leaves[: 0 if result.is_trouble else MAX_LEAVES]:
            if isinstance(leaf.value, bool):
                words = (_SAME.get(word, word) for word in name_words(field_name(leaf.path)) if word not in _PREFIXES)
                found.setdefault(frozenset(words), []).append((result, leaf))
    return {label: held[-1] for label, held in found.items() if label and len({leaf.value for _, leaf in held}) == 1}


def _statuses(sources: Sources) -> _Statuses:
    """Return the newest status of each thing, with its group; a later result about the same thing replaces one."""
    newest: _Statuses = {}
    for result in sources.results:
        for leaf in result.payload.leaves[:MAX_LEAVES]:
            if isinstance(leaf.value, str) and not _STATUS_NAMES.isdisjoint(name_words(field_name(leaf.path))):
                group = next((_GROUP_OF[word] for word in name_words(leaf.value) if word in _GROUP_OF), -1)
                newest[result.tool, leaf.path, result.payload.leaves[0].value] = (result, leaf), group
    return newest


def _denied(said: list[str], flags: Mapping[frozenset[str], _Held], statuses: _Statuses) -> _Held | None:
    """Return the field that a clause of the form "X is (not) Y" contradicts."""
    copula = next((place for place, word in enumerate(said) if word in _COPULAS), len(said))
    after = (at for at in range(copula + 1, len(said)) if said[at] not in _FILLERS and said[at] not in _NEGATIONS)
    at = next(after, None)
    if at is None or not _HEDGES.isdisjoint(said):
        return None
    plain = [_SAME.get(word, word) for word in said[: at + 1]]
    negations = sum(word in _NEGATIONS for word in said)
    is_no = negations + (said[at] in _OPPOSITES)
    for label, held in flags.items() if _LATER.isdisjoint(said[at + 1 : at + 3]) else ():
        is_named = plain[at] in label and label.issubset(plain) and (len(label) > 1 or at - copula <= 3)
        if is_named and is_no < 2 and (is_no == 0) != held[1].value:
            return held
    group = _GROUP_OF.get(said[at], -1)
    if group < 0 or negations or any(other in {group, -1} for _, other in statuses.values()):
        return None
    head = next((place for place, word in enumerate(said[:copula]) if word in {"of", "for"}), copula)
    for held, _ in reversed(statuses.values()):
        if not held[0].is_trouble and (said[:copula] in (["it"], []) or _is_about(said[:head], held[0])):
            return held
    return None


def _is_about(words: list[str], result: ResultText) -> bool:
    """Return whether the words before "is" name the tool's thing, or the value that the result begins with."""
    first, said = result.payload.leaves[0].value, " ".join(words)
    if isinstance(first, str) and first.casefold() in said:
        return True
    thing = " ".join(word for word in name_words(result.tool or "") if word not in _VERBS)
    return not stems(said).isdisjoint(stems(thing))
