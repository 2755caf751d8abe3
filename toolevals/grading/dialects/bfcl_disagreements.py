"""Tell why the leaderboard's checker and our grading under the profile `bfcl` differ on one of its rows.

The reasons are those of `disagreements`, found in the same way: where the checker is the stricter one, the prediction
is changed in one respect at a time to what was expected.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from toolevals.grading.alignment.assignment import best_assignment
from toolevals.grading.dialects.bfcl import check, check_row, is_list_of_calls, names_are_underscored, with_tuples
from toolevals.grading.dialects.disagreements import LAXER, STRICTER, Disagreement
from toolevals.grading.dialects.plain_calls import attempt
from toolevals.grading.engine.grading import compile_case, grade_calls
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.reading.bfcl import bfcl_example
from toolevals.grading.reading.examples import ExampleRow
from toolevals.grading.values import Expectation, ToolCall, Trajectory

_PROFILE = PROFILES["bfcl"]
_Calls = Sequence[Mapping[str, Any]]


def bfcl_disagreement(row: Any) -> Disagreement | None:
    """Return why we and the checker differ on a row of `check_row`; None where they agree.

    None too where the prediction is no list of calls, which neither passes, and where no reason of the table holds.
    Raises InvalidDocument where the row, its functions or its answers are not of their form.
    """
    is_valid = check_row(row).valid
    made = with_tuples(row.get("prediction"))
    if not is_list_of_calls(made):
        return None
    example = bfcl_example(
        {"id": row["id"], "question": [], "function": row["functions"]},
        {"ground_truth": row["possible_answer"]},
        row["category"],
    )
    calls = _calls(made, row)
    mode = _mode(example.expectation, example, calls)
    if (mode == "") is is_valid:
        return None
    if mode:
        return Disagreement(mode, LAXER[mode]) if mode in LAXER else None
    name = _stricter(row, made, _partners(example, calls))
    return Disagreement(name, STRICTER[name])


def _mode(expectation: Expectation | None, example: ExampleRow, calls: Sequence[ToolCall]) -> str:
    """Return what is wrong by our own grading, empty where nothing is."""
    if expectation is None or not isinstance(example.tools, list):
        return ""
    return grade_calls(compile_case(expectation, example.tools), calls).mode


def _calls(made: _Calls, row: Mapping[str, Any]) -> list[ToolCall]:
    """Return the calls as ours, with the dots in the functions' names where hosted models need underscores."""
    dotted = {each["name"].replace(".", "_"): each["name"] for each in row["functions"]}
    names = dotted if names_are_underscored(row) else {}
    return [ToolCall(names.get(name, name), _listed(arguments)) for call in made for name, arguments in call.items()]


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value] if isinstance(value, list | tuple) else value


def _partners(example: ExampleRow, calls: Sequence[ToolCall]) -> list[int]:
    """Return by the place of an expected call that of the call which is it, where all of them are met."""
    expectation = example.expectation
    trajectory = expectation.alternatives[0] if expectation else Trajectory()
    alone = (
        Expectation("calls", alternatives=(Trajectory(ordered=(each,), additional_calls=False),), profile="bfcl")
        for each in trajectory.calls
    )
    weights = [[int(not _mode(each, example, [call])) for call in calls] for each in alone]
    return [place for place in best_assignment(weights) if place is not None]


def _stricter(row: Mapping[str, Any], made: _Calls, partners: Sequence[int]) -> str:
    answers: _Calls = row["possible_answer"]
    written = list(made)
    for answer, place in zip(answers, partners, strict=True):
        ((name, allowed),) = answer.items()
        (arguments,) = made[place].values()
        name = name.replace(".", "_") if names_are_underscored(row) else name
        written[place] = {name: _as_expected(allowed, arguments)}
    changes: tuple[tuple[str, Callable[[], _Calls]], ...] = (
        ("values", lambda: written),
        ("order", lambda: [made[place] for place in partners]),
        ("several", lambda: [written[place] for place in partners]),
    )
    for name, changed in changes:
        if _passes(row, changed()):
            return name
    return "never_full"


def _passes(row: Mapping[str, Any], made: _Calls) -> bool:
    underscores = names_are_underscored(row)
    found = attempt(
        lambda: check(row["category"], row["functions"], row["possible_answer"], list(made), underscores=underscores)
    )
    return found is None


def _as_expected(allowed: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with every value written as the allowed one that it equals."""
    return {name: _choice(allowed[name], value) if name in allowed else value for name, value in made.items()}


def _choice(allowed: Any, made: Any) -> Any:
    if not isinstance(allowed, list):
        return allowed
    ways = [_nearest(each, made) for each in allowed]
    return next((way for way in ways if _PROFILE.equal(way, made)), made)


def _nearest(allowed: Any, made: Any) -> Any:
    """Return one allowed value, an object's own choices made as the prediction makes them."""
    if isinstance(allowed, dict) and isinstance(made, dict):
        return _as_expected(allowed, made)
    if isinstance(allowed, list) and isinstance(made, list | tuple) and len(allowed) == len(made):
        return [_nearest(each, value) for each, value in zip(allowed, made, strict=True)]
    return allowed
