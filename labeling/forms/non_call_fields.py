"""Tell what may be next to the calls: why there is none, right reactions, facts in the answer, the final state."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from labeling.forms.calls import FieldProblem, ReadProblems
from labeling.forms.entries import MAX_JSON_BYTES, MAX_JSON_DEPTH
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument

# Why no call is right, as people choose it: the value kept, the words, what is meant.
REASONS = (
    ("greeting", "greeting", "Small talk, thanks: nothing to do"),
    ("clarification", "clarification", "A value is missing and must be asked for"),
    ("in-model fact", "known already", "The answer is in the conversation or common knowledge"),
    ("refusal", "refusal", "No tool can or may do it"),
    ("other", "other", "Say it in the rationale"),
)
OWN = "own"
# The reactions that can be right: the value kept, the words, what is meant.
RIGHT_REACTIONS = (
    ("corrected_retry", "corrected retry", "Calls the tool again with other arguments"),
    ("fallback_tool", "fallback tool", "Calls another tool that can replace it"),
    ("clarification", "asks back", "Asks the user for what is missing"),
    ("escalation", "escalates", "Hands the case to a person"),
    ("honest_failure", "says so", "Tells the user that it did not work"),
)
PROFILES = (
    ("standard", "as usual"),
    ("strict", "strictly: types and spelling too"),
    ("loose", "loosely: without case and spaces"),
    ("bfcl", "as the BFCL benchmark does"),
)
# What can be unfolded: its name among the fields `also`, the words of its button.
SECTIONS = (
    ("reactions", "Right reactions"),
    ("answer", "Answer must say"),
    ("state", "Final state"),
    ("profile", "Values compared"),
)


@dataclass(frozen=True, slots=True)
class NonCallFields:
    """The values of the unfolded sections."""

    sections: frozenset[str]
    reactions: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    exact: str = ""
    pattern: str = ""
    state: str = ""
    profile: str = "standard"


def non_call_fields_of(data: QueryDict, *, unfolded: frozenset[str] = frozenset()) -> NonCallFields:
    """Return the sections as the page sent them; `unfolded` are unfolded whether chosen or not."""
    return NonCallFields(
        sections=frozenset(data.getlist("also")) & {name for name, _ in SECTIONS} | unfolded,
        reactions=tuple(data.getlist("reaction")),
        contains=tuple(text for text in data.getlist("says") if text),
        exact=data.get("says_exact", ""),
        pattern=data.get("says_pattern", ""),
        state=data.get("state", ""),
        profile=data.get("profile") or "standard",
    )


def read_why(data: QueryDict, read_problems: ReadProblems, tools: Collection[str]) -> dict[str, Any]:
    """Return the expectation of no call; `tools` are the names of the offered tools."""
    read_problems.origins |= {"/why": "why", "/near": "near"}
    document = _read_reason(data, read_problems)
    near = list(dict.fromkeys(name for name in data.getlist("near") if name))
    if unknown := next((name for name in near if name not in tools), None):
        read_problems.problems.append(FieldProblem("near", f"No tool is called “{unknown[:80]}” here."))
    if near:
        document["near"] = near
    return document


def _read_reason(data: QueryDict, read_problems: ReadProblems) -> dict[str, Any]:
    chosen = data.get("why", "")
    why = data.get("why_own", "") if chosen == OWN else chosen
    if (chosen == OWN and why) or chosen in {reason for reason, _, _ in REASONS}:
        return {"kind": "no_call", "why": why}
    read_problems.problems.append(FieldProblem("why", "Say why no call is right."))
    return {"kind": "no_call"}


def fill_why(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what the form would send for the reason of no call, and for the tools that come near."""
    why = str(document.get("why") or "")
    near = {"near": list(document["near"])} if document.get("near") else {}
    if not why or why in {reason for reason, _, _ in REASONS}:
        return {"why": [why], **near}
    return {"why": [OWN], "why_own": [why], **near}


def read_non_call_fields(data: QueryDict, read_problems: ReadProblems) -> dict[str, Any]:
    """Return what is next to the calls, of the sections that are unfolded."""
    given = non_call_fields_of(data)
    document: dict[str, Any] = {}
    read_problems.origins |= {"/state": "state", "/answer": "says", "/answer/pattern": "says_pattern"}
    reactions = [name for name, _, _ in RIGHT_REACTIONS if name in given.reactions]
    if reactions:
        document["reactions"] = [name for name in dict.fromkeys(given.reactions) if name in reactions]
    if answer := _answer(given):
        document["answer"] = answer
    if given.profile in {name for name, _ in PROFILES}:
        document["profile"] = given.profile
    if given.state.strip():
        _read_state(given.state, document, read_problems)
    return document


def _answer(given: NonCallFields) -> dict[str, Any]:
    answer: dict[str, Any] = {}
    contains = [text.replace("\r\n", "\n") for text in given.contains]
    if contains:
        answer["contains"] = contains
    for name, text in (("exact", given.exact), ("pattern", given.pattern)):
        if text.strip():
            answer[name] = text.replace("\r\n", "\n")
    return answer


def _read_state(text: str, document: dict[str, Any], read_problems: ReadProblems) -> None:
    try:
        state = load_json(text, max_bytes=MAX_JSON_BYTES, max_depth=MAX_JSON_DEPTH)
    except InvalidDocument as error:
        read_problems.problems.append(FieldProblem("state", f"Cannot be read: {error.problems[0].message}"))
        return
    if isinstance(state, dict):
        document["state"] = state
    else:
        read_problems.problems.append(FieldProblem("state", "The final state is a JSON object."))


def fill_beside(document: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return what the form would send for what is next to the calls."""
    filled: dict[str, list[str]] = {}
    if document.get("reactions"):
        filled["reaction"] = list(document["reactions"])
    answer = document.get("answer")
    if answer is not None:
        filled["says"] = list(answer.get("contains") or [])
        filled["says_exact"], filled["says_pattern"] = [answer.get("exact", "")], [answer.get("pattern", "")]
    if document.get("state") is not None:
        filled["state"] = [json.dumps(document["state"], ensure_ascii=False, indent=1)]
    if document.get("profile", "standard") != "standard":
        filled["profile"] = [document["profile"]]
    sections = {"reactions": "reaction", "answer": "says", "state": "state", "profile": "profile"}
    filled["also"] = [section for section, name in sections.items() if name in filled]
    return filled
