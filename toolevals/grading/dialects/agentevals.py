"""Reproduces `create_trajectory_match_evaluator` of `agentevals` 0.0.9 (MIT), faults included.

Calls are matched greedily, so that a broad match can take the call that a narrow one needed. A subset trajectory swaps
the two sides, which turns the argument modes subset and superset around; unordered wants both directions, which
leaves of them only exact. Values compare by Python's `==`, at the top level of the arguments. Strict goes message by
message: roles count, words do not, and the same calls in one message or in two are different.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from toolevals.grading.dialects.plain_calls import ValidationError
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

TrajectoryMode = Literal["strict", "unordered", "subset", "superset"]
ArgumentMode = Literal["exact", "ignore", "subset", "superset"]
_Arguments: TypeAlias = JsonObject
_Matcher: TypeAlias = Callable[[_Arguments, _Arguments], bool]
_Call: TypeAlias = tuple[str, _Arguments]

_ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "system": "system",
    "developer": "developer",
    "function": "function",
    "tool": "tool",
}


@dataclass(frozen=True, slots=True)
class TrajectoryMatch:
    """The evaluator's options.

    An override is a tool's own argument mode, or a list of dotted paths at which the arguments must agree; an empty
    one is passed over, as the original does.
    """

    trajectory_match_mode: TrajectoryMode = "strict"
    tool_args_match_mode: ArgumentMode = "exact"
    tool_args_match_overrides: JsonMapping | None = None

    def score(self, expected: object, actual: object) -> bool:
        """Tell whether the trajectories match.

        Both are lists of chat messages, `{"messages": [...]}`, one message, or None for none. A call is OpenAI's
        `{"function": {"name", "arguments": "JSON"}}` or `{"name", "args"}`. Raises what the original raises on
        others: ValidationError, ValueError (JSONDecodeError among them), KeyError, AttributeError, TypeError.
        """
        wanted, made = _messages(expected), _messages(actual)
        if self.trajectory_match_mode == "strict":
            return self._strict(wanted, made)
        covers = self._covers(wanted, made) if self.trajectory_match_mode != "subset" else True
        covered = self._covers(made, wanted) if covers and self.trajectory_match_mode != "superset" else True
        return covers and covered

    def _strict(self, expected: list[_Message], actual: list[_Message]) -> bool:
        return len(expected) == len(actual) and all(
            one.role == other.role and len(one.calls) == len(other.calls) and self._same_calls(other.calls, one.calls)
            for one, other in zip(expected, actual, strict=True)
        )

    def _same_calls(self, actual: list[_Call], expected: list[_Call]) -> bool:
        """Tell whether every call made takes an expected one of its own, first fit."""
        left = list(expected)
        for name, arguments in actual:
            fits = self._matcher(name)
            place = next((at for at, (other, args) in enumerate(left) if other == name and fits(arguments, args)), None)
            if place is None:
                return False
            del left[place]
        return True

    def _covers(self, expected: list[_Message], actual: list[_Message]) -> bool:
        """Tell whether every wanted call takes a made one of its own, first fit."""
        left = [call for message in actual for call in message.calls]
        for name, arguments in (call for message in expected for call in message.calls):
            fits = self._matcher(name)
            place = next((at for at, (other, args) in enumerate(left) if other == name and fits(args, arguments)), None)
            if place is None:
                return False
            del left[place]
        return True

    def _matcher(self, name: str) -> _Matcher:
        override = (self.tool_args_match_overrides or {}).get(name)
        if not override:
            return _MATCHERS[self.tool_args_match_mode]
        if isinstance(override, list):
            return _agree_at(override)
        if isinstance(override, str):
            # A mode that the original does not know ignores the arguments there.
            return _MATCHERS.get(override, _ignore)
        raise ValueError(f"{override!r} is not an override")


@dataclass(frozen=True, slots=True)
class _Message:
    role: str
    calls: list[_Call]


def _messages(given: object) -> list[_Message]:
    if given is None:
        return []
    if isinstance(given, Mapping):
        if "role" not in given and "messages" not in given:
            raise ValueError("neither a message nor an object with messages")
        given = [given] if "role" in given else given["messages"]
    return [_message(message) for message in (given if isinstance(given, list) else [given])]


def _message(message: object) -> _Message:
    if not isinstance(message, Mapping):
        raise TypeError("a message is not an object")
    role = message["role"] if isinstance(message.get("role"), str) else ""
    if role not in _ROLES:
        raise ValueError(f"{role!r} is not a role")
    # Calls of any other role are read nowhere.
    calls = message.get("tool_calls") if _ROLES[role] == "assistant" else None
    return _Message(_ROLES[role], [_call(call) for call in calls or ()])


def _call(call: object) -> _Call:
    if not isinstance(call, Mapping):
        raise TypeError("a call is not an object")
    if "function" in call:
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        if isinstance(arguments, str):
            arguments = json.loads(arguments, strict=False)
    else:
        name, arguments = call.get("name"), call.get("args")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ValidationError("a call's name is not text or its arguments are not an object")
    return name, arguments


def _exact(actual: _Arguments, expected: _Arguments) -> bool:
    return actual == expected


def _ignore(actual: _Arguments, expected: _Arguments) -> bool:
    return True


def _subset(actual: _Arguments, expected: _Arguments) -> bool:
    return all(key in expected and bool(expected[key] == value) for key, value in actual.items())


def _superset(actual: _Arguments, expected: _Arguments) -> bool:
    return _subset(expected, actual)


_MATCHERS: Mapping[str, _Matcher] = {"exact": _exact, "ignore": _ignore, "subset": _subset, "superset": _superset}


def _agree_at(paths: Sequence[str]) -> _Matcher:
    def matches(actual: _Arguments, expected: _Arguments) -> bool:
        return all(bool(_at(actual, path) == _at(expected, path)) for path in paths)

    return matches


def _at(arguments: _Arguments, path: str) -> Any:
    """Return the value at a dotted path; None where there is none, as where it is null."""
    value: JsonValue = arguments
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            return None
    return value
