"""Runs the leaderboard's checker for many predictions on one entry: the gold is prepared once.

`compile_bfcl(category, functions, possible_answer).check(prediction)` is `bfcl.check` with the same verdicts, error
types and exceptions, at several times its rate. What is out of the ordinary, in the entry or in a value, is left to
`bfcl.check` itself, so that there is one place that says what its faults are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from toolevals.grading.dialects.bfcl import (
    NESTED,
    TYPES,
    Call,
    check_argument,
    check_call,
    described,
    first,
    is_list_of_calls,
    plain,
    plain_list,
    type_of_gold,
)
from toolevals.grading.dialects.plain_calls import RAISED
from toolevals.grading.matching.equality import bfcl_text

_Check: TypeAlias = Callable[[Any], "str | None"]

_SIMPLE = "type_error:simple"
_OTHERS = "value_error:others"


@dataclass(frozen=True, slots=True)
class CompiledAnswer:
    """One entry's gold, ready for predictions. `wrong_count` is the error type where calls are missing or too many."""

    count: int
    wrong_count: str
    parallel: bool
    calls: tuple[_Check, ...]

    def check(self, prediction: Any) -> str | None:
        """Return the error type, None where the prediction is valid. Raises as `bfcl.check` does."""
        if not is_list_of_calls(prediction):
            return "ast_decoder:decoder_wrong_output_format"
        if len(prediction) != self.count:
            return self.wrong_count
        if not self.parallel:
            return self.calls[0](prediction[0])
        left = list(prediction)
        for check in self.calls:
            for place, call in enumerate(left):
                if check(call) is None:
                    del left[place]
                    break
            else:
                return "parallel_function_checker_no_order:cannot_find_match"
        return None


def compile_bfcl(
    category: str,
    functions: Sequence[Mapping[str, Any]],
    possible_answer: Sequence[Call],
    *,
    underscores: bool = False,
) -> CompiledAnswer:
    """Prepare an entry. The arguments are those of `bfcl.check`; what it raises on them is raised on checking."""
    parallel, multiple = "parallel" in category, "multiple" in category
    if parallel or multiple:
        kind = "parallel_function_checker_no_order" if parallel else "multiple_function_checker"
        wanted = possible_answer if parallel else possible_answer[:1]
        checks = tuple(_call_of(functions, each, underscores) for each in wanted)
        count = len(possible_answer)
    else:
        kind, count = "simple_function_checker", 1
        checks = (_simple(functions, possible_answer, underscores),)
    return CompiledAnswer(count, f"{kind}:wrong_count", parallel, checks)


def _call_of(functions: Sequence[Mapping[str, Any]], expected: Call, underscores: bool) -> _Check:
    try:
        return _call(described(functions, expected), expected, underscores)
    except RAISED:
        return lambda call: check_call(described(functions, expected), call, expected, underscores)


def _simple(functions: Sequence[Mapping[str, Any]], possible_answer: Sequence[Call], underscores: bool) -> _Check:
    try:
        return _call(functions[0], possible_answer[0], underscores)
    except RAISED:
        return lambda call: check_call(functions[0], call, possible_answer[0], underscores)


def _call(function: Mapping[str, Any], expected: Call, underscores: bool) -> _Check:
    name = function["name"].replace(".", "_") if underscores else function["name"]
    allowed: Mapping[str, Any] = first(expected.values())
    parameters = function["parameters"]
    required = tuple(parameters["required"])
    checks = {
        parameter: _argument(parameters["properties"][parameter], values)
        for parameter, values in allowed.items()
        if parameter in parameters["properties"]
    }
    due = tuple(parameter for parameter, values in allowed.items() if "" not in values)

    def check(call: Call) -> str | None:
        arguments = call.get(name)
        if arguments is None:
            return "simple_function_checker:wrong_func_name"
        for parameter in required:
            if parameter not in arguments:
                return "simple_function_checker:missing_required"
        for parameter, value in arguments.items():
            argument = checks.get(parameter)
            if argument is None:
                return "simple_function_checker:unexpected_param"
            if (error := argument(value)) is not None:
                return error
        for parameter in due:
            if parameter not in arguments:
                return "simple_function_checker:missing_optional"
        return None

    return check


def _argument(described: Mapping[str, Any], allowed: Any) -> _Check:
    """Return a parameter's check: a quick one where its form is ordinary, else the checker itself."""
    slow = partial(_as_written, described, allowed)
    try:
        return _quick(described, allowed, slow) or slow
    except RAISED:
        return slow


