"""Gives the verdicts of the Berkeley Function-Calling Leaderboard's own checker, for its Python categories.

Reproduced from `bfcl-eval` 2026.3.23 (Apache-2.0), faults included: parallel calls are matched greedily in the order
of the gold, types are Python's, and values compare by Python's `==` (so `True` is `1` inside a list). There is no
schema gate. Our own grading of the same examples is the profile `bfcl`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.dialects.plain_calls import RAISED
from toolevals.grading.matching.equality import bfcl_text
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.json_types import JsonMapping, JsonValue

CATEGORIES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)

TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
NESTED = frozenset({"array", "tuple"})

Call = JsonMapping
"""`{name: {parameter: value}}`"""


@dataclass(frozen=True, slots=True)
class DialectVerdict:
    """The checker's answer: `error_type` is None where `valid`, which is None where `unscored` says why.

    `reason` says where the states of a conversation of several turns differ.
    """

    id: str
    valid: bool | None
    error_type: str | None
    reason: str | None = None
    unscored: str | None = None


def check_row(row: JsonValue) -> DialectVerdict:
    """Check a row `{id, category, functions, possible_answer, prediction, underscore_names}`.

    A Python tuple is written `{"$tuple": [...]}`. Where the original raises, as on a type that it does not know, the
    row is invalid and the error type is `checker_exception:` with the exception's name. Without `underscore_names` the
    calls tell whether names have underscores for dots. Raises InvalidDocument where the row is not of this form.
    """
    problems = [
        (key, kind)
        for key, kind in (("id", str), ("category", str), ("functions", list), ("possible_answer", list))
        if not isinstance(row, Mapping) or not isinstance(row.get(key), kind)
    ]
    if problems:
        key, kind = problems[0]
        raise InvalidDocument.at(pointer_to([key]), f"is not a {kind.__name__}")
    if row["category"] not in CATEGORIES:
        raise InvalidDocument.at("/category", f"{row['category']} is not one of {', '.join(CATEGORIES)}")
    prediction = with_tuples(row.get("prediction"))
    try:
        underscores = names_are_underscored(row)
        error = check(row["category"], row["functions"], row["possible_answer"], prediction, underscores=underscores)
    except RAISED as crash:
        error = f"checker_exception:{type(crash).__name__}"
    return DialectVerdict(row["id"], error is None, error)


def names_are_underscored(row: JsonMapping) -> bool:
    """Return whether hosted models were given the functions' names with underscores for dots.

    `underscore_names` says it; a row without it is told by its calls, as on the page: one is named so.
    """
    if row.get("underscore_names") is not None:
        return bool(row["underscore_names"])
    names = {each["name"] for each in row["functions"]}
    underscored = {name.replace(".", "_") for name in names} - names
    made = row.get("prediction")
    calls = made if isinstance(made, list) else ()
    return any(not underscored.isdisjoint(call) for call in calls if isinstance(call, Mapping))


def check(
    category: str,
    functions: Sequence[JsonMapping],
    possible_answer: Sequence[Call],
    prediction: Any,
    *,
    underscores: bool = False,
) -> str | None:
    """Return the checker's error type, None where the prediction (a list of calls) is valid. May raise as it does.

    `underscores` says that dots in the functions' names become underscores first, as hosted models need it.
    """
    if not is_list_of_calls(prediction):
        return "ast_decoder:decoder_wrong_output_format"
    if "parallel" in category:
        return _check_parallel(functions, possible_answer, prediction, underscores)
    if "multiple" in category:
        if len(prediction) != len(possible_answer):
            return "multiple_function_checker:wrong_count"
        function = described(functions, possible_answer[0])
    else:
        if len(prediction) != 1:
            return "simple_function_checker:wrong_count"
        function = functions[0]
    return check_call(function, prediction[0], possible_answer[0], underscores)


def with_tuples(value: object) -> Any:
    """Return a row's value with the tuples that its `{"$tuple": [...]}` stand for."""
    if isinstance(value, dict):
        if value.keys() == {"$tuple"} and isinstance(value["$tuple"], list):
            return tuple(with_tuples(item) for item in value["$tuple"])
        return {key: with_tuples(item) for key, item in value.items()}
    return [with_tuples(item) for item in value] if isinstance(value, list) else value


def is_list_of_calls(prediction: object) -> bool:
    """Tell whether a prediction has the form that the original decodes answers to."""
    if type(prediction) is not list:
        return False
    for call in prediction:
        if type(call) is not dict or len(call) != 1:
            return False
        for arguments in call.values():
            if type(arguments) is not dict:
                return False
    return True


def first(items: Iterable[object]) -> Any:
    """Return the first of what an expected call holds. Raises IndexError on an empty one, as the original does."""
    for item in items:
        return item
    raise IndexError("an expected call is empty")


def described(functions: Sequence[JsonMapping], expected: Call) -> Any:
    """Return the description of the expected call's function, None where there is none."""
    name = first(expected.keys())
    return next((function for function in functions if function["name"] == name), None)


