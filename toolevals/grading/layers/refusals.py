"""Finds refusals: an agent declines in words to do what it was asked, and calls nothing."""

from __future__ import annotations

import re

from toolevals.grading.layers.recovery.words import read_text
from toolevals.grading.values import Transcript

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
