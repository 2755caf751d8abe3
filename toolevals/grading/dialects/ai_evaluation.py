"""Reproduces the four function-call metrics of `ai-evaluation` 1.1.0 (Apache-2.0), faults included.

Each reads a response and an expected response: an object, JSON text, Python's call syntax, or, for
`function_call_accuracy` alone, a list of objects. Whole numbers compare as floats, so that large neighbours are equal;
the types of `parameter_validation` go one level deep, and an unknown type is a string.

Tell how `ai-evaluation` 1.1.0 (Apache-2.0) reads calls, faults included.

A call is an object, JSON text of one, or text in Python's call syntax. An object with a name whose arguments are an
object, or not given, is taken as it is: `parameters` and `input` are looked at only in others. Of a dotted
name the last part counts, positional arguments are named by their place, and whatever is no plain literal (`-1` among
them) becomes text with an address, which never equals itself.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.dialects.plain_calls import ValidationError
from toolevals.json_types import JsonObject

_LONGEST_PYTHON = 100_000


class UnreadableInputError(ValueError):
    """The input fails the original's validation: it scores 0 and says so."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that was read."""

    name: str
    arguments: dict[Any, Any]


def validated(given: object) -> FunctionCall | list[FunctionCall] | JsonObject | str:
    """Return one side's input as the original's validation leaves it. Raises UnreadableInputError."""
    if isinstance(given, list):
        calls = [_as_model(item) for item in given]
        if None in calls:
            raise UnreadableInputError("a list holds what is not a call")
        return [call for call in calls if call is not None]
    if isinstance(given, dict):
        return _as_model(given) or given
    if isinstance(given, str):
        return given
    raise UnreadableInputError("neither an object, nor a list of calls, nor text")


def read_call(given: FunctionCall | list[FunctionCall] | JsonObject | str | None, side: str) -> FunctionCall | None:
    """Return the call of a validated input; None where none can be read, as of a list. `side` names whose it is.

    Raises ValidationError, TypeError, ValueError, MemoryError and RecursionError where the original does.
    """
    if isinstance(given, FunctionCall | None):
        return given
    if isinstance(given, dict):
        return _from_object(given)
    return _from_text(given, side) if isinstance(given, str) else None


def read_calls(given: FunctionCall | list[FunctionCall] | JsonObject | str | None, side: str) -> list[FunctionCall]:
    """Return every call of a validated input. Raises as `read_call`."""
    if isinstance(given, list):
        return given
    call = read_call(given, side)
    return [] if call is None else [call]


def _as_model(item: object) -> FunctionCall | None:
    """Return an object that passes for a call as it is; keys besides name and arguments are dropped."""
    if not isinstance(item, Mapping) or not isinstance(name := item.get("name"), str):
        return None
    arguments = item.get("arguments", {})
    return FunctionCall(name, arguments) if isinstance(arguments, dict) else None


def _from_object(given: JsonObject) -> FunctionCall:
    arguments = given.get("arguments", given.get("parameters", given.get("input", {})))
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except json.JSONDecodeError:
            arguments = {}
    name = given.get("name", given.get("function", ""))
    if not isinstance(name, str):
        raise ValidationError("the call's name is not text")
    return FunctionCall(name, arguments if isinstance(arguments, dict) else {})


def _from_text(text: str, side: str) -> FunctionCall | None:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return _from_python(text, side)
    if isinstance(value, dict):
        # Text is read later than the validation: here every key counts.
        return _from_object(value)
    return _from_text(value, side) if isinstance(value, str) else None


def _from_python(text: str, side: str) -> FunctionCall | None:
    if len(text) > _LONGEST_PYTHON:
        raise MemoryError("too long a text for Python's parser")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.strip(), mode="eval")
        if not isinstance(tree.body, ast.Call):
            return None
        call = tree.body
        arguments: dict[Any, Any] = {f"__positional_{at}": _value(node, side) for at, node in enumerate(call.args)}
        arguments.update((each.arg, _value(each.value, side)) for each in call.keywords if each.arg)
    except (SyntaxError, ValueError):
        return None
    return FunctionCall(_last_name(call.func), arguments)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _value(node: ast.expr, side: str) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.List):
        return [_value(item, side) for item in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(_value(item, side) for item in node.elts)
    if isinstance(node, ast.Set):
        return {_value(item, side) for item in node.elts}
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_value(key, side): _value(value, side) for key, value in pairs if key is not None}
    # The original's text holds the node's address: another for every node of either side.
    return f"<ast.{type(node).__name__} object of the {side} at {node.lineno}:{node.col_offset}-{node.end_col_offset}>"


