"""Define the keyboard of the work pages: actions, their usual keys, and each person's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

LABEL, ADJUDICATE = "label", "adjudicate"
BOTH = (LABEL, ADJUDICATE)

# A key press as the pages name it: modifiers in this order, then the key in lower case.
PRESS = re.compile(r"(ctrl\+)?(shift\+)?(\S|f\d{1,2}|arrow(?:up|down|left|right)|enter|home|end|page(?:up|down))")
# What fields and browsers need for themselves.
RESERVED = frozenset(
    {
        "enter",
        "shift+enter",
        "?",
        "ctrl+c",
        "ctrl+v",
        "ctrl+x",
        "ctrl+z",
        "ctrl+a",
        "ctrl+n",
        "ctrl+t",
        "ctrl+w",
        "ctrl+q",
    }
    | {str(digit) for digit in range(10)}
)
SHOWN = {
    "ctrl": "Ctrl",
    "alt": "Alt",
    "shift": "⇧",
    "enter": "↵",
    "arrowup": "↑",
    "arrowdown": "↓",
    "arrowleft": "←",
    "arrowright": "→",
    "escape": "Esc",
    "tab": "Tab",
}


@dataclass(frozen=True, slots=True)
class Action:
    """Something that a key does. One without a name always has its keys, which are shown as they stand."""

    title: str
    key: str
    name: str = ""
    pages: tuple[str, ...] = (LABEL,)


@dataclass(frozen=True, slots=True)
class Binding:
    """An action with the key that it has for one person."""

    action: Action
    key: str

    @property
    def caps(self) -> list[str]:
        """The key as it is drawn, a cap each."""
        return caps(self.key)

    @property
    def is_own(self) -> bool:
        """Return whether it is another key than the usual one."""
        return self.key != self.action.key


ACTIONS = (
    Action("No call", "0", pages=BOTH),
    Action("Choose tool 1 to 9", "1 … 9", pages=BOTH),
    Action("Find a tool", "/", "find_tool", BOTH),
    Action("Find in the conversation", "c", "find_text", BOTH),
    Action("Next, previous field", "tab shift+tab", pages=BOTH),
    Action("Value from the conversation, then its letter", "v", "value", BOTH),
    Action("In an empty field: suggest a value", "arrowdown"),
    Action("How this argument is compared", "m", "matcher", BOTH),
    Action("JSON, and back", "j", "json", BOTH),
    Action("Any call", "y", "any_call", BOTH),
    Action("Ambiguous", "a", "ambiguous"),
    Action("The right tool is missing", "t", "missing_tool"),
    Action("Add a call after this one", "+", "then", BOTH),
    Action("Another call, in any order with this one", "i", "beside", BOTH),
    Action("Or another alternative", "o", "alternative", BOTH),
    Action("Add a call that must not happen", "d", "disallowed", BOTH),
    Action("Previous call", "h", "previous_call", BOTH),
    Action("Next call", "w", "next_call", BOTH),
    Action("Position of this call", "p", "place", BOTH),
    Action("Move this call up", "shift+arrowup", "call_up", BOTH),
    Action("Move this call down", "shift+arrowdown", "call_down", BOTH),
    Action("Remove this call", "x", "remove_call", BOTH),
    Action("More expectations: reactions, answer, final state", "l", "also", BOTH),
    Action("Rationale", "r", "rationale", BOTH),
    Action("Guidelines", "g", "guide", BOTH),
    Action("Questions", "q", "ask", BOTH),
    Action("Skip", "s", "skip"),
    Action("Flag", "f", "flag"),
    Action("Undo", "u", "undo", BOTH),
    Action("Submit and next", "ctrl+enter", "submit"),
    Action("Previous difference", "arrowup", "previous", (ADJUDICATE,)),
    Action("Next difference", "arrowdown", "next", (ADJUDICATE,)),
    Action("Take left and continue", "arrowleft", "left", (ADJUDICATE,)),
    Action("Take right and continue", "arrowright", "right", (ADJUDICATE,)),
    Action("Take left, right", "1 2", pages=(ADJUDICATE,)),
    Action("Both are right", "b", "both", (ADJUDICATE,)),
    Action("All left", "shift+arrowleft", "all_left", (ADJUDICATE,)),
    Action("All right", "shift+arrowright", "all_right", (ADJUDICATE,)),
    Action("Edit the gold as JSON, and back", "e", "edit", (ADJUDICATE,)),
    Action("In the form, and back", "n", "afresh", (ADJUDICATE,)),
    Action("Set aside: ambiguous", "a", "ambiguous", (ADJUDICATE,)),
    Action("Set aside: the right tool is missing", "t", "missing_tool", (ADJUDICATE,)),
    Action("Another answer on the left", ",", "other_left", (ADJUDICATE,)),
    Action("Another answer on the right", ".", "other_right", (ADJUDICATE,)),
    Action("Insert a standard rationale (also while typing)", "alt+1 … 5", pages=(ADJUDICATE,)),
    Action("Keep the disputed gold", "k", "keep", (ADJUDICATE,)),
    Action("Decide later", "s", "later", (ADJUDICATE,)),
    Action("Decide and next", "ctrl+enter", "decide", (ADJUDICATE,)),
    Action("Back to the last one", "alt+arrowleft", pages=BOTH),
    Action("Leave a field, close a pane", "escape", pages=BOTH),
    Action("Keyboard shortcuts", "?", pages=BOTH),
)


def caps(key: str) -> list[str]:
    """Return a key's name as it is drawn: "ctrl+enter" as "Ctrl", "↵"; several keys one after the other."""
    return [_cap(part) for press in key.split(" ") for part in (press.split("+") if len(press) > 1 else [press])]


def bindings_of(own: Mapping[str, str], page: str) -> list[Binding]:
    """Return what can be done on a page, each with its key; `own` holds a person's keys by the action's name."""
    return [Binding(action, own.get(action.name, action.key)) for action in ACTIONS if page in action.pages]


def moved_keys(own: Mapping[str, str], page: str) -> list[dict[str, str]]:
    """Return the keys of a page that are others for this person: `usual` and `own`, and how the page draws both."""
    return [
        {
            "usual": one.action.key,
            "own": one.key,
            "drawn": " ".join(caps(one.action.key)),
            "redrawn": " ".join(one.caps),
        }
        for one in bindings_of(own, page)
        if one.is_own
    ]


def binding_problems(own: Mapping[str, str]) -> dict[str, str]:
    """Return what is wrong with a person's keys, a sentence for each action's name."""
    names = {action.name: action for action in ACTIONS if action.name}
    problems = {name: "This action does not exist." for name in own if name not in names}
    for name, key in own.items():
        if name in names and (problem := _problem(key)):
            problems[name] = problem
    for page in BOTH:
        taken: dict[str, Binding] = {}
        for binding in bindings_of(own, page):
            other = taken.setdefault(binding.key, binding)
            if other is not binding:
                mine, theirs = (binding, other) if binding.is_own else (other, binding)
                words = f"“{theirs.action.title}” has {' '.join(mine.caps)} already."
                problems.setdefault(mine.action.name or theirs.action.name, words)
    return problems


def _problem(key: str) -> str:
    if PRESS.fullmatch(key) is None:
        return "Name a key such as x, shift+x or ctrl+enter."
    if key in RESERVED:
        return f"{' '.join(caps(key))} is reserved for fields, tools or the browser."
    return ""


def _cap(part: str) -> str:
    return SHOWN.get(part, part.upper() if len(part) <= 3 else part)
