"""Write an expectation in words: one line for lists, calls with their matchers for pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.label_form.matchers import WORDS
from toolevals.json_types import JsonMapping

MAX_VALUE = 120


@dataclass(frozen=True, slots=True)
class ArgumentWords:
    """One argument: its name, how it is compared ("" for equals), and with what."""

    name: str
    by: str
    value: str


@dataclass(frozen=True, slots=True)
class CallWords:
    """One expected call."""

    tool: str
    arguments: tuple[ArgumentWords, ...]
    # What stands before it: "", "then", "in any order", "anywhere", "or", "must not call".
    before: str = ""
    more: bool = False


@dataclass(frozen=True, slots=True)
class ExpectationWords:
    """An expectation in words: a sentence where there are no calls, else each alternative's calls, and the settings."""

    sentence: str
    alternatives: tuple[tuple[CallWords, ...], ...]
    beside: tuple[str, ...]


def summary(document: JsonMapping) -> str:
    """Return an expectation in one line: its tools, or why there is no call."""
    if document.get("kind") == "no_call":
        return f"(none), {document['why']}" if document.get("why") else "(none)"
    if document.get("kind") == "some_call":
        return "any call"
    return " or ".join(_tools(trajectory) for trajectory in document.get("alternatives") or [])


def expectation_words(document: JsonMapping) -> ExpectationWords:
    """Return an expectation's parts in words."""
    kind = document.get("kind")
    why = f": {document['why']}" if document.get("why") else ""
    sentence = {"no_call": f"No call{why}.", "some_call": "Any call of an offered tool."}.get(str(kind), "")
    alternatives = tuple(tuple(_calls(one)) for one in document.get("alternatives") or [])
    return ExpectationWords(sentence, alternatives, tuple(_beside(document)))


def matcher_words(matcher: Any, show: Callable[[Any], str] | None = None) -> tuple[str, str]:
    """Return how a matcher compares, and with what; `show` puts a value into words, `shown` unless given."""
    show = show or shown
    if not isinstance(matcher, Mapping):
        return "", show(matcher)
    key = next((name for name in matcher if name not in ("optional", "additional_fields")), "")
    value = matcher.get(key)
    left_out = ", or left out" if matcher.get("optional") else ""
    if key in ("key_only", "absent"):
        return ("not checked", "") if key == "key_only" and left_out else (WORDS[key], "")
    if key == "one_of" and isinstance(value, Sequence):
        return WORDS[key] + left_out, " | ".join(show(one) for one in value)
    if key == "range" and isinstance(value, Sequence) and len(value) == 2:
        low, high = value
        return "from" + left_out, f"{'…' if low is None else show(low)} to {'…' if high is None else show(high)}"
    if key == "approximately" and isinstance(value, Mapping):
        tolerances = [
            f"{show(value[name])}{of}"
            for name, of in (("absolute", ""), ("relative", " of it"))
            if value.get(name) is not None
        ]
        return WORDS[key] + left_out, f"{show(value.get('value'))}, within {' or '.join(tolerances)}"
    if key == "date_equal" and isinstance(value, Mapping):
        formats = " or ".join(str(one) for one in value.get("formats") or [])
        return WORDS[key] + left_out, f"{show(value.get('date'))}, read as {formats}"
    if key == "result_of" and isinstance(value, Mapping):
        return WORDS[key] + left_out, f"{value.get('call')}{f' at {one}' if (one := value.get('pointer')) else ''}"
    if key == "fields" and isinstance(value, Mapping):
        inner = ", ".join(
            " ".join([name, *(part for part in matcher_words(one, show) if part)]) for name, one in value.items()
        )
        return "by field" + left_out, f"{{{inner}}}"
    return WORDS.get(key, key) + left_out, show(value)


def shown_whole(value: Any) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)


def shown(value: Any) -> str:
    """Return a value as short JSON."""
    text = shown_whole(value)
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"


def _tools(trajectory: JsonMapping) -> str:
    ordered = [
        " and ".join(_tool(call) for call in step["any_order"]) if "any_order" in step else _tool(step)
        for step in trajectory.get("ordered") or []
    ]
    parts = [", then ".join(ordered)] if ordered else []
    parts += [_tool(call) for call in trajectory.get("unordered") or []]
    return " and ".join(parts) or "anything allowed"


def _tool(expected: JsonMapping) -> str:
    return " or ".join(call["tool"] for call in _options(expected))


def _options(expected: JsonMapping) -> Sequence[JsonMapping]:
    """Return the calls of which one is expected: just the one, unless there is a choice."""
    return expected.get("one_of_calls") or [expected]


def _calls(trajectory: JsonMapping) -> list[CallWords]:
    calls: list[CallWords] = []
    for number, step in enumerate(trajectory.get("ordered") or []):
        if "any_order" in step:
            calls += [words for call in step["any_order"] for words in _choice(call, "in any order")]
        else:
            calls += _choice(step, "then" if number else "")
    for call in trajectory.get("unordered") or []:
        calls += _choice(call, "anywhere" if calls else "")
    calls += [_call(call, "must not call") for call in trajectory.get("disallowed") or []]
    return calls


def _choice(expected: JsonMapping, before: str) -> list[CallWords]:
    first, *others = _options(expected)
    return [_call(first, before), *(_call(call, "or") for call in others)]


def _call(call: JsonMapping, before: str) -> CallWords:
    arguments = tuple(
        ArgumentWords(name, "" if by == "equals" else by, value)
        for name, (by, value) in ((name, matcher_words(one)) for name, one in (call.get("arguments") or {}).items())
    )
    return CallWords(str(call.get("tool", "?")), arguments, before, more=bool(call.get("additional_arguments", True)))


def _beside(document: JsonMapping) -> list[str]:
    beside = []
    if any(one.get("additional_calls", True) for one in document.get("alternatives") or []):
        beside.append("Further calls may follow.")
    if document.get("profile"):
        beside.append(f"Values are compared by the profile {document['profile']}.")
    if document.get("reactions"):
        beside.append(f"Right reactions to an error: {', '.join(map(str, document['reactions']))}.")
    if document.get("answer"):
        beside.append(f"The answer: {shown(document['answer'])}.")
    if document.get("state") is not None:
        beside.append(f"The final state: {shown(document['state'])}.")
    return beside
