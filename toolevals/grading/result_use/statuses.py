"""Statuses and yes-or-no fields that a reply says otherwise, as "It was completed." of what failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from toolevals.grading.result_use.lexicon import words_of
from toolevals.grading.result_use.payloads import Leaf, field_name, stems
from toolevals.grading.result_use.sources import ResultText, Sources
from toolevals.grading.result_use.units import name_words

# Sentences of a reply that are compared, and their longest.
MAX_SENTENCES = 400
MAX_SENTENCE = 300
MAX_LEAVES = 2_000
_SENTENCE = re.compile(r"(?:[^.!?\n;]|[.!?](?=\S))+[.!?\n;]?")
_CLAUSE = re.compile(r",|\bso\b|\bbut\b|\band\b|\bund\b|\baber\b|:")
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
_FILLERS = frozenset(
    {"currently", "now", "still", "already", "successfully", "on", "in", "been", "also", "the", "a", "fully"}
)
_STATUS_NAMES = frozenset({"status", "state", "stage", "verify", "outcome", "phase", "result", "estado", "statut"})
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
_REQUIRED = ("required", "needed", "necessary", "mandatory", "compulsory")
_ALLOWED = ("allowed", "permitted", "welcome")
_SAME = {
    **dict.fromkeys(_REQUIRED, "required"),
    **dict.fromkeys(_ALLOWED, "allowed"),
    "rx": "prescription",
    "closed": "open",
    "shut": "open",
}
_OPPOSITES = frozenset({"closed", "shut"})
_VERBS = words_of(
    "get list find search fetch check create book cancel update read show look track refund return"
    " exchange modify change"
)
_PREFIXES = frozenset({"is", "has", "can", "are", "was"})


class Denial(NamedTuple):
    """A clause, by its place in the reply, and the leaf of a result that says otherwise."""

    start: int
    end: int
    result: ResultText
    leaf: Leaf


@dataclass(slots=True)
class Statuses:
    """The newest statuses and yes-or-no fields of the results."""

    sources: Sources

    def denials(self, text: str) -> Iterator[Denial]:
        """Yield the clauses of a reply that a result's status or yes-or-no field contradicts."""
        flags = self._flags()
        statuses = self._statuses()
        if not flags and not statuses:
            return
        for count, sentence in enumerate(_SENTENCE.finditer(text)):
            if count >= MAX_SENTENCES or len(sentence[0]) > MAX_SENTENCE:
                continue
            words = [word.lower().replace("’", "'") for word in _WORD.findall(sentence[0])]
            if sentence[0].endswith("?") or not _CONDITIONS.isdisjoint(words):
                continue
            start = sentence.start()
            for clause in _clauses(sentence[0]):
                begin, end = start + clause[0], start + clause[1]
                said = [word.lower().replace("’", "'") for word in _WORD.findall(text[begin:end])]
                if not _HEDGES.isdisjoint(said):
                    continue
                denied = _denied_flag(said, flags) or _denied_status(said, statuses)
                if denied:
                    yield Denial(begin, end, *denied)

    def _flags(self) -> dict[frozenset[str], tuple[ResultText, Leaf]]:
        """Return the yes-or-no fields by the words of their names, where all of a name agree."""
        found: dict[frozenset[str], tuple[ResultText, Leaf]] = {}
        mixed: set[frozenset[str]] = set()
        for result, leaf in self._leaves():
            if not isinstance(leaf.value, bool):
                continue
            words = [word for word in name_words(field_name(leaf.path)) if word not in _PREFIXES]
            label = frozenset(_SAME.get(word, word) for word in words)
            if label in found and found[label][1].value != leaf.value:
                mixed.add(label)
            found[label] = result, leaf
        return {label: held for label, held in found.items() if label and label not in mixed}

    def _statuses(self) -> list[tuple[ResultText, Leaf, int]]:
        """Return the newest status of each thing, with its group; a later result about the same thing replaces one."""
        newest: dict[tuple[str | None, str, object], tuple[ResultText, Leaf, int]] = {}
        for result in self.sources.results:
            first = result.payload.leaves[0].value if result.payload.leaves else None
            for leaf in result.payload.leaves[:MAX_LEAVES]:
                if isinstance(leaf.value, str) and not _STATUS_NAMES.isdisjoint(name_words(field_name(leaf.path))):
                    words = name_words(leaf.value)
                    group = next((_GROUP_OF[word] for word in words if word in _GROUP_OF), None)
                    newest[result.tool, leaf.path, first] = (result, leaf, -1 if group is None else group)
        return list(newest.values())

    def _leaves(self) -> Iterator[tuple[ResultText, Leaf]]:
        for result in self.sources.results:
            if not result.is_trouble:
                for leaf in result.payload.leaves[:MAX_LEAVES]:
                    yield result, leaf


def _clauses(sentence: str) -> Iterator[tuple[int, int]]:
    start = 0
    for mark in _CLAUSE.finditer(sentence):
        yield start, mark.start()
        start = mark.end()
    yield start, len(sentence.rstrip(" .!?\n;"))


def _denied_flag(
    said: list[str], flags: dict[frozenset[str], tuple[ResultText, Leaf]]
) -> tuple[ResultText, Leaf] | None:
    plain = [_SAME.get(word, word) for word in said]
    copula = next((place for place, word in enumerate(said) if word in _COPULAS), None)
    if copula is None:
        return None
    for label, held in flags.items():
        if not label <= set(plain):
            continue
        last = max(plain.index(word) for word in label)
        between = [word for word in said[copula + 1 : last] if word not in _FILLERS and word not in _NEGATIONS]
        if last <= copula or between or (len(label) == 1 and last - copula > 3):
            continue
        if not _LATER.isdisjoint(said[last + 1 : last + 3]):
            continue
        is_no = sum(word in _NEGATIONS for word in said) + (said[last] in _OPPOSITES)
        if is_no < 2 and (is_no == 0) != held[1].value:
            return held
    return None


def _denied_status(said: list[str], statuses: list[tuple[ResultText, Leaf, int]]) -> tuple[ResultText, Leaf] | None:
    if not _NEGATIONS.isdisjoint(said):
        return None
    for place, word in enumerate(said):
        if word not in _COPULAS:
            continue
        rest = [other for other in said[place + 1 : place + 4] if other not in _FILLERS]
        group = _GROUP_OF.get(rest[0]) if rest else None
        if group is None or any(other in {group, -1} for _, _, other in statuses):
            continue
        head = next((at for at, other in enumerate(said[:place]) if other in {"of", "for"}), place)
        subject = stems(" ".join(said[:head]))
        for result, leaf, _ in reversed(statuses):
            if not result.is_trouble and (said[:place] in (["it"], []) or _is_about(subject, said[:head], result)):
                return result, leaf
    return None


def _is_about(subject: frozenset[str], words: list[str], result: ResultText) -> bool:
    """Whether the words before "is" name the tool's thing, or the value that the result begins with."""
    first = result.payload.leaves[0].value if result.payload.leaves else None
    if isinstance(first, str) and first and first.casefold() in " ".join(words):
        return True
    return not subject.isdisjoint(stems(" ".join(word for word in name_words(result.tool or "") if word not in _VERBS)))
