"""Tell what a simulator's task expects, as an expectation: its actions, and what the answer must say.

The benchmarks replay the actions and compare the final states, so that other calls may come, and by default the
actions in any order. A task without actions says nothing about calls: any may come.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolevals.grading.values import CallExpectation, Expectation, Trajectory
from toolevals.grading.values.matchers import Exact
from toolevals.grading.values.problems import InvalidDocument
from toolevals.grading.values.verdicts import read_decided_by

# tau-bench compares the end states, and looks for what must be told.
TAU_DECIDED_BY = "end_state+answer"
# What tau2-bench multiplies into a reward -> the part that says the same.
_DECIDES: Mapping[str, str] = {"DB": "end_state", "COMMUNICATE": "answer", "ACTION": "calls"}


def tau_expectation(task: Mapping[str, Any], ordered: bool) -> Expectation:
    """Return what a tau-bench task expects: `actions` of name and `kwargs`, and `outputs`."""
    actions = _items(task.get("actions"), "/info/task/actions")
    calls = tuple(_call(each, "kwargs", f"/info/task/actions/{place}") for place, each in enumerate(actions))
    return _expectation(calls, ordered, _items(task.get("outputs"), "/info/task/outputs"))


def tau2_expectation(task: Mapping[str, Any], ordered: bool) -> tuple[Expectation | None, str]:
    """Return what a tau2-bench task expects (None where it does not say), and its reasons in words.

    Actions that the simulated user is to make are not the agent's. What only a judge can check stands in the reasons.
    """
    criteria = task.get("evaluation_criteria")
    reasons = _reasons(task, criteria)
    if criteria is None:
        return None, reasons
    if not isinstance(criteria, Mapping):
        raise InvalidDocument.at("/evaluation_criteria", "is not an object")
    actions = _items(criteria.get("actions"), "/evaluation_criteria/actions")
    calls = tuple(
        _call(each, "arguments", f"/evaluation_criteria/actions/{place}")
        for place, each in enumerate(actions)
        if not isinstance(each, Mapping) or each.get("requestor", "assistant") != "user"
    )
    told = _items(criteria.get("communicate_info"), "/evaluation_criteria/communicate_info")
    return _expectation(calls, ordered, told), reasons


def tau2_decided_by(task: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Return what decides a tau2-bench task by its `reward_basis`, and what of it only its own checks can tell.

    Without a basis it is the end state and the answer, as the benchmark has it by default.
    """
    criteria = task.get("evaluation_criteria")
    basis = criteria.get("reward_basis") if isinstance(criteria, Mapping) else None
    names = [str(each) for each in basis] if isinstance(basis, list) and basis else ["DB", "COMMUNICATE"]
    parts = dict.fromkeys(_DECIDES[each] for each in names if each in _DECIDES)
    return read_decided_by("+".join(parts)), tuple(each for each in names if each not in _DECIDES)


def _expectation(calls: tuple[CallExpectation, ...], ordered: bool, told: list[Any]) -> Expectation:
    trajectory = Trajectory(ordered=calls) if ordered or len(calls) == 1 else Trajectory(unordered=calls)
    texts = [str(each) for each in told if str(each)]
    return Expectation("calls", alternatives=(trajectory,), answer={"contains": texts} if texts else None)


def _call(action: Any, key: str, pointer: str) -> CallExpectation:
    if not isinstance(action, Mapping) or not isinstance(action.get("name"), str) or not action["name"]:
        raise InvalidDocument.at(pointer, "is not an action with a name")
    arguments = action.get(key) or {}
    if not isinstance(arguments, Mapping):
        raise InvalidDocument.at(f"{pointer}/{key}", "is not an object")
    # tau2 may compare some of the arguments only.
    compared = action.get("compare_args")
    names = list(arguments) if compared is None else [name for name in compared if name in arguments]
    matchers = {name: Exact(arguments[name]) for name in names}
    return CallExpectation(action["name"], matchers, additional_arguments=compared is not None)


def _items(value: Any, pointer: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidDocument.at(pointer, "is not a list")
    return value


def _reasons(task: Mapping[str, Any], criteria: Any) -> str:
    description = task.get("description")
    purpose = description.get("purpose") if isinstance(description, Mapping) else description
    judged = criteria.get("nl_assertions") if isinstance(criteria, Mapping) else None
    lines = [purpose] if isinstance(purpose, str) else []
    lines += [each for each in judged if isinstance(each, str)] if isinstance(judged, list) else []
    return "\n".join(lines)
