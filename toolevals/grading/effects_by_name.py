"""A tool's effect, as its name tells it: it reads, it writes, or it hands over to a person."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Effect = Literal["reads", "writes", "unknown"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READING = _set(
    "get search find list lookup look fetch read query check calculate compute think view show retrieve describe "
    "count validate verify compare estimate browse preview inspect status locate detect convert translate "
    "summarize"
)
_WRITING = _set(
    "book create update modify cancel delete remove add send set transfer exchange return pay refund charge "
    "submit post put patch write insert upload schedule reschedule place assign close approve reject reserve "
    "register enable disable start stop move rename apply edit change issue make grant revoke toggle order "
    "purchase buy publish"
)
_HANDING_OVER = frozenset({"transfer", "handoff", "handover", "contact", "ask", "request", "call", "notify", "page"})
_PEOPLE = frozenset(
    {"human", "humans", "support", "operator", "supervisor", "specialist", "representative", "oncall", "helpdesk"}
)


@lru_cache(maxsize=4096)
def words_of_name(tool: str) -> tuple[str, ...]:
    """Return the words of a tool's name in lower case: `getOrder_v2` is get, order, v, 2."""
    return tuple(word.lower() for word in _WORD.findall(tool[:200]))


@lru_cache(maxsize=4096)
def effect_of_name(tool: str) -> Effect:
    """Tell by its name whether a tool only reads: by the first word that is a known verb (`get_`, `update_`)."""
    for verb in words_of_name(tool):
        if verb in _READING:
            return "reads"
        if verb in _WRITING:
            return "writes"
    return "unknown"


@lru_cache(maxsize=4096)
def hands_over(tool: str) -> bool:
    """Tell by its name whether a tool hands over to people: `transfer_to_human_agents`, `escalate_ticket`."""
    words = frozenset(words_of_name(tool))
    return (
        any(word.startswith("escalat") for word in words)
        or not words.isdisjoint({"handoff", "handover"})
        or (not words.isdisjoint(_HANDING_OVER) and not words.isdisjoint(_PEOPLE))
        or (("hand" in words or "transfer" in words) and ("agent" in words or "agents" in words))
    )
