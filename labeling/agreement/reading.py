"""Read what a label says, in a form that can be counted: its tool choice, its meaning, its arguments. Plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from labeling.coverage.expected import ANY_CALL, NO_CALL, calls_of
from labeling.expectations.meaning import meaning
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.matching.equivalence import arguments_form
from toolevals.grading.values import Expectation, options_of
from toolevals.grading.values.canonical import digest

LONGEST_TOOL: Final = 200
DIGEST: Final = 32
BETWEEN: Final = " + "


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a label.

    `tool` is the class of its tool choice: a tool, several as "a + b" in the order of their names, `(none)`, `(any)`,
    `(ambiguous)` or `(missing_tool)`. `meaning` is a digest that only equivalent labels share. `arguments` holds, by
    tool and argument, a digest of what the argument must be; without those of which nothing is said.
    """

    tool: str
    meaning: str
    arguments: Mapping[str, Mapping[str, str]]


def read_label(answer: str, expectation: dict[str, Any] | None) -> Reading:
    """Return what an answer says; of an expectation the tools and arguments of its first alternative count."""
    said = sha256(meaning(answer, expectation).encode()).hexdigest()[:DIGEST]
    arguments = _arguments(Expectation.from_document(expectation)) if expectation is not None else {}
    return Reading(tool_said(answer, expectation), said, arguments)


def tool_said(answer: str, expectation: Mapping[str, Any] | None) -> str:
    """Return the class of the tool choice of an answer: `Reading.tool`."""
    if expectation is None:
        return f"({answer})"
    if expectation.get("kind") == "no_call":
        return NO_CALL
    return tool_class({call["tool"] for call in calls_of(expectation)}) or ANY_CALL


def tool_class(tools: Iterable[str]) -> str:
    """Return the class of a choice of tools; a name that is too long is cut, with a digest that keeps it apart."""
    name = BETWEEN.join(sorted(tools))
    if len(name) <= LONGEST_TOOL:
        return name
    end = f"… {sha256(name.encode()).hexdigest()[:12]}"
    return name[: LONGEST_TOOL - len(end)] + end


def _arguments(expectation: Expectation) -> dict[str, dict[str, str]]:
    """Return the digests by tool and argument; of a tool that is called more than once, those of all its calls."""
    profile = PROFILES[expectation.profile]
    forms: dict[str, dict[str, list[Any]]] = {}
    for expected in expectation.alternatives[0].expected if expectation.alternatives else ():
        for call in options_of(expected):
            of_tool = forms.setdefault(call.tool, {})
            for name, form in arguments_form(call.arguments, call.additional_arguments, profile).items():
                of_tool.setdefault(name, []).append(form)
    return {tool: {name: digest(found)[:DIGEST] for name, found in named.items()} for tool, named in forms.items()}