def _as_written(described: Mapping[str, Any], allowed: Any, value: Any) -> str | None:
    return check_argument(described, value, allowed)


def _quick(described: Mapping[str, Any], allowed: Any, slow: _Check) -> _Check | None:
    written = described["type"]
    expected, gold = TYPES[written], type_of_gold(allowed)
    if type(allowed) is not list or not allowed or (gold is not None and gold is not expected and written in NESTED):
        return None
    if written in NESTED:
        nested = TYPES[described["items"]["type"]]
        return _objects(allowed, slow) if nested is dict else _list(allowed, nested, slow)
    if gold is not None and gold is not expected:
        return _variable(expected, gold, allowed, floats=written == "float")
    if expected is str:
        return _text(allowed)
    if expected is dict:
        return _object(allowed)
    return _float(allowed) if expected is float else _scalar(expected, allowed)


def _text(allowed: list[Any]) -> _Check:
    texts = [each for each in allowed if type(each) is str]
    exact, plain_texts = frozenset(texts), frozenset(map(bfcl_text, texts))

    def check(value: Any) -> str | None:
        if type(value) is not str:
            return _SIMPLE
        return None if value in exact or bfcl_text(value) in plain_texts else "value_error:string"

    return check


def _scalar(expected: type, allowed: list[Any]) -> _Check:
    def check(value: Any) -> str | None:
        if type(value) is not expected:
            return _SIMPLE
        return None if value in allowed else _OTHERS

    return check


def _float(allowed: list[Any]) -> _Check:
    def check(value: Any) -> str | None:
        if type(value) is not float:
            if type(value) is not int:
                return _SIMPLE
            value = float(value)
        return None if value in allowed else _OTHERS

    return check


def _variable(expected: type, gold: type, allowed: list[Any], *, floats: bool) -> _Check:
    """Return the check where the gold is of another type than the schema's: a variable's name, or a whole float."""

    def check(value: Any) -> str | None:
        if floats and type(value) is int:
            value = float(value)
        if type(value) is not expected and type(value) is not gold:
            return _SIMPLE
        return None if value in allowed else _OTHERS

    return check


def _list(allowed: list[Any], nested: type, slow: _Check) -> _Check:
    golds = [plain_list(each) for each in allowed]

    def check(value: Any) -> str | None:
        if type(value) is not list:
            return slow(value)
        for item in value:
            if type(item) is not nested:
                return slow(value)
        if value in allowed or plain_list(value) in golds:
            return None
        return "value_error:list/tuple"

    return check


@dataclass(frozen=True, slots=True)
class _GoldObject:
    """One allowed object: the plain values of each key, and the keys that must be there."""

    values: dict[str, list[Any]]
    due: tuple[str, ...]

    def error(self, value: dict[str, Any]) -> str | None:
        for key in self.due:
            if key not in value:
                return "value_error:dict_key"
        for key, item in value.items():
            if key not in self.values:
                return "value_error:dict_key"
            if plain(item) not in self.values[key]:
                return "value_error:dict_value"
        return None


def _gold_object(gold: dict[str, Any]) -> _GoldObject:
    return _GoldObject(
        {key: plain_list(items) for key, items in gold.items()},
        tuple(key for key, items in gold.items() if "" not in items),
    )


def _object(allowed: list[Any]) -> _Check:
    golds = [_gold_object(each) for each in allowed if each != ""]

    def check(value: Any) -> str | None:
        if type(value) is not dict:
            return _SIMPLE
        error = "dict_checker:unclear"
        for gold in golds:
            found = gold.error(value)
            if found is None:
                return None
            error = found
        return error

    return check


def _objects(allowed: list[Any], slow: _Check) -> _Check:
    golds = [[_gold_object(item) for item in each] for each in allowed]

    def check(value: Any) -> str | None:
        if type(value) is not list:
            return slow(value)
        for item in value:
            if type(item) is not dict:
                return slow(value)
        error = "list_dict_checker:unclear"
        for gold in golds:
            if len(gold) != len(value):
                error = "value_error:list_dict_count"
                continue
            found = next((problem for one, item in zip(gold, value, strict=True) if (problem := one.error(item))), None)
            if found is None:
                return None
            error = found
        return error

    return check
