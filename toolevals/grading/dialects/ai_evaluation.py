"""Reproduces the four function-call metrics of `ai-evaluation` 1.1.0 (Apache-2.0), faults included.

Each reads a response and an expected response: an object, JSON text, Python's call syntax, or, for
`function_call_accuracy` alone, a list of objects. Whole numbers compare as floats, so that large neighbours are equal;
the types of `parameter_validation` go one level deep, and an unknown type is a string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolevals.grading.dialects.ai_evaluation_parsing import (
    FunctionCall,
    UnreadableInputError,
    read_call,
    read_calls,
    validated,
)

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

    def score(self, metric: str, expected: Any, actual: Any, definitions: Iterable[FunctionDefinition] = ()) -> float:
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

    def _exact(self, wanted: FunctionCall, made: FunctionCall) -> bool:
        if wanted.name != made.name or wanted.arguments.keys() - made.arguments.keys():
            return False
        if made.arguments.keys() - wanted.arguments.keys() and not self.ignore_extra_params:
            return False
        return all(self._equal(made.arguments[key], value) for key, value in wanted.arguments.items())

    def _parameter_validation(self, made: FunctionCall | None, definitions: tuple[FunctionDefinition, ...]) -> float:
        definition = next((each for each in definitions if made and each.name == made.name), None)
        if made is None or definition is None:
            return 0.0
        passed = sum(self._valid(parameter, made.arguments) for parameter in definition.parameters)
        total = len(definition.parameters)
        if not self.ignore_extra_params:
            total += len(made.arguments.keys() - {parameter.name for parameter in definition.parameters})
        return round(passed / total, 4) if total else 1.0

    def _valid(self, parameter: Parameter, arguments: Mapping[Any, Any]) -> bool:
        if parameter.name not in arguments:
            return not parameter.required
        value = arguments[parameter.name]
        return _has_type(value, parameter.type.lower(), self.strict_type_check) and (
            not parameter.enum or value in parameter.enum
        )

    def _accuracy(self, wanted: list[FunctionCall], made: list[FunctionCall]) -> float:
        if not wanted or not made:
            return 0.0
        if len(wanted) == len(made) == 1:
            return self._single(wanted[0], made[0])
        if self.order_matters:
            if len(wanted) != len(made):
                return 0.0
            scores = [self._single(*pair) for pair in zip(wanted, made, strict=True)]
            return round(sum(scores) / len(scores), 4)
        # One call may be the best match of several expected ones, and calls beyond them cost nothing.
        best = [max(0.0, *(self._single(each, call) for call in made)) for each in wanted]
        matched = [score for score in best if score > 0]
        if not matched:
            return 0.0
        return round(len(matched) / len(wanted) * (sum(matched) / len(matched)), 4)

    def _single(self, wanted: FunctionCall, made: FunctionCall) -> float:
        there = wanted.arguments.keys() & made.arguments.keys()
        if wanted.arguments:
            presence = len(there) / len(wanted.arguments)
            equal = sum(
                key in made.arguments and self._equal(made.arguments[key], value)
                for key, value in wanted.arguments.items()
            )
            value = equal / len(wanted.arguments)
        else:
            presence = float(not made.arguments or self.ignore_extra_params)
            value = 1.0
        name = float(wanted.name == made.name)
        return round(name * self.name_weight + presence * self.presence_weight + value * self.value_weight, 4)

    def _equal(self, made: Any, wanted: Any) -> bool:
        """Tell whether two values are equal. Raises OverflowError on an integer that no float holds."""
        if not _compatible(made, wanted, self.strict_type_check):
            return False
        if isinstance(made, int | float) and isinstance(wanted, int | float):
            return float(made) == float(wanted)
        if isinstance(made, list) and isinstance(wanted, list):
            return len(made) == len(wanted) and all(self._equal(*pair) for pair in zip(made, wanted, strict=True))
        if isinstance(made, dict) and isinstance(wanted, dict):
            return made.keys() == wanted.keys() and all(self._equal(made[key], value) for key, value in wanted.items())
        return bool(made == wanted)


def _compatible(made: Any, wanted: Any, strict: bool) -> bool:
    if strict:
        return type(made) is type(wanted)
    if made is None or wanted is None:
        return made is wanted
    if isinstance(made, bool) or isinstance(wanted, bool):
        return isinstance(made, bool) and isinstance(wanted, bool)
    if isinstance(made, int | float) and isinstance(wanted, int | float):
        return True
    return type(made) is type(wanted)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "integer": lambda value: isinstance(value, int | float),
    "number": lambda value: isinstance(value, int | float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _has_type(value: Any, name: str, strict: bool) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and strict:
        return isinstance(value, int)
    # A name that is not known is a string's.
    return _TYPES.get(name, lambda value: isinstance(value, str))(value)
