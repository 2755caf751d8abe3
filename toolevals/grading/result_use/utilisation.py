"""Which fields of each result the replies used, and which results nothing used at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from toolevals.grading.result_use.fields import label_words, stems_of
from toolevals.grading.result_use.payloads import Leaf, said_form
from toolevals.grading.result_use.scanner import identifier_key
from toolevals.grading.result_use.sources import ResultText, Sources
from toolevals.grading.result_use.values import Finding, Key, ResultFields

_HANDOVER = re.compile(r"\btransferr(?:ed|ing)\b|\btransfer you\b")
_YES_NO = frozenset({"yes", "no", "none", "true", "false"})
# Replies' words among which fields' texts are looked for, in characters.
MAX_WORDS = 200_000
# So many fields in a reply tell of a result, even if the call said them too.
MANY_FIELDS = 3
# A single word is a receipt or a state.
MIN_TEXT = 12
_ERROR = re.compile(r"(?i)\berror\b|\bnot found\b|\bfail")
_WORD = re.compile(r"\w+")
_ACKNOWLEDGEMENT = re.compile(
    r"(?i)\s*\W?(ok|done|success(ful(ly)?)?|true|null|none|accepted|sent|transfer successful)\W*\s*$"
)


class Usage:
    """The words of replies and what their claims stand on.

    `used` are fields, by their result's place and pointer. `passed_on` are places of results that later calls took
    values of; `drawn_on` messages of results that claims follow from, or contradict.
    """

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.text = ""
        self.is_handover = False
        self.stems: frozenset[str] = frozenset()
        self.used: set[tuple[int, str]] = set()
        self.passed_on: set[int] = set()
        self.drawn_on: set[int] = set()
        self._texts: list[str] = []

    def read(self, text: str) -> None:
        """Take a reply's words."""
        self._texts.append(text)

    def close(self) -> None:
        """Join what was read."""
        texts = [said_form(text) for text in self._texts]
        self.words.update(_WORD.findall("\n".join(texts)))
        self.is_handover = _HANDOVER.search(texts[-1]) is not None
        self.stems = stems_of(list(self.words))
        self.text = "\n".join(texts)[:MAX_WORDS]

    def speaks_of(self, pointer: str, plain: str) -> bool:
        """Whether the replies name a field that only says yes or no."""
        return plain in _YES_NO and bool(names := label_words(pointer)) and names <= self.stems

    def says(self, plain: str, first_word: str) -> bool:
        """Whether the replies hold a field's text."""
        return first_word in self.words and plain in self.text


def utilisation(sources: Sources, usage: Usage) -> list[ResultFields]:
    """Return each result's used and unused fields."""
    usage.close()
    return [_fields(place, result, sources, usage) for place, result in enumerate(sources.results)]


def unused_results(
    sources: Sources, fields: Sequence[ResultFields], usage: Usage, last_call: int, last_reply: int
) -> Iterator[Finding]:
    """Yield a finding for each result that nothing used, where there was something to use and no person took over.

    A result before a later call may have led to that call. A search by several calls of one tool is used as soon as one
    of its results is. `last_call` and `last_reply` are messages' places.
    """
    if usage.is_handover:
        return
    idle, served = [], set()
    for result, entry in zip(sources.results, fields, strict=True):
        if entry.passed_on or entry.message in usage.drawn_on or _is_told(result, entry):
            served.add(entry.tool)
        else:
            idle.append((result, entry))
    served.discard(None)
    for result, entry in idle:
        if (
            result.is_error
            or not last_call < entry.message < last_reply
            or entry.tool in served
            or not _is_informative(result)
        ):
            continue
        tool = entry.tool or "the tool"
        reason = f"Nothing of the result of {tool} is used: no reply and no later call takes a value of it."
        yield Finding("unused_result", reason, (), result.message)


def _fields(place: int, result: ResultText, sources: Sources, usage: Usage) -> ResultFields:
    used: list[str] = []
    unused: list[str] = []
    for leaf, text in zip(result.payload.leaves, result.payload.texts, strict=True):
        is_used = (place, leaf.pointer) in usage.used or (
            text is not None and (usage.says(*text) or usage.speaks_of(leaf.pointer, text[0]))
        )
        (used if is_used else unused).append(leaf.pointer)
    return ResultFields(
        result.message, result.call_id, result.tool, tuple(used), tuple(unused), place in usage.passed_on
    )


def _is_told(result: ResultText, entry: ResultFields) -> bool:
    """Whether the replies use a field that is more than what the call itself said, or several that it did say."""
    used = frozenset(entry.used)
    return len(used) >= MANY_FIELDS or any(
        leaf.pointer in used and _key(leaf) not in result.asked for leaf in result.payload.leaves
    )


def _key(leaf: Leaf) -> Key:
    return identifier_key(leaf.value) if isinstance(leaf.value, str) else leaf.value


def _is_informative(result: ResultText) -> bool:
    """Whether a result holds more than a receipt: not what the call itself said, not `ok`, not a count of nothing."""
    if 0 in result.payload.lists.values() or result.fresh * 4 < len(result.payload.leaves):
        return False
    if len(result.payload.leaves) == 1 and isinstance(text := result.payload.leaves[0].value, str):
        return (
            " " in text.strip()
            and len(text) > MIN_TEXT
            and not _ACKNOWLEDGEMENT.match(text)
            and not _ERROR.search(text)
        )
    return any(
        leaf.value != 0 if not isinstance(leaf.value, str) else not _ACKNOWLEDGEMENT.match(leaf.value)
        for leaf in result.payload.leaves
        if _key(leaf) not in result.asked
    )
