"""Define whether a tool only reads or may change something: as its owner says, else by the verb in its name.

Tells a tool's effect by its name: it reads, it writes, or it hands over to a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Literal

from toolevals.grading.values import ToolSpec

Effect = Literal["reads", "writes", "unknown"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


READING_WORDS = _set(
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
# Nouns as well: what a look-up of them is called after.
_NOUNS = _set(
    "book order register schedule place post charge change return exchange transfer issue grant stop move list"
)
_LOOKED_UP = _set("lookup search query status info details history check")
# Tools that answer without a word as a rule: they run whatever they are given, or take it down.
_SILENT = _set(
    "run exec execute shell bash sh cmd command terminal console python eval script mkdir rm mv cp touch kill git "
    "think thought thinking note plan reason reflect remember log record print echo notify"
)
_WAITING = _set("sleep wait delay pause")
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
    words = words_of_name(tool)
    if len(words) > 1 and words[0] in _NOUNS and words[-1] in _LOOKED_UP:
        return "reads"
    for verb in words:
        if verb in READING_WORDS:
            return "reads"
        if verb in _WRITING:
            return "writes"
    return "unknown"


def is_silent(tool: str) -> bool:
    """Tell by its name whether a tool answers without a word as a rule: `run_shell`, `think`."""
    return not _SILENT.isdisjoint(words_of_name(tool))


def waits(tool: str) -> bool:
    """Tell by its name whether a tool only waits."""
    return not _WAITING.isdisjoint(words_of_name(tool))


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


# Tells of a tool, by its name, whether it only reads.
Reads = Callable[[str], bool]


def tool_effect(tool: str, spec: ToolSpec | None) -> Effect:
    """Return the effect of a tool: by the annotation `read_only` of its spec, else by the first verb in its name."""
    if spec is not None and spec.annotations.read_only is not None:
        return "reads" if spec.annotations.read_only else "writes"
    return effect_of_name(tool)


def reads_by_name(tool: str) -> bool:
    """Return whether a tool of which only the name is known reads."""
    return effect_of_name(tool) == "reads"


def reads_of(specs: Mapping[str, ToolSpec]) -> Reads:
    """Return the function that tells it of the tools in a mapping by name, and of others by their names."""
    return lambda tool: tool_effect(tool, specs.get(tool)) == "reads"