def _check_parallel(
    functions: Sequence[JsonMapping], expected: Sequence[Call], prediction: Sequence[Call], underscores: bool
) -> str | None:
    if len(prediction) != len(expected):
        return "parallel_function_checker_no_order:wrong_count"
    left = list(prediction)
    for wanted in expected:
        function = described(functions, wanted)
        for place, call in enumerate(left):
            if check_call(function, call, wanted, underscores) is None:
                del left[place]
                break
        else:
            return "parallel_function_checker_no_order:cannot_find_match"
    return None


def check_call(function: JsonMapping, call: Call, expected: Call, underscores: bool) -> str | None:
    """Return the error type of one call, None where it is as expected. May raise as the original does."""
    name = function["name"].replace(".", "_") if underscores else function["name"]
    if name not in call:
        return "simple_function_checker:wrong_func_name"
    arguments, allowed = call[name], first(expected.values())
    parameters = function["parameters"]
    for parameter in parameters["required"]:
        if parameter not in arguments:
            return "simple_function_checker:missing_required"
    described = parameters["properties"]
    for parameter, value in arguments.items():
        if parameter not in described or parameter not in allowed:
            return "simple_function_checker:unexpected_param"
        if error := check_argument(described[parameter], value, allowed[parameter]):
            return error
    for parameter, values in allowed.items():
        if parameter not in arguments and "" not in values:
            return "simple_function_checker:missing_optional"
    return None


def check_argument(described: JsonMapping, value: JsonValue, allowed: Sequence[Any]) -> str | None:
    """Return the error type of one argument, given its part of the schema. May raise as the original does."""
    written = described["type"]
    expected = TYPES[written]
    nested = TYPES[described["items"]["type"]] if written in NESTED else None
    if written == "tuple" and type(value) is tuple:
        value = list(value)
    elif written == "float" and type(value) is int:
        value = float(value)
    error, is_variable = _check_type(value, allowed, expected, nested)
    if error:
        return error
    if not is_variable:
        if expected is dict:
            return _check_object(value, allowed)
        if expected is list and nested is dict:
            return _check_objects(value, allowed)
        if expected is str:
            return None if value in allowed or bfcl_text(value) in plain_list(allowed) else "value_error:string"
        if expected is list:
            return None if plain_list(value) in [plain_list(gold) for gold in allowed] else "value_error:list/tuple"
    return None if value in allowed else "value_error:others"


def plain(value: object) -> Any:
    """Return a value as it is compared: text in its plain form."""
    return bfcl_text(value) if type(value) is str else value


def plain_list(values: Sequence[object]) -> list[Any]:
    """Return the values of a list as they are compared. Raises KeyError on an object, as the original does."""
    if isinstance(values, dict):
        return [plain(values[place]) for place in range(len(values))]
    return [plain(value) for value in values]


def _check_type(
    value: JsonValue, allowed: Sequence[Any], expected: type, nested: type | None
) -> tuple[str | None, bool]:
    """Return the error, and whether the gold names a variable: the first allowed value is not of the expected type."""
    gold = type_of_gold(allowed)
    error = "type_error:simple"
    inside = value
    if type(value) is expected:
        is_variable = gold is not None and gold is not expected
        if nested is None or any(_items_fit(inside, item, nested) for item in allowed):
            return None, is_variable
        error = "type_error:nested"
    if gold is not None and type(value) is gold:
        # Found wrong inside, and for all that of the gold's type: the checker keeps the error of the inside.
        return (None if error == "type_error:simple" else error), True
    return "type_error:simple", False


def type_of_gold(allowed: Sequence[object]) -> type | None:
    """Return the type of the first allowed value that is not the mark of an optional parameter."""
    for item in allowed:
        if item != "":
            return type(item)
    return None


def _items_fit(values: Sequence[object], allowed: object, nested: type) -> bool:
    if type(allowed) is not list:
        return True
    return all(_check_type(value, allowed, nested, None)[0] is None for value in values)


def _check_object(value: JsonMapping, allowed: Sequence[Any]) -> str | None:
    error = "dict_checker:unclear"
    for gold in allowed:
        if gold == "":
            continue
        found = _object_error(value, gold)
        if found is None:
            return None
        error = found
    return error


def _object_error(value: JsonMapping, gold: JsonMapping) -> str | None:
    error: str | None = None
    for key, item in value.items():
        if key not in gold:
            error = "value_error:dict_key"
            break
        if plain(item) not in plain_list(gold[key]):
            error = "value_error:dict_value"
            break
    if any(key not in value and "" not in items for key, items in gold.items()):
        return "value_error:dict_key"
    return error


def _check_objects(values: Sequence[Any], allowed: Sequence[Any]) -> str | None:
    error = "list_dict_checker:unclear"
    for gold in allowed:
        if len(values) != len(gold):
            error = "value_error:list_dict_count"
            continue
        found = (_check_object(value, [item]) for value, item in zip(values, gold, strict=True))
        first = next((each for each in found if each is not None), None)
        if first is None:
            return None
        error = first
    return error
