"""Defines what is known of a task, the calls of a run, and the score of a metric: a weighted mean over known parts.

Finds words and keywords of texts: whole, in any case, joined names split. Every function is linear in its text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from toolevals.grading.layers.recovery import arguments_key, trouble_in
from toolevals.grading.reading.parsing.steps import AgentRun, Step
from toolevals.grading.values import MalformedCall, ToolResult, canonical
from toolevals.grading.values.matchers import compile_pattern
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import Verdict
from toolevals.json_types import JsonObject

# Words that say nothing about a goal: those of the public definition.
_STOPWORDS = (
    "the a an is are was were be been being have has had do does did will would should could may might must and or but "
    "if then so that this it to of in for on with at by from as"
)
STOPWORDS = frozenset(re.findall(r"\w+", _STOPWORDS))
# Words of a request that name nothing that a run could come to.
_POLITE = (
    "i me my mine we us our ours you your yours he him his she her hers its they them their what which who whom whose "
    "where when why how please thank thanks hi hello hey can need needs want wants wanted like just also there here "
    "these those any all some no not yes ok okay about into out up down over again very too than because am"
)
_EMPTY = STOPWORDS | frozenset(_POLITE.split())
MOST_KEYWORDS = 64
# What comes after this much text is not looked at.
LONGEST_TEXT = 100_000

_WORD = re.compile(r"[^\W_]+")
# Tried where a word begins, not at each of its letters.
_JOINED = re.compile(r"(?<![^\W_])[^\W_]+(?:[-_.@][^\W_]+)+")
# In plain ASCII all else parts words: to write it as spaces, in bytes, takes less than a tenth of the pattern's time.
_AS_SPACES = bytes(code if chr(code).isalnum() else ord(" ") for code in range(128)) + bytes(128)
# The comma comes first: a pattern that begins with a condition is tried at every letter, which takes ten times as long.
_THOUSANDS = re.compile(r",(?<=[0-9],)(?=[0-9]{3}(?![0-9]))")


def words_of(text: str) -> list[str]:
    """Return the words of a text in order, in one case, with thousands separators dropped."""
    text = text[:LONGEST_TEXT]
    plain = _THOUSANDS.sub("", text) if "," in text else text
    if plain.isascii():
        return plain.lower().encode().translate(_AS_SPACES).decode().split()
    small = plain.casefold()
    return small.encode().translate(_AS_SPACES).decode().split() if small.isascii() else _WORD.findall(small)


def keywords_of(text: str) -> tuple[str, ...]:
    """Return the different words of a text that are no stopwords, in order; at most 64."""
    return tuple([word for word in dict.fromkeys(words_of(text)) if word not in STOPWORDS])[:MOST_KEYWORDS]


def goal_keywords(text: str) -> tuple[str, ...]:
    """Return what a goal speaks of, in order, in one case: content words, and identifiers as wholes; at most 64.

    An identifier is joined by `-`, `_`, `.` or `@` and holds a digit or an `@`: BOOT-SHO-CHE-42, ada@shop.example.
    """
    text = text[:LONGEST_TEXT].casefold()
    wholes = [each for each in _JOINED.findall(text) if "@" in each or any(map(str.isdigit, each))]
    found = frozenset(wholes)
    rest = _JOINED.sub(lambda each: " " if each.group() in found else each.group(), text) if wholes else text
    words = (word for word in words_of(rest) if word not in _EMPTY and (len(word) > 1 or word.isdigit()))
    return tuple(dict.fromkeys((*wholes, *words)))[:MOST_KEYWORDS]


def holds_words(text: str, wanted: str) -> bool:
    """Tell whether the words of `wanted` stand in a text, one after another; no word stands in any text."""
    needle = " ".join(words_of(wanted))
    return not needle or f" {needle} " in f" {' '.join(words_of(text))} "


def share_found(keywords: tuple[str, ...], *texts: str) -> float:
    """Return the share of keywords that stand in any of the texts as whole words; 1 without keywords."""
    if not keywords:
        return 1.0
    return len(found_in(frozenset(keywords), *texts)) / len(keywords)


def found_in(keywords: frozenset[str], *texts: str) -> frozenset[str]:
    """Return the keywords that stand in any of the texts as whole words."""
    left = set(keywords)
    for text in texts:
        if not text or not left:
            continue
        small = text[:LONGEST_TEXT].casefold()
        # A number may be written with separators; every other word has to be there as it is.
        with_separators = "," in small
        left -= {
            word for word in left if (word in small or (with_separators and word.isdigit())) and _stands_in(word, small)
        }
    return keywords - left


def _stands_in(word: str, text: str) -> bool:
    """Tell whether a word stands in a text, both in one case, with no letter or digit next to it."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if not (text[place - 1 : place].isalnum() or text[end : end + 1].isalnum()):
            return True
        place = text.find(word, end)
    return bool(word.isdigit() and "," in text and word in _WORD.findall(_THOUSANDS.sub("", text)))