METRICS = ("function_name_match", "function_call_exact_match", "parameter_validation", "function_call_accuracy")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a function's definition."""

    name: str
    type: str
    required: bool = True
    enum: Sequence[Any] | None = None


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    """A function as the original wants it described."""

    name: str
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class FunctionCallMetrics:
    """The metrics' options; the weights are the accuracy's configuration."""

    strict_type_check: bool = False
    ignore_extra_params: bool = False
    order_matters: bool = False
    name_weight: float = 0.4
    presence_weight: float = 0.3
    value_weight: float = 0.3

    def score(
        self, metric: str, expected: object, actual: object, definitions: Iterable[FunctionDefinition] = ()
    ) -> float:
        """Return one metric's score of a response next to the expected one, either as it came (None is none).

        What fails the original's validation scores 0. Raises what the original raises: ValidationError,
        OverflowError, TypeError, ValueError, MemoryError, RecursionError.
        """
        try:
            response = validated(actual)
            reference = None if expected is None else validated(expected)
        except UnreadableInputError:
            return 0.0
        if metric == "function_call_accuracy":
            made_calls = read_calls(response, "response")
            return self._accuracy(read_calls(reference, "expected response"), made_calls)
        made = read_call(response, "response")
        if metric == "parameter_validation":
            return self._parameter_validation(made, tuple(definitions))
        wanted = read_call(reference, "expected response")
        if wanted is None or made is None:
            return 0.0
        return float(wanted.name == made.name if metric == "function_name_match" else self._exact(wanted, made))

    def _exact(self, expected: FunctionCall, actual: FunctionCall) -> bool:
        if expected.name != actual.name or expected.arguments.keys() - actual.arguments.keys():
            return False
        if actual.arguments.keys() - expected.arguments.keys() and not self.ignore_extra_params:
            return False
        return all(self._equal(actual.arguments[key], value) for key, value in expected.arguments.items())

    def _parameter_validation(self, actual: FunctionCall | None, definitions: tuple[FunctionDefinition, ...]) -> float:
        definition = next((each for each in definitions if actual and each.name == actual.name), None)
        if actual is None or definition is None:
            return 0.0
        passed = sum(self._valid(parameter, actual.arguments) for parameter in definition.parameters)
        total = len(definition.parameters)
        if not self.ignore_extra_params:
            total += len(actual.arguments.keys() - {parameter.name for parameter in definition.parameters})
        return round(passed / total, 4) if total else 1.0

    def _valid(self, parameter: Parameter, arguments: Mapping[Any, Any]) -> bool:
        if parameter.name not in arguments:
            return not parameter.required
        value = arguments[parameter.name]
        return _has_type(value, parameter.type.lower(), self.strict_type_check) and (
            not parameter.enum or value in parameter.enum
        )

    def _accuracy(self, expected: list[FunctionCall], actual: list[FunctionCall]) -> float:
        if not expected or not actual:
            return 0.0
        if len(expected) == len(actual) == 1:
            return self._single(expected[0], actual[0])
        if self.order_matters:
            if len(expected) != len(actual):
                return 0.0
            scores = [self._single(*pair) for pair in zip(expected, actual, strict=True)]
            return round(sum(scores) / len(scores), 4)
        # One call may be the best match of several expected ones, and calls beyond them cost nothing.
        best = [max(0.0, *(self._single(each, call) for call in actual)) for each in expected]
        matched = [score for score in best if score > 0]
        if not matched:
            return 0.0
        return round(len(matched) / len(expected) * (sum(matched) / len(matched)), 4)

    def _single(self, expected: FunctionCall, actual: FunctionCall) -> float:
        there = expected.arguments.keys() & actual.arguments.keys()
        if expected.arguments:
            presence = len(there) / len(expected.arguments)
            equal = sum(
                key in actual.arguments and self._equal(actual.arguments[key], value)
                for key, value in expected.arguments.items()
            )
            value = equal / len(expected.arguments)
        else:
            presence = float(not actual.arguments or self.ignore_extra_params)
            value = 1.0
        name = float(expected.name == actual.name)
        return round(name * self.name_weight + presence * self.presence_weight + value * self.value_weight, 4)

    def _equal(self, actual: object, expected: object) -> bool:
        """Tell whether two values are equal. Raises OverflowError on an integer that no float holds."""
        if not _compatible(actual, expected, self.strict_type_check):
            return False
        if isinstance(actual, int | float) and isinstance(expected, int | float):
            return float(actual) == float(expected)
        if isinstance(actual, list) and isinstance(expected, list):
            return len(actual) == len(expected) and all(
                self._equal(*pair) for pair in zip(actual, expected, strict=True)
            )
        if isinstance(actual, dict) and isinstance(expected, dict):
            return actual.keys() == expected.keys() and all(
                self._equal(actual[key], value) for key, value in expected.items()
            )
        return bool(actual == expected)


def _compatible(actual: object, expected: object, strict: bool) -> bool:
    if strict:
        return type(actual) is type(expected)
    if actual is None or expected is None:
        return actual is expected
    if isinstance(actual, bool) or isinstance(expected, bool):
        return isinstance(actual, bool) and isinstance(expected, bool)
    if isinstance(actual, int | float) and isinstance(expected, int | float):
        return True
    return type(actual) is type(expected)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "integer": lambda value: isinstance(value, int | float),
    "number": lambda value: isinstance(value, int | float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _has_type(value: object, name: str, strict: bool) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and strict:
        return isinstance(value, int)
    # A name that is not known is a string's.
    return _TYPES.get(name, lambda value: isinstance(value, str))(value)
