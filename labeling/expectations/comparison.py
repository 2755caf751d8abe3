"""Compare two answers part by part, and merge them: take each differing part from either, or from both."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Protocol

from labeling.expectations.meaning import meaning
from labeling.expectations.wording import CallWords, expectation_words, matcher_words, shown_whole, summary
from labeling.models import LabelAnswer
from toolevals.grading.matching.equivalence import Difference, differences
from toolevals.grading.values import Expectation
from toolevals.json_types import JsonMapping, JsonObject

LEFT, RIGHT, BOTH = "left", "right", "both"
# Lists in which a place is a number.
LISTS = frozenset({"alternatives", "ordered", "unordered", "any_order", "one_of_calls", "disallowed"})
REACTIONS = "/reactions"


# Settings, by the last step of their path: the title, and what their two values mean.
SETTINGS = {
    "additional_arguments": ("other arguments", "may be given", "must not be given"),
    "additional_fields": ("other fields", "may be given", "must not be given"),
    "additional_calls": ("further calls", "may follow", "must not follow"),
}
TITLES = {"answer": "answer must say", "reactions": "right reactions", "state": "final state", "profile": "profile"}
LIST_TITLES = {
    "alternatives": ("or another", "no such alternative"),
    "ordered": ("call", "no such call"),
    "unordered": ("call, anywhere", "no such call"),
    "any_order": ("call, in any order", "no such call"),
    "one_of_calls": ("or this call", "no such call"),
    "disallowed": ("must not call", "nothing ruled out"),
}
WORD = re.compile(r"\w+|\s+|[^\w\s]")
# Two values are marked word by word where at least so much of them is the same, and where that is soon found.
ALIKE, MOST_WORDS = 0.5, 250_000
# By these a step of an ordered list is known.
STEPS = frozenset({"tool", "any_order", "one_of_calls"})


def may_be_both(path: str) -> bool:
    """Tell whether a part can be right in both ways: within alternatives, of which any will do, and reactions."""
    return path.startswith("/alternatives/") or path == REACTIONS


def merged(left: JsonMapping, right: JsonMapping, chosen: Mapping[str, str]) -> JsonObject:
    """Return the left expectation with the parts taken from the right one where `chosen` says so, by path.

    Where some parts are right in both ways, what comes of the left ones and what comes of the right ones are accepted
    as alternatives: never a mixture that no one has said. "both" of a part that cannot be is the left one.
    """
    both = [path for path, side in chosen.items() if side == BOTH and may_be_both(path)]
    result = _taken(left, right, chosen)
    if not both:
        return result
    other = _taken(left, right, {**chosen, **dict.fromkeys(both, RIGHT)})
    alternatives = result.setdefault("alternatives", [])
    known = {_alternative(result, one) for one in alternatives}
    alternatives += [one for one in other.get("alternatives") or [] if _alternative(result, one) not in known]
    if REACTIONS in both:
        said = [*(result.get("reactions") or []), *(other.get("reactions") or [])]
        result["reactions"] = list(dict.fromkeys(said))
    return result


def _taken(left: JsonMapping, right: JsonMapping, chosen: Mapping[str, str]) -> JsonObject:
    taken = [path for path, side in chosen.items() if side == RIGHT]
    if "" in taken:
        return copy.deepcopy(dict(right))
    result = copy.deepcopy(dict(left))
    gone = []
    for path in sorted(taken, key=steps_of):
        if has(right, path):
            _put(result, path, copy.deepcopy(at(right, path)))
        else:
            gone.append(path)
    # From the end, so that places in lists stay what they were.
    for path in sorted(gone, key=steps_of, reverse=True):
        _drop(result, path)
    return result


def _alternative(document: JsonMapping, trajectory: Any) -> str:
    alone = {"kind": "calls", "alternatives": [trajectory]}
    profile = {"profile": document["profile"]} if document.get("profile") else {}
    return meaning("", alone | profile)


def has(document: Any, path: str) -> bool:
    """Tell whether a document has something at a JSON pointer."""
    for step in steps_of(path):
        if (isinstance(document, dict) and step in document) or (
            isinstance(document, list) and isinstance(step, int) and step < len(document)
        ):
            document = document[step]
        else:
            return False
    return True


def at(document: Any, path: str) -> Any:
    """Return what a document has at a JSON pointer; None for nothing."""
    if not has(document, path):
        return None
    for step in steps_of(path):
        document = document[step]
    return document


def steps_of(path: str) -> list[Any]:
    """Return a pointer's steps; those that are places in a list of calls or alternatives, as numbers."""
    steps: list[Any] = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]
    for number, step in enumerate(steps[1:], start=1):
        if steps[number - 1] in LISTS and str(step).isdigit() and "arguments" not in steps[:number]:
            steps[number] = int(step)
    return steps