def text_of(value: object) -> str:
    """Return a JSON value as text to look for words in."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    try:
        return canonical.exact(value)
    except (ValueError, RecursionError):
        return ""


@value_class
class Task:
    """A task; None and empty say that no one knows, which leaves out of a metric what depends on it.

    `expected_result` is any JSON value, `expected_outcome` a description. `result_met` is how far the expected result
    was reached, 0..1, where someone else has found it out: it then stands for the comparison with `expected_result`.
    `required_tools` are names; the empty tuple says that none is needed. `expected_steps` is the length of the best
    known trajectory, `max_steps` a limit. `forbidden_patterns` must not match a call, `sensitive_patterns` nothing that
    was passed on or read. Patterns are RE2; the constructor raises ValueError where RE2 refuses one.
    """

    expected_result: Any = None
    expected_outcome: str = ""
    success_criteria: tuple[str, ...] = ()
    required_tools: tuple[str, ...] | None = None
    expected_steps: int | None = None
    max_steps: int | None = None
    forbidden_patterns: tuple[str, ...] = ()
    sensitive_patterns: tuple[str, ...] = ()
    result_met: float | None = None

    def __post_init__(self) -> None:
        for pattern in (*self.forbidden_patterns, *self.sensitive_patterns):
            compile_pattern(in_any_case(pattern))


def in_any_case(pattern: str) -> str:
    """Return the pattern without regard to case."""
    return f"(?i){pattern}"


@value_class
class MadeCall:
    """One call of a run. `key` is its arguments in one form: equal arguments have equal keys. An only call has none."""

    name: str
    key: str
    failed: bool


def calls_of(run: AgentRun) -> tuple[MadeCall, ...]:
    """Return every call of a run in order.

    A call failed where it cannot be read, where its result is flagged or is an error by its own words, or where its
    step failed and made no other call.
    """
    has_others = sum([len(step.calls) for step in run.steps]) > 1
    return tuple([call for step in run.steps for call in _of_step(step, has_others=has_others)])


def _of_step(step: Step, *, has_others: bool) -> list[MadeCall]:
    results = {result.call.id: result for result in step.results if result.call is not None and result.call.id}
    in_order = list(step.results)
    alone = len(step.calls) == 1
    made: list[MadeCall] = []
    for place, call in enumerate(step.calls):
        own = in_order[place] if place < len(in_order) else None
        if not isinstance(call, MalformedCall) and call.id in results:
            own = results[call.id]
        failed = isinstance(call, MalformedCall) or _is_error(own) or (alone and step.error is not None)
        made.append(MadeCall(call.name or "", arguments_key(call) if has_others else "", failed))
    return made


def _is_error(result: ToolResult | None) -> bool:
    if result is None:
        return False
    trouble = trouble_in(result.content, is_error=result.is_error)
    return trouble is not None and trouble.is_error


# The value at which a metric passes where no one said another.
PASSES_AT = 0.7


@value_class
class MetricScore:
    """The value of a metric for a run in 0..1, None where it cannot be known.

    `reason` is one sentence. `parts` are the values behind it, by name, each in 0..1.
    """

    value: float | None
    reason: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {"value": self.value, "reason": self.reason, "parts": dict(self.parts)}

    def verdict(self, passes_at: float = PASSES_AT) -> Verdict:
        """Return the score as a verdict: passed from `passes_at` on, unscored where there is no value."""
        if self.value is None:
            return Verdict("unscored", None, self.reason)
        passed = self.value >= passes_at
        return Verdict("passed" if passed else "failed", self.value, self.reason)


class Part(NamedTuple):
    """One part of a metric. `value` is None where it cannot be known; `fault` says what to mend, empty if nothing."""

    name: str
    weight: float
    value: float | None
    fault: str = ""


def weighted(parts: tuple[Part, ...], unknown: str) -> MetricScore:
    """Return the weighted mean of the known parts: their weights are divided by their sum.

    The reason names the faults, the part that costs most first. Without a known part there is no value, and `unknown`
    is the reason.
    """
    known = [(part, part.value) for part in parts if part.value is not None]
    total = sum(part.weight for part, _ in known)
    if not known or total <= 0:
        return MetricScore(None, unknown)
    value = sum(part.weight * each for part, each in known) / total
    costly = sorted(known, key=lambda item: -item[0].weight * (1 - item[1]))
    faults = [part.fault for part, each in costly if part.fault and each < 1]
    reason = "; ".join(faults)
    return MetricScore(
        min(1.0, max(0.0, value)),
        f"{reason[:1].upper()}{reason[1:]}." if reason else "",
        {part.name: each for part, each in known},
    )
