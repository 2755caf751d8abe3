"""Refuses what stands in arguments and results: code and commands, orders to the model, personal data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Literal

from toolevals.grading.guard.dangers import DANGERS, USUAL_FAMILIES, DangerFamily
from toolevals.grading.guard.decoding import MOST_CHARACTERS, MOST_PARTS, Text, Texts, texts_of
from toolevals.grading.guard.instructions import USUAL_INJECTIONS, InjectionFamily, instructions_in
from toolevals.grading.guard.rules.rule import Finding, Look, Options, Place, Places, Rule, Stage, Test, quoted
from toolevals.grading.reading.telemetry.scrubbing import FEWEST_DIGITS, FINDERS, BuiltIn, plain
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.matchers import compile_pattern
from toolevals.grading.values.problems import Problem

Where = Literal["arguments", "results"]
_STAGES: Mapping[Where, Stage] = {"arguments": "call", "results": "result"}
_DANGER_WORDS: Mapping[DangerFamily, str] = {
    "code": "code",
    "shell": "a shell command",
    "sql": "SQL",
    "script": "a script of a page",
    "path": "a path out of its folder",
    "secret": "a secret",
    "shell_characters": "a character that a shell acts on",
}
_INJECTION_WORDS: Mapping[str, str] = {
    "role": "marks of a chat or the heading of another role",
    "override": "an order to drop instructions",
    "manipulation": "an order to be another",
    "extraction": "a request for the instructions",
    "delimiter": "a made-up end or part of the conversation",
    "encoding": "an order to decode something and follow it",
    "agent": "an order to the model",
    "judge": "words to a judge",
}
_DATA_WORDS: Mapping[BuiltIn, str] = {
    "email": "an e-mail address",
    "phone": "a phone number",
    "card": "the number of a payment card",
    "iban": "an IBAN",
}


@dataclass(frozen=True, slots=True)
class OwnPattern(Options):
    """A pattern of the policy's own: RE2's syntax, searched anywhere in a text, in its case unless it says `(?i)`."""

    name: str = ""
    pattern: str = ""

    def problems(self) -> Iterator[Problem]:
        try:
            compile_pattern(self.pattern)
        except ValueError as error:
            yield Problem("/pattern", str(error))


@dataclass(frozen=True, slots=True)
class _ContentRule(Rule):
    """A rule that looks at texts: those `only` at some places, where it names any, without the `exempt` ones."""

    where: tuple[Where, ...] = ("arguments",)
    only: tuple[Place, ...] = field(default=(), metadata={"of": Place})
    exempt: tuple[Place, ...] = field(default=(), metadata={"of": Place})

    @property
    def stages(self) -> frozenset[Stage]:
        return frozenset(_STAGES[where] for where in self.where)

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_content_findings, self, Places(self.only), Places(self.exempt))

    def hits(self, texts: Texts, look: Look) -> Iterator[tuple[str, str]]:
        """Yield the pointer and the sentence of each text that is refused."""
        raise NotImplementedError


def _content_findings(rule: _ContentRule, only: Places, exempt: Places, look: Look) -> Iterator[Finding]:
    tool, has_result = look.request.name, look.request.has_result
    if only and not only.of(tool):
        return
    if only or exempt.of(tool):

        def keeps(pointer: str) -> bool:
            return (not only or only.hold(tool, pointer)) and not exempt.hold(tool, pointer)

        request = look.request
        texts = texts_of(*((request.result, "/result") if has_result else (request.arguments, "/arguments")), keeps)
    else:
        texts = look.result_texts if has_result else look.argument_texts
    seen = set()
    for pointer, sentence in rule.hits(texts, look):
        if (pointer, sentence) not in seen:
            seen.add((pointer, sentence))
            yield Finding(pointer, sentence)
    if texts.left_out is not None:
        words = f"It is longer than the {MOST_CHARACTERS:,} characters or {MOST_PARTS:,} parts that are read."
        yield Finding(texts.left_out, words, is_unknown=True)


@dataclass(frozen=True, slots=True)
class PatternsRule(_ContentRule):
    """No text holds what a family finds (code, commands, SQL, scripts, paths), or matches an own pattern."""

    kind = "patterns"

    families: tuple[DangerFamily, ...] = USUAL_FAMILIES
    own: tuple[OwnPattern, ...] = field(default=(), metadata={"of": OwnPattern})

    def problems(self) -> Iterator[Problem]:
        for place, own in enumerate(self.own):
            yield from (problem.below(f"/own/{place}") for problem in own.problems())

    def hits(self, texts: Texts, look: Look) -> Iterator[tuple[str, str]]:
        for family in self.families:
            look.pause()
            if _danger(family).search(texts.joined) is None:
                continue
            for pointer, text in texts.texts:
                if (match := _danger(family).search(text)) is not None:
                    shown = "" if family == "secret" else f": {quoted(match.group().strip(), 40)}"
                    yield pointer, f"It holds {_DANGER_WORDS[family]}{shown}."
        for own in self.own:
            look.pause()
            pattern = compile_pattern(own.pattern)
            for pointer, text in texts.texts:
                if pattern.search(text) is not None:
                    yield pointer, f"It matches the pattern {quoted(own.name)}."


@cache
def _danger(family: DangerFamily) -> Any:
    return compile_pattern("(?i)" + "|".join(f"(?:{pattern})" for pattern in DANGERS[family]))


@dataclass(frozen=True, slots=True)
class InjectionRule(_ContentRule):
    """No text holds an order to the model, of the families of prompt injection."""

    kind = "injection"

    families: tuple[InjectionFamily, ...] = USUAL_INJECTIONS
    where: tuple[Where, ...] = ("results",)

    def hits(self, texts: Texts, look: Look) -> Iterator[tuple[str, str]]:
        for each, family in instructions_in(texts, self.families, look.pause):
            yield each.pointer, f"It holds {_INJECTION_WORDS[family]}."


@dataclass(frozen=True, slots=True)
class PersonalDataRule(_ContentRule):
    """No text holds personal data: e-mail addresses, phone numbers, payment cards, IBANs."""

    kind = "personal_data"

    data: tuple[BuiltIn, ...] = ("email", "phone", "card", "iban")

    def hits(self, texts: Texts, look: Look) -> Iterator[tuple[str, str]]:
        for each in texts.texts:
            look.pause()
            yield from ((each.pointer, f"It holds {_DATA_WORDS[name]}.") for name in self._found(each))

    def _found(self, each: Text) -> Iterator[BuiltIn]:
        if len(each.text) < 5:
            return
        text = plain(each.text)
        digits = sum(map(text.count, "0123456789"))
        for name in self.data:
            if digits >= FEWEST_DIGITS[name] and next(iter(FINDERS[name](text)), None) is not None:
                yield name
