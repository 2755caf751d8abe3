"""Read a confusion by the two tools' own words and the cases: its kind, the evidence, what to try.

Every sentence quotes the texts or names the cases that it comes from; where they show nothing, nothing is said. The
rules are few and plain, and are written down in docs/reports.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from labeling.lint.texts import LEAD
from reports.analyses.confusion import MOST_WORDS, ConfusedCase, Confusion, spec_words
from reports.analyses.words import listed, opening, shortened, words_of
from toolevals.grading.engine.case_findings import Kind, pair_kind, properties_of
from toolevals.grading.metrics.confusion import NO_MAJORITY
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

MOST_NAMED = 3
# Two tools take like arguments where so much of all their names is shared.
LIKE = 0.5
# How descriptions speak to a model: left out where their words become part of another sentence.
_ADDRESS: Final = re.compile(r"^(use|call) this (tool|function)( to| when| if| for)? ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """Something read from a cell, and the cases that show it. `act` is what is tried, "" where it only says."""

    text: str
    cases: tuple[ConfusedCase, ...] = ()
    act: str = ""

    @property
    def named(self) -> tuple[ConfusedCase, ...]:
        """The cases that are named: one an example."""
        return tuple({case.name: case for case in reversed(self.cases)}.values())[::-1]


@dataclass(frozen=True, slots=True)
class Advice:
    """The advice on a cell: its kind, its evidence, and what to try."""

    kind: Kind
    shown: tuple[Sentence, ...] = ()
    tries: tuple[Sentence, ...] = ()


def advice_on(confusion: Confusion) -> Advice:
    """Return what a cell off the diagonal says, and what to try where it holds more than one example."""
    read = _read(confusion)
    return read if len({case.name for case in confusion.cases}) > 1 else replace(read, tries=())


def _read(confusion: Confusion) -> Advice:
    readers = {NONE: _missed, UNKNOWN_TOOL: _hallucinated, UNPARSED: _unread, NO_MAJORITY: _wavering}
    if confusion.actual in readers:
        return readers[confusion.actual](confusion)
    if confusion.expected == NONE:
        return _needless(confusion)
    if confusion.expected_spec is None or confusion.actual_spec is None:
        return Advice(Kind("mixed up"))
    return _mixed(confusion, confusion.expected_spec, confusion.actual_spec)


def _mixed(cell: Confusion, expected: ToolSpec, actual: ToolSpec) -> Advice:
    shown, tries = [], []
    pulled = cell.said(set(cell.actual_words), set(cell.expected_words))
    if pulled:
        words, cases = _words(pulled, cell.actual_words), _cases(pulled)
        shown.append(
            Sentence(
                f"{_people(cases)} {words}: in the description of {actual.name}, not of {expected.name}",
                cases,
            )
        )
        meant = _lower(_ADDRESS.sub("", opening(expected.description)))
        fits = f"{expected.name} fits ({meant})" if meant else f"{expected.name} fits"
        text = f"Tighten {actual.name}: it says {_words(pulled, cell.actual_words, 'and')}. Add “Not where {fits}.”"
        lead = f" {_trigger_first(actual, expected)}" if LEAD.match(actual.description.strip()) else ""
        tries.append(Sentence(f"{text}{lead}", cases, "tighten"))
    elif LEAD.match(actual.description.strip()):
        text = f"Tighten {actual.name}. {_trigger_first(actual, expected)}"
        tries.append(Sentence(text, tuple(cell.cases[:MOST_NAMED]), "tighten"))
    shared = cell.said({form for form in cell.actual_words if form in cell.expected_words}, set())
    if shared:
        words, cases = _words(shared, cell.actual_words), _cases(shared)
        shown.append(Sentence(f"{_people(cases)} {words}, as both texts do: no help in telling them apart", cases))
    tries += _examples(cell, expected)
    tries += _merged(cell, expected, actual)
    shown += _undescribed(cell, expected, actual)
    return Advice(pair_kind(expected, actual), tuple(shown), tuple(tries))


def _examples(cell: Confusion, expected: ToolSpec) -> list[Sentence]:
    """Propose an example for the right tool: the case whose words its text lacks the most."""
    lacking = cell.unsaid(set(cell.expected_words)) or cell.said(
        {form for case in cell.cases for form in words_of(case.text)}, set(cell.expected_words)
    )
    if not lacking:
        return []
    case = lacking[0][1][0]
    words = _words([each for each in lacking if case in each[1]], words_of(case.text), "and")
    text = f"Add an example to {expected.name}: “{shortened(case.text)}”. Its own text lacks {words}"
    return [Sentence(text, _cases(lacking), "example")]


def _merged(cell: Confusion, expected: ToolSpec, actual: ToolSpec) -> list[Sentence]:
    """Propose one tool with a mode where both take like arguments and are mistaken for each other both ways."""
    mine, other = properties_of(expected), properties_of(actual)
    if not cell.reverse or not mine & other or len(mine & other) < LIKE * len(mine | other):
        return []
    modes = [_mode(expected.name, actual.name), _mode(actual.name, expected.name)]
    text = (
        f"Merge the pair: both take {listed(sorted(mine & other)[:MOST_WORDS])}, and they are mistaken both ways"
        f" ({cell.count} and {cell.reverse}). One tool with a parameter “mode”: {listed(modes)}"
    )
    return [Sentence(text, tuple(cell.cases[:MOST_NAMED]), "merge")]


def _needless(cell: Confusion) -> Advice:
    if cell.actual_spec is None:
        return Advice(Kind("needless call"))
    tool, shown, tries = cell.actual_spec, [], []
    pulled = cell.said(set(cell.actual_words), set())
    if pulled:
        words, cases = _words(pulled, cell.actual_words), _cases(pulled)
        shown.append(
            Sentence(f"{_people(cases)} {words}, as the description of {tool.name} does: no call was expected", cases)
        )
        first = f"Tighten {tool.name}: say that {words} alone is no reason to call"
        lead = f". {_trigger_first(tool)}" if LEAD.match(tool.description.strip()) else ""
        tries.append(Sentence(f"{first}, and what must be known first{_required(tool)}{lead}", cases, "tighten"))
    elif LEAD.match(tool.description.strip()):
        text = f"Tighten {tool.name}. {_trigger_first(tool)}"
        tries.append(Sentence(text, tuple(cell.cases[:MOST_NAMED]), "tighten"))
    shown += _undescribed(cell, tool)
    if cell.cases:
        case = cell.cases[0]
        text = f"Add a few-shot without a tool: “{shortened(case.text)}”, answered without {tool.name}"
        tries.append(Sentence(text, tuple(cell.cases[:MOST_NAMED]), "few-shot"))
    return Advice(Kind("needless call"), tuple(shown), tuple(tries))


def _missed(cell: Confusion) -> Advice:
    if cell.expected_spec is None:
        return Advice(Kind("missed call"))
    tool, shown, tries = cell.expected_spec, [], []
    known = cell.said(set(cell.expected_words), set())
    if known:
        words, cases = _words(known, cell.expected_words), _cases(known)
        shown.append(
            Sentence(f"{_people(cases)} {words}, as the description of {tool.name} does, but nothing was called", cases)
        )
        quoted = f": “{opening(tool.description)}”" if tool.description.strip() else ""
        text = f"Say in {tool.name} that it must be called, not only may{quoted}"
        tries.append(Sentence(text, cases, "tighten"))
    shown += _undescribed(cell, tool)
    tries += _examples(cell, tool)
    return Advice(Kind("missed call"), tuple(shown), tuple(tries))


def _hallucinated(cell: Confusion) -> Advice:
    names: dict[str, list[ConfusedCase]] = {}
    for case in cell.cases:
        for name in dict.fromkeys(case.called):
            if name not in cell.offered:
                names.setdefault(name, []).append(case)
    shown, tries = [], []
    for name, cases in sorted(names.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_WORDS]:
        shown.append(Sentence(f"Called {name}, which is not offered, {_times(len(cases))}", tuple(cases[:MOST_NAMED])))
        near = max(cell.offered, key=lambda offered: (_likeness(name, offered), offered), default="")
        meant = next((offered for offered in cell.offered if _spelled_otherwise(name, offered)), "")
        if meant:
            text = f"{name} is {meant} spelled otherwise: say in the prompt that names are written as they are offered"
            tries.append(Sentence(text, tuple(cases[:MOST_NAMED]), "spell"))
        elif near and _likeness(name, near):
            shared = listed(sorted(set(words_of(name)) & set(words_of(near))))
            text = f"{name} is nearest to {near} by {shared}: name that tool so, or say in its text that it does this"
            tries.append(Sentence(text, tuple(cases[:MOST_NAMED]), "rename"))
    return Advice(Kind("hallucinated tool"), tuple(shown), tuple(tries))


def _unread(cell: Confusion) -> Advice:
    shown = Sentence(
        f"What should have called {cell.expected} was a call that cannot be read", tuple(cell.cases[:MOST_NAMED])
    )
    return Advice(Kind("malformed output"), (shown,))


def _wavering(cell: Confusion) -> Advice:
    shown = Sentence(
        f"No answer has more than half of the trials where {cell.expected} was expected", tuple(cell.cases[:MOST_NAMED])
    )
    return Advice(Kind("no majority"), (shown,))


def _undescribed(cell: Confusion, *specs: ToolSpec) -> list[Sentence]:
    return [
        Sentence(f"{spec.name} has no description: there was only its name to go by", tuple(cell.cases[:MOST_NAMED]))
        for spec in specs
        if not spec.description.strip()
    ]


def _words(found: Sequence[tuple[str, tuple[ConfusedCase, ...]]], written: dict[str, str], last: str = "or") -> str:
    """Return the words quoted. Of cases "or" holds: each says one of them at least, not all."""
    return listed([written.get(form, form) for form, _ in found], last)


def _cases(found: Sequence[tuple[str, tuple[ConfusedCase, ...]]]) -> tuple[ConfusedCase, ...]:
    """Return the cases that say any of the words, those that say the most said one first."""
    return tuple(dict.fromkeys(case for _, cases in found for case in cases))


def _people(cases: Sequence[ConfusedCase]) -> str:
    return f"{len(cases)} case{' says' if len(cases) == 1 else 's say'}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _trigger_first(tool: ToolSpec, other: ToolSpec | None = None) -> str:
    """Return words for a description that opens as any tool's could: its trigger, from what only it says."""
    lead = LEAD.match(tool.description.strip())
    others = spec_words(other)
    own = words_of(LEAD.sub("", tool.description.strip(), count=1)) or words_of(tool.name)
    said = [written for form, written in own.items() if form not in others] or list(own.values())
    asks = f" asks about {listed(said[:MOST_WORDS], 'or')}" if said else " asks for this"
    opens = lead[0] if lead else ""
    return (
        f"It opens with “{opens}”, which fits every tool. Lead with the trigger: when the user{asks}, call {tool.name}"
    )


def _required(tool: ToolSpec) -> str:
    names = [name for name in tool.input_schema.get("required", ()) if isinstance(name, str)]
    return f": {listed(names[:MOST_WORDS])}" if names else ""


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _mode(name: str, other: str) -> str:
    """Return what of a tool's name tells it from the other."""
    own = [word for form, word in words_of(name).items() if form not in words_of(other)]
    return "_".join(own) or name


def _spelled_otherwise(name: str, offered: str) -> bool:
    """Return whether two names differ in case and signs only, or one is the other behind a namespace."""
    one, other = (re.sub(r"[^a-z0-9]", "", each.casefold()) for each in (name, offered))
    behind = any(f"{sign}{offered.casefold()}" in name.casefold()[-len(offered) - 1 :] for sign in ".:/")
    return bool(other) and (one == other or behind)


def _likeness(one: str, other: str) -> int:
    return len(set(words_of(one)) & set(words_of(other)))
