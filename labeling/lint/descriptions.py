"""Lint tools' descriptions, by which a model chooses a tool."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from labeling.lint.findings import Report
from labeling.lint.texts import LEAD, cosine, jaccard, tf_idf, trigrams, words_in
from toolevals.grading.values import ToolSpec

# Words at the start that make an opening, and in how many words a description says anything at all.
OPENING_WORDS = 3
FEWEST_WORDS = 3
SAME_TEXT = 0.85
CONFUSABLE = 0.60
# Lists of more tools than this are compared in part: the first so many with each other.
MOST_COMPARED = 400
_TRIGGER = re.compile(
    r"\b(?:when|whenever|whether|if|unless|before|after|only for|not for|instead of|in case"
    r"|used? (?:this |it )?for|asks? (?:for|about)"
    r"|(?:customer|user)s? (?:asks?|wants?|says?|needs?|names?|reports?))\b",
    re.IGNORECASE,
)

# Openings that lead with what triggers the tool, as they should: a word of these first, or soon after "use" or "call".
_TRIGGERS_FIRST = frozenset({"when", "whenever", "if", "only", "for", "before", "after", "once", "unless"})
_ADDRESSES = frozenset({"use", "call"})
SOON = 5


def descriptions_lint(report: Report, offers: Iterable[Sequence[ToolSpec]]) -> None:
    """Add what is odd about the descriptions of tools; compared are only tools that are offered together."""
    lists = [tuple(offered) for offered in offers]
    specs = {spec.digest: spec for offered in lists for spec in offered}
    report.tools = len({spec.name for spec in specs.values()})
    _add_each(report, specs.values())
    _add_openings(report, lists)
    _add_pairs(report, lists, specs)


def _add_openings(report: Report, lists: Iterable[Sequence[ToolSpec]]) -> None:
    openings: dict[str, set[str]] = defaultdict(set)
    for offered in lists:
        for opening, names in _openings(offered):
            openings[opening] |= names
    for opening, names in sorted(openings.items(), key=lambda each: (-len(each[1]), each[0])):
        sentence = f"{len(names)} descriptions open with “{opening}”: start each one with when to use the tool."
        report.add("shared_opening", sentence, about=[opening], tools=sorted(names))


def _add_pairs(report: Report, lists: Iterable[Sequence[ToolSpec]], specs: Mapping[str, ToolSpec]) -> None:
    alike: dict[tuple[str, str], tuple[str, float]] = {}
    for (first, second), (rule, share) in _alike(lists, specs).items():
        one, other = sorted((specs[first].name, specs[second].name))
        if one != other:
            alike[one, other] = max(alike.get((one, other), ("", 0.0)), (rule, share))
    for (one, other), (rule, share) in sorted(alike.items(), key=lambda each: (-each[1][1], each[0])):
        if rule == "same_description":
            sentence = f"{one} and {other} are described in nearly the same words: {share:.0%} of their trigrams."
        else:
            sentence = f"{one} and {other} have similar descriptions (cosine {share:.2f}): say what sets them apart."
        report.add(rule, sentence, about=[one, other], tools=[one, other])


def _add_each(report: Report, specs: Iterable[ToolSpec]) -> None:
    told: set[str] = set()
    # Several specs may have one name: told is the first of which there is anything to say, in a lasting order.
    for spec in sorted(specs, key=lambda spec: (spec.name, spec.digest)):
        name, text = spec.name, spec.description.strip()
        is_described, has_trigger = len(words_in(text)) >= FEWEST_WORDS, _has_trigger(text)
        if name in told or (is_described and has_trigger):
            continue
        told.add(name)
        if not is_described:
            said = f"says only “{text[:60]}”" if text else "has no description"
            report.add(
                "no_description", f"{name} {said}: a model cannot tell when to choose it.", about=[name], tools=[name]
            )
        else:
            lead = LEAD.match(text)
            said = f"opens with “{lead[0]}” and says" if lead else "says"
            report.add("no_trigger", f"{name} {said} what it does, not when to use it.", about=[name], tools=[name])


def _has_trigger(text: str) -> bool:
    """Return whether a description says when to use its tool; "Use this tool to" before it says nothing of the kind."""
    return _TRIGGER.search(LEAD.sub("", text, count=1)) is not None


def _leads_with_trigger(words: Sequence[str]) -> bool:
    if words[0] in _ADDRESSES:
        return not _TRIGGERS_FIRST.isdisjoint(words[:SOON])
    return words[0] in _TRIGGERS_FIRST


def _openings(offered: Sequence[ToolSpec]) -> Iterator[tuple[str, set[str]]]:
    openings: dict[str, set[str]] = defaultdict(set)
    for spec in offered:
        words = words_in(spec.description)[:SOON]
        if len(words) >= OPENING_WORDS and not _leads_with_trigger(words):
            openings[" ".join(words[:OPENING_WORDS])].add(spec.name)
    yield from ((opening, names) for opening, names in openings.items() if len(names) > 1)


def _alike(
    lists: Iterable[Sequence[ToolSpec]], specs: Mapping[str, ToolSpec]
) -> dict[tuple[str, str], tuple[str, float]]:
    """Return rule and likeness of the pairs of specs (by digest) that are offered together and described alike."""
    letters = {name: trigrams(spec.description) for name, spec in specs.items()}
    told = (words_in(f"{spec.name} {spec.description} {_parameters(spec)}") for spec in specs.values())
    vectors = dict(zip(specs, tf_idf(told), strict=True))
    nearest: dict[tuple[str, str], tuple[str, float]] = {}
    seen: set[tuple[str, str]] = set()
    for offered in lists:
        for pair in combinations(sorted({spec.digest for spec in offered[:MOST_COMPARED]}), 2):
            if pair in seen:
                continue
            seen.add(pair)
            one, other = pair
            if (same := jaccard(letters[one], letters[other])) >= SAME_TEXT:
                nearest[pair] = ("same_description", same)
            elif (share := cosine(vectors[one], vectors[other])) >= CONFUSABLE:
                nearest[pair] = ("confusable", share)
    return nearest


def _parameters(spec: ToolSpec) -> str:
    properties = spec.input_schema.get("properties")
    return " ".join(properties) if isinstance(properties, dict) else ""
