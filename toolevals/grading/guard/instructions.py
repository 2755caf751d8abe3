"""Finds families of prompt injection in texts that an agent reads: orders to the model where only data belongs.

Rules, not a model: who words an order as plain data is not found. Orders to drop instructions are known in thirty
languages, the other families in English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal, get_args

import re2

from toolevals.grading.guard.decoding import Text, Texts
from toolevals.grading.guard.injection_words import OVERRIDES
from toolevals.grading.guard.injections import encoded, kind_of, plain
from toolevals.grading.guard.misspelled import corrected

InjectionFamily = Literal["role", "override", "manipulation", "extraction", "delimiter", "encoding", "agent", "judge"]
INJECTION_FAMILIES: tuple[InjectionFamily, ...] = get_args(InjectionFamily)
USUAL_INJECTIONS: tuple[InjectionFamily, ...] = tuple(each for each in INJECTION_FAMILIES if each != "judge")

_MODEL = r"(?:ai|a\.i\.|llm|language model|assistant|agent|chat ?bot|claude|chatgpt|gpt(?:-?[0-9.]+\w?)?|gemini|copilot|llama|model)"
_ORDERS = (
    r"(?:must|should|need to|have to|shall|please|first|instead|immediately|now|send|transfer|forward|e-?mail|delete|"
    r"click|visit|invite|share|upload|post|make|do|execute|run|call|use|book|reserve|create|update|change|add|pay)"
)
_READER = rf"(?:all |any |the |every )?(?:ai |helpful )?{_MODEL}s?\b"
_PROMPT = r"(?:system|initial|original|hidden|developer|your|above|previous)(?: \S+){0,2} (?:prompt|instructions?|message|rules)"
_ROLE = r"(?:system|developer|assistant|user|human|admin(?:istrator)?)"
_PART = r"(?:message|msg|prompt|instructions?|note|notice|override|update|alert|command|directive)s?"
# What a part of a conversation that someone makes up is set off by.
_MARKS = r"(?:[#=~+]{2,}|[*_-]{3,})[^\w\n]*"
_HEADED = r"(?:system|instructions?)(?: (?:message|prompt|instructions?|note|override|update))?"
# The families that are also looked for in a text whose misspelled words are set right.
_SPELLED: Final = ("override", "manipulation", "extraction", "agent")
# On case-folded text without what hides words, a line of it joined by single spaces.
_PATTERNS: Final[Mapping[str, tuple[str, ...]]] = {
    "role": (
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)[^|>]{0,40}\|?>",
        r"\[/?inst\]|<</?sys>>|<start_of_turn>|<end_of_turn>",
        r"(?m:^\W{0,6}(?:system|developer|assistant)(?: (?:prompt|note|override|message|instructions?|update|alert))?\W{0,3}[:：])",
        r"\"role\"\s*:\s*\"(?:system|developer)\"",
        r"(?m:^\W{0,6}(?:human|user)\s*:\s*\S.{0,400}\n+\W{0,6}(?:assistant|ai)\s*:)",
    ),
    "override": (OVERRIDES,),
    "manipulation": (
        rf"\byou are (?:now|no longer|from now on)\b[^.\n]{{0,60}}\b(?:{_MODEL}|mode|dan|unrestricted|jailbroken|unfiltered|free)\b",
        r"\bfrom now on,? (?:you|your|act|respond|answer|behave)\b",
        rf"\b(?:act|behave|respond|answer) as (?:if you (?:are|were)|an? (?:\S+ ){{0,2}}{_MODEL}|dan\b|root\b|an? administrator)",
        r"\bpretend (?:to be|that you|you(?:'re| are))\b",
        r"\b(?:enter|enable|activate|switch to) (?:dan|god|unrestricted|jailbreak) mode\b",
        # Manuals of software enable these modes.
        r"\b(?:you(?: must| should| will| shall| can)?|now|please) (?:enter|enable|activate|switch to) (?:developer|debug|admin|maintenance) mode\b",
        r"\byour (?:new|real|true|only|actual) (?:task|goal|role|instructions?|purpose|objective|job|mission) (?:is|are)\b",
    ),
    "extraction": (
        rf"\b(?:reveal|show|print|repeat|output|display|disclose|leak|tell me|give me|write out|dump|recite)\b[^.\n]{{0,40}}\b{_PROMPT}",
        r"\bwhat (?:is|are|were) your (?:system|initial|original|hidden|exact) (?:prompt|instructions?)\b",
        r"\brepeat (?:everything|all|the (?:words|text)) (?:above|before)\b",
    ),
    "delimiter": (
        r"</?(?:information|important|instructions?|system|admin|developer|prompt|untrusted[a-z_]*|user_query|task|context|data|tool_result)>",
        r"\b(?:end|beginning|begin|start) of (?:the )?(?:system|user|prompt|context|document|instructions?|untrusted|tool|data|input|search results?|e-?mail|message|task)\b",
        r"(?m:^[\W_]{3,}\s*(?:new (?:task|instructions?|prompt)|important message|important instructions?)\b)",
        # "=== END ===", "--- BEGIN MAIL ---"; a heading in Markdown and a comment in HTML are none.
        rf"(?m:^{_MARKS}(?:end|begin)\b[^\n]{{0,60}}[-=#*~_+]{{2,}}\W*$|^[=~+*_-]{{3,}}[^\w\n]*(?:end|begin)\b[\W_]*$)",
        # "*** SYSTEM", "### System:", "###system"; "## Instructions" is a heading of many a manual.
        rf"(?m:^{_MARKS}{_HEADED}[\W_]*[-=#*~_+:]\W*$|^[=*~_+-]{{3,}}[^\w\n]*{_HEADED}[\W_]*$|^#{{2,}}{_HEADED}\b)",
        r"```\s*(?:system|instructions?|prompt)\b",
        # "###(system_message)", "=== [assistant] ===", "###system_prompt", "<system_prompt>", "{{system message}}".
        rf"(?m:^(?:[#=*~]{{2,}}|[_-]{{3,}}) ?[\[({{<]{{1,3}} ?/?{_ROLE}[ _-]?{_PART} ?[\])}}>]{{1,3}})",
        r"(?m:^[#=]{2,} ?[\[({<]{1,3} ?/?(?:system|developer|assistant) ?[\])}>]{1,3})",
        rf"(?m:^(?:[#=*~]{{2,}}|[_-]{{3,}}) ?(?:system|developer|assistant)_{_PART}\b)",
        rf"</?{_ROLE}[ _-]{_PART}>|\{{\{{ ?{_ROLE}[ _-]{_PART} ?\}}\}}|\[\[ ?{_ROLE}[ _-]{_PART} ?\]\]",
    ),
    "encoding": (
        r"\b(?:decode|decrypt|un-?base64|de-?obfuscate|reverse)\b[^.\n]{0,60}\b(?:base ?64|rot ?-?13|hex(?:adecimal)?|morse|caesar|cipher|unicode|backwards)\b",
        r"\b(?:base ?64|rot ?-?13|hex(?:adecimal)?|morse)\b[^.\n]{0,40}\b(?:decode|follow|execute|obey)\b",
    ),
    "agent": (
        rf"\b(?:dear|hey|hi|hello|attention|note to|message (?:to|for)|instructions? (?:to|for)) {_READER}[^.\n]{{0,60}}\b{_ORDERS}\b",
        rf"(?m:(?:^|[^\w\s,)'\"`]) ?)to {_READER}[^.\n]{{0,60}}\b{_ORDERS}\b",
        rf"\bif you(?:'re| are) an? (?:\S+ ){{0,2}}{_MODEL}\b",
        rf"\b(?:this is an?|an?) (?:very )?(?:important|urgent) (?:message|note|instruction|notice|task)s?\b[^\n]{{0,80}}\b(?:to|for) (?:you|{_MODEL})\b",
        r"\bbefore you (?:can |may |could |continue|proceed|answer|solve|complete|finish|do anything)[^\n]{0,120}\b(?:first|must|need|have to|please)\b",
        r"\b(?:please )?do the following (?:first|instead|before|tasks?|immediately)\b",
        r"\b(?:complete|perform|execute|carry out|follow) (?:the following|these|this) (?:additional |new |hidden |extra )?(?:tasks?|instructions?|steps?|actions?)\b[^\n]{0,60}\b(?:first|before|instead|immediately|without)\b",
        r"\b(?:do not|don't|never) (?:tell|inform|mention (?:this|it|any of)|notify|alert|show)[^.\n]{0,40}\b(?:the )?user\b",
        r"\bwithout (?:telling|informing|asking|notifying|alerting) (?:the )?user\b",
        r"\b(?:todo|to-do|task|your task|new task|next task) ?[:：] ?(?:please )?(?:send|transfer|forward|e-?mail|delete|invite|share|upload|visit|book|reserve|pay|create|post|make|add|click)\b",
    ),
}  # fmt: skip


def instructions_in(texts: Texts, families: Iterable[str], pause: Callable[[], None]) -> Iterator[tuple[Text, str]]:
    """Yield each text that holds an instruction with the first family that finds it.

    `pause` is called between texts, and may raise to end the search.
    """
    wanted = [family for family in INJECTION_FAMILIES if family in set(families)]
    read = [each for each in texts.texts if len(each.text) >= _SHORTEST]
    asked = [family for family in wanted if family in _PATTERNS]
    pause()
    hidden = {each: tuple(encoded(each.text)) for each in read}
    together = plain("\n".join([each.text for each in read] + [text for inside in hidden.values() for text in inside]))
    # What is found in a text is found in all of them together, which takes a search of each family, not of each text.
    families_there = [family for family in asked if _is_in(family, together, corrected(together))]
    for each in read if families_there or "judge" in wanted else ():
        pause()
        if (family := _family_of(each.text, hidden[each], families_there)) is not None:
            yield each, family
        elif "judge" in wanted and kind_of(each.text) is not None:
            yield each, "judge"


# No order is shorter.
_SHORTEST = 8


def _family_of(text: str, hidden: tuple[str, ...], families: list[InjectionFamily]) -> InjectionFamily | None:
    for each in dict.fromkeys((text, *hidden)):
        written = plain(each)
        spelled = corrected(written)
        for family in families:
            if _is_in(family, written, spelled):
                return family
    return None


def _is_in(family: InjectionFamily, written: str, spelled: str) -> bool:
    """Tell whether a family is found in a text as it is written or, where that counts, as it should be spelled."""
    searched = _searched(family)
    return bool(searched.search(written) or (family in _SPELLED and spelled != written and searched.search(spelled)))


@cache
def _searched(family: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 256 << 20
    return re2.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS[family]), options)
