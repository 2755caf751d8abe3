"""Grades the answer: the expected facts are in what the agent said to the user.

Finds refusals: an agent declines in words to do what it was asked, and calls nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

from toolevals.grading.layers.recovery.words import read_text
from toolevals.grading.matching.equality import composed
from toolevals.grading.values import Transcript
from toolevals.grading.values.matchers import compile_pattern
from toolevals.grading.values.verdicts import Verdict
from toolevals.json_types import JsonMapping

_SHOWN = 5
_SHOWN_LENGTH = 80


def grade_answer(expectation_answer: JsonMapping | None, transcript: Transcript) -> Verdict:
    """Return whether the answer holds what is expected (`answer` of `schemas/expectation.v1.json`).

    `contains`: every text is found in some reply, whichever: in lower case, composed (NFKC), with every space alike,
    and without commas, so that "1,200" is "1200".
    `exact`: the final answer is this text, white space at its ends apart. `pattern`: the expression
    (RE2) is found in the final answer. Replies are the assistant's messages with text; the final answer is the
    transcript's `answer`, or the last reply where there is none. The value is met of all expected facts. Unscored where
    none is expected.
    """
    contains = _texts((expectation_answer or {}).get("contains"))
    wanted = {key: text for key in ("exact", "pattern") if isinstance(text := (expectation_answer or {}).get(key), str)}
    total = len(contains) + len(wanted)
    if not total:
        return Verdict("unscored", None, "No fact is expected in the answer.")
    replies = list(_replies(transcript))
    final = transcript.answer if transcript.answer is not None else replies[-1] if replies else ""
    missing = _missing(contains, replies)
    problems = [f"No reply contains {_listed(missing)}."] if missing else []
    if "exact" in wanted and composed(final.strip()) != composed(wanted["exact"].strip()):
        problems.append(f"The final answer is not exactly {_quoted(wanted['exact'])}.")
    if "pattern" in wanted and (problem := _pattern_problem(wanted["pattern"], final)):
        problems.append(problem)
    met = total - len(missing) - (len(problems) - bool(missing))
    if problems:
        return Verdict("failed", met / total, " ".join(problems))
    return Verdict(
        "passed", 1.0, f"All {total} expected facts are in the answer." if total > 1 else "The fact is there."
    )


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list | tuple) else []


def _replies(transcript: Transcript) -> Iterator[str]:
    for message in transcript.messages:
        if message.role == "assistant" and message.content:
            yield message.content
    if transcript.answer is not None:
        yield transcript.answer


def _missing(contains: Sequence[str], replies: Sequence[str]) -> list[str]:
    plain = [_plain(reply) for reply in replies]
    return [text for text in contains if not any(_plain(text) in reply for reply in plain)]


def _plain(text: str) -> str:
    return " ".join(normalize("NFKC", text).lower().replace(",", "").split())


def _pattern_problem(pattern: str, final: str) -> str:
    try:
        found = compile_pattern(pattern).search(final)
    except ValueError as error:
        return f"The expected pattern cannot be used: {error}."
    return "" if found else f"The final answer does not match {_quoted(pattern)}."


def _listed(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(_quoted(text) for text in texts[:_SHOWN]) + more


def _quoted(text: str) -> str:
    return f"“{text if len(text) <= _SHOWN_LENGTH else text[:_SHOWN_LENGTH] + '…'}”"


# A refusal is said at once.
_LONGEST_OPENING = 400
_DECLINES = re.compile(
    r"\b(?:i|we)(?:'m| am|'re| are)? (?:can't|cannot|can not|won't|will not|unable to|not able to|not allowed to|"
    r"not permitted to|(?:have|must) to decline|must decline|decline to|refuse to)\b(?: \w+){0,2}?"
    r" ?(?:help|assist|do (?:that|this|it)|comply|fulfil\w*|provide|discuss|support|perform|process|handle|"
    r"carry out|engage|"
    r"answer|share|that|this|your request|$|[.,;])|"
    r"\b(?:i|we) (?:have to|must) decline\b|\bthat's (?:not )?something i (?:can't|cannot|can)\b|"
    r"\b(?:dabei|damit|hierbei) kann ich (?:\w+ ){0,3}nicht (?:helfen|dienen)|\bich (?:kann|"
    r"darf) (?:\w+ ){0,4}nicht helfen|"
    r"\bje ne (?:peux|suis) pas (?:\w+ ){0,4}(?:aider|faire|répondre|mesure)|\bno puedo (?:\w+ ){0,2}(?:ayudar\w*|"
    r"hacer|responder)|"
    r"\bnão posso (?:\w+ ){0,2}(?:ajudar|fazer)|\bnon posso (?:\w+ ){0,2}(?:aiutar\w*|fare)|"
    r"\bik kan (?:\w+ ){0,4}niet helpen|"
    r"お手伝いできません|無法(?:協助|幫助)|无法(?:协助|帮助)",
    re.IGNORECASE,
)


def refuses(transcript: Transcript) -> bool:
    """Tell whether the agent's last words decline what was asked, without a question about it."""
    said = transcript.answer or next(
        (each.content for each in reversed(transcript.messages) if each.role == "assistant" and each.content), None
    )
    if not said:
        return False
    opening = said.strip()[:_LONGEST_OPENING].replace("\u2019", "'")
    return _DECLINES.search(opening) is not None and not read_text(opening).questions
