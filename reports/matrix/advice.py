"""Read a confusion by the two tools' own words and the cases: its kind, the evidence, what to try.

Every sentence quotes the texts or names the cases that it comes from; where they show nothing, nothing is said. The
rules are few and plain, and are written down in docs/reports.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from labeling.lint.texts import LEAD
from toolevals.grading.engine.case_findings import Kind, pair_kind, properties_of
from toolevals.grading.metrics.confusion import NO_MAJORITY
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
# Identifiers, addresses and links are no words, nor are their parts: ORD-7781, a.b@example.com.
_NO_WORDS: Final = re.compile(r"[a-zA-Z0-9_-]*[0-9][a-zA-Z0-9_-]*|\S+@\S+|\bhttps?://\S+")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Words that say nothing about what is asked for.
_EMPTY: Final = frozenset(
    word
    for line in (
        "about after again all also and any are because been before being but can could did does doing don each else",
        "ever few for from further get gets getting give given gives had has have having her here him his how into its",
        "itself just let like made make makes may more most much must need needs not now off once one only other our",
        "out over own please put same say says see set she should some such take tell than that the their them then",
        "there these they this those through too tool two under until use used user users uses using very want wants",
        "was way were what when where whether which while who whom whose why will with without would yes you your",
        "yours function call calls called return returns actually ago already anything bit currently good great",
        "hello help hey interested know looking lot maybe might nice okay particular particularly quite really",
        "soon someone something still sure thank thanks think today would yeah yet",
    )
    for word in line.split()
)


def words_of(*texts: str) -> dict[str, str]:
    """Return the words that say something, in order, by their form without a plural's s: form -> as it is written.

    Names in snake case and in camel case are taken apart. Words under three letters are left out, and so are the parts
    of identifiers, addresses and links.
    """
    by_stem: dict[str, str] = {}
    for text in texts:
        for word in _WORD.findall(_CAMEL.sub(" ", _NO_WORDS.sub(" ", text).replace("_", " "))):
            form = _form(word)
            if word.casefold() not in _EMPTY and form not in _EMPTY:
                by_stem.setdefault(form, word.casefold())
    return by_stem


def opening(text: str, longest: int = 90) -> str:
    """Return the first sentence of a text, cut between words where it is long."""
    first = re.split(r"(?<=[.!?])\s|\n", " ".join(text.split()), maxsplit=1)[0].rstrip(".")
    return shortened(first, longest)


def shortened(text: str, longest: int = 110) -> str:
    """Return a text on one line, cut between words where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest].rsplit(' ', 1)[0]} …"


def listed(words: Iterable[str], last: str = "and") -> str:
    """Return quoted words as one reads them: “late”, “parcel” and “where”."""
    quoted = [f"“{word}”" for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def _form(word: str) -> str:
    form = word.casefold()
    return form[:-1] if len(form) > 3 and form.endswith("s") and not form.endswith("ss") else form


MOST_WORDS = 3


@dataclass(frozen=True, slots=True)
class ConfusedCase:
    """A case of the cell: its example's id, the case's own, what the user said last, and the names it called."""

    name: str
    case: str
    text: str
    called: tuple[str, ...] = ()


# Not slotted: words are looked for once.
@dataclass(frozen=True)
class Confusion:
    """One cell off the diagonal. A spec is None where the class is no tool or stands for several.

    `reverse` is how many cases stand in the opposite cell, `offered` the names of every offered tool.
    """

    expected: str
    actual: str
    expected_spec: ToolSpec | None
    actual_spec: ToolSpec | None
    cases: Sequence[ConfusedCase]
    reverse: int = 0
    count: int = 0
    offered: Sequence[str] = field(default=())

    @cached_property
    def expected_words(self) -> dict[str, str]:
        """The words of the right tool."""
        return spec_words(self.expected_spec)

    @cached_property
    def actual_words(self) -> dict[str, str]:
        """The words of the called tool."""
        return spec_words(self.actual_spec)

    def said(self, among: set[str], without: set[str]) -> list[tuple[str, tuple[ConfusedCase, ...]]]:
        """Return the words of `among` that cases say, and `without` does not hold, most said first, with the cases."""
        by_word: dict[str, list[ConfusedCase]] = {}
        for case in self.cases:
            for form in words_of(case.text):
                if form in among and form not in without:
                    by_word.setdefault(form, []).append(case)
        # Sorting is stable: of words that are said as often, those that were said first.
        ranked = sorted(by_word.items(), key=lambda item: -len({case.name for case in item[1]}))[:MOST_WORDS]
        return [(form, tuple(cases)) for form, cases in ranked]

    def unsaid(self, without: set[str]) -> list[tuple[str, tuple[ConfusedCase, ...]]]:
        """Return the words that at least two examples say and `without` does not hold, most said first."""
        texts = {case.name: case.text for case in self.cases}
        counts = Counter(form for text in texts.values() for form in words_of(text))
        often = {form for form, count in counts.items() if count > 1}
        return self.said(often, without)


def spec_words(spec: ToolSpec | None) -> dict[str, str]:
    """Return the words of a tool's name and description as `words_of` does; none where there is no tool."""
    return words_of(spec.name, spec.description) if spec else {}


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
        f"It opens with “{opens}”, which fits every tool. Start with the trigger: when the user{asks}, call {tool.name}"
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