def _put(document: Any, path: str, value: Any) -> None:
    steps = steps_of(path)
    last = steps[-1]
    for step, following in pairwise(steps):
        if isinstance(document, dict):
            document = document.setdefault(step, [] if isinstance(following, int) else {})
        else:
            document = document[step]
    if isinstance(document, list) and isinstance(last, int) and last >= len(document):
        document.append(value)
    else:
        document[last] = value


def _drop(document: Any, path: str) -> None:
    *parents, last = steps_of(path)
    for step in parents:
        document = document[step]
    del document[last]


@dataclass(frozen=True, slots=True)
class SideWords:
    """One side's words for a part: how it compares, and the value; `nothing` where it has none."""

    by: str = ""
    value: str = ""
    nothing: str = ""
    # The value in pieces, and whether the other side has something else there; empty where that would tell nothing.
    pieces: tuple[tuple[str, bool], ...] = ()
    # Where the value is calls: the same in parts, each alternative's.
    calls: tuple[tuple[CallWords, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of two expectations, at a JSON pointer into both."""

    path: str
    title: str
    left: SideWords
    right: SideWords

    @property
    def may_be_both(self) -> bool:
        return may_be_both(self.path)

    @property
    def is_tool(self) -> bool:
        return self.path.endswith("/tool") and "/arguments/" not in self.path

    @property
    def is_setting(self) -> bool:
        return "/arguments/" not in self.path and self.path.rsplit("/", 1)[-1] in (*SETTINGS, "profile")


class Answered(Protocol):
    """A side: an answer, and an expectation where it is one."""

    @property
    def answer(self) -> str: ...
    @property
    def expectation(self) -> JsonObject | None: ...


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences and agreements of two expectations."""

    differing: tuple[Part, ...]
    agreed: tuple[Part, ...]

    @property
    def agreed_tools(self) -> list[str]:
        """The tools that both call, each once."""
        return list(dict.fromkeys(part.left.value for part in self.agreed if part.is_tool))

    @property
    def agreed_names(self) -> list[str]:
        """Return what else they agree on, without the settings."""
        return [part.title for part in self.agreed if not part.is_tool and not part.is_setting]


def compare_answers(left: Answered, right: Answered) -> Comparison:
    """Return two answers part by part: one decision where one of them is no expectation."""
    if left.expectation is not None and right.expectation is not None:
        return compare(left.expectation, right.expectation)
    words = [_all(one.expectation) if one.expectation else SideWords(value=answer_words(one)) for one in (left, right)]
    return Comparison((Part("", "what to do", words[0], words[1]),), ())


def answer_words(answered: Answered) -> str:
    """Return an answer in one line: what should happen, or why no one can say."""
    if answered.expectation is None:
        return str(LabelAnswer(answered.answer).label)
    return _all_words(answered.expectation)


def compare(left: JsonMapping, right: JsonMapping) -> Comparison:
    """Return two expectations part by part.

    A part is what can sensibly be taken from one side: where the tools of a call differ, it is the whole call; where
    one side expects calls and the other none, it is all.
    """
    parts = differences(Expectation.from_document(dict(left)), Expectation.from_document(dict(right)))
    if any(one.path == "/kind" and one.kind != "same" for one in parts):
        return Comparison((_whole(left, right),), ())
    roots = _undivided(parts, left, right)
    differing: dict[str, Part] = {}
    agreed: list[Part] = []
    for one in parts:
        root = next((root for root in roots if one.path.startswith(f"{root}/")), None)
        if root is not None:
            differing.setdefault(root, _part(root, at(left, root), at(right, root)))
        elif one.kind != "same":
            differing[one.path] = _part(one.path, one.left, one.right)
        elif one.path not in ("/kind", "/profile"):
            agreed.append(_part(one.path, one.left, one.right))
    return Comparison(tuple(differing.values()), tuple(agreed))


def _undivided(parts: Iterable[Difference], left: JsonMapping, right: JsonMapping) -> list[str]:
    """Return the paths of what is taken whole: alternatives that one side lacks, and steps whose tools differ."""
    whole: dict[str, None] = {}
    for one in parts:
        steps = one.path.split("/")
        alternative = "/".join(steps[:3])
        if steps[1] == "alternatives" and has(left, alternative) != has(right, alternative):
            whole[alternative] = None
        elif one.kind != "same" and steps[-1] == "tool" and "arguments" not in steps:
            whole["/".join(steps[:5])] = None
    return list(whole)


def _whole(left: JsonMapping, right: JsonMapping) -> Part:
    return Part("", "what to do", _all(left), _all(right))


def _all(document: JsonMapping) -> SideWords:
    return SideWords(value=_all_words(document), calls=expectation_words(document).alternatives)


def _all_words(document: JsonMapping) -> str:
    alternatives = document.get("alternatives") or []
    return " or ".join(_call_or_trajectory(one) for one in alternatives) or summary(document)


def _part(path: str, left: Any, right: Any) -> Part:
    steps = steps_of(path)
    title, nothing = _title(steps)
    words = _marked(*(_words(steps, side, nothing) for side in (left, right)))
    return Part(path, title, words[0], words[1])


def _marked(left: SideWords, right: SideWords) -> tuple[SideWords, SideWords]:
    """Mark the words in which two values differ, where they have enough in common for that to help."""
    if not left.value or not right.value or left.value == right.value or left.calls or right.calls:
        return left, right
    ours, theirs = WORD.findall(left.value), WORD.findall(right.value)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    if len(ours) * len(theirs) > MOST_WORDS or matcher.ratio() < ALIKE:
        return left, right
    codes = matcher.get_opcodes()
    mine = tuple(("".join(ours[a:b]), kind != "equal") for kind, a, b, _, _ in codes if b > a)
    other = tuple(("".join(theirs[a:b]), kind != "equal") for kind, _, _, a, b in codes if b > a)
    return replace(left, pieces=mine), replace(right, pieces=other)


def _title(steps: list[Any]) -> tuple[str, str]:
    """Return a part's title, and what to say of a side that has nothing there."""
    last = steps[-1]
    where = _where(steps)
    if "arguments" in steps[:-1]:
        name = ".".join(str(step) for step in steps[steps.index("arguments") + 1 :] if step != "fields")
        return f"{where}{name}", "not named"
    if last in SETTINGS:
        return f"{where}{SETTINGS[last][0]}", SETTINGS[last][1]
    if isinstance(last, int):
        title, nothing = LIST_TITLES[steps[-2]]
        return f"{where if steps[-2] != 'alternatives' else ''}{title}", nothing
    return f"{where}{TITLES.get(str(last), str(last))}", "nothing required"


def _where(steps: list[Any]) -> str:
    """Return which call is meant, where it is not the first of the first alternative."""
    parts = []
    if len(steps) > 1 and steps[0] == "alternatives" and steps[1]:
        parts.append(f"alternative {steps[1] + 1}")
    if len(steps) > 4 and isinstance(steps[3], int) and (steps[3] or steps[2] != "ordered"):
        parts.append(f"{LIST_TITLES[steps[2]][0]} {steps[3] + 1}")
    return ", ".join(parts) + ": " if parts else ""


def _words(steps: list[Any], value: Any, nothing: str) -> SideWords:
    last = steps[-1]
    if last in SETTINGS:
        _, yes, no = SETTINGS[last]
        return SideWords(value=no if value is False else yes)
    if value is None:
        return SideWords(nothing=nothing)
    if "arguments" in steps[:-1]:
        by, text = matcher_words(value, shown_whole)
        return SideWords(by, text)
    if isinstance(last, int):
        return SideWords(value=_call_or_trajectory(value), calls=_alternatives(value))
    return SideWords(value=value if isinstance(value, str) else shown_whole(value))


def _alternatives(document: Any) -> tuple[tuple[CallWords, ...], ...]:
    """Return the calls of a step or of an alternative."""
    if not isinstance(document, dict):
        return ()
    trajectory = document if STEPS.isdisjoint(document) else {"ordered": [document]}
    return expectation_words({"kind": "calls", "alternatives": [trajectory]}).alternatives


def _call_or_trajectory(document: Any) -> str:
    if not isinstance(document, dict):
        return json.dumps(document, ensure_ascii=False)
    return "; ".join(
        f"{'or ' if call.before == 'or' else ''}{call.tool}("
        f"{', '.join(' '.join(filter(None, (one.name, one.by, one.value))) for one in call.arguments)})"
        for call in _alternatives(document)[0]
    )
