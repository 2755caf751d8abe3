"""Tell how `ai-evaluation` 1.1.0 (Apache-2.0) reads calls, faults included.

A call is an object, JSON text of one, or text in Python's call syntax. An object with a name whose arguments are an
object, or not given, is taken as it is: `parameters` and `input` are looked at only in others. Of a dotted
name the last part counts, positional arguments are named by their place, and whatever is no plain literal (`-1` among
them) becomes text with an address, which never equals itself.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolevals.grading.dialects.plain_calls import ValidationError

_LONGEST_PYTHON = 100_000


class UnreadableInputError(ValueError):
    """The input fails the original's validation: it scores 0 and says so."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call that was read."""

    name: str
    arguments: dict[Any, Any]


def validated(given: Any) -> FunctionCall | list[FunctionCall] | dict[str, Any] | str:
    """Return one side's input as the original's validation leaves it. Raises UnreadableInputError."""
    if isinstance(given, list):
        calls = [_as_model(item) for item in given]
        if None in calls:
            raise UnreadableInputError("a list holds what is no call")
        return [call for call in calls if call is not None]
    if isinstance(given, dict):
        return _as_model(given) or given
    if isinstance(given, str):
        return given
    raise UnreadableInputError("neither an object, nor a list of calls, nor text")


def read_call(given: FunctionCall | list[FunctionCall] | dict[str, Any] | str | None, side: str) -> FunctionCall | None:
    """Return the call of a validated input; None where none can be read, as of a list. `side` names whose it is.

    Raises ValidationError, TypeError, ValueError, MemoryError and RecursionError where the original does.
    """
    if isinstance(given, FunctionCall | None):
        return given
    if isinstance(given, dict):
        return _from_object(given)
    return _from_text(given, side) if isinstance(given, str) else None


def read_calls(given: FunctionCall | list[FunctionCall] | dict[str, Any] | str | None, side: str) -> list[FunctionCall]:
    """Return every call of a validated input. Raises as `read_call`."""
    if isinstance(given, list):
        return given
    call = read_call(given, side)
    return [] if call is None else [call]


def _as_model(item: Any) -> FunctionCall | None:
    """Return an object that passes for a call as it is; keys besides name and arguments are dropped."""
    if not isinstance(item, Mapping) or not isinstance(name := item.get("name"), str):
        return None
    arguments = item.get("arguments", {})
    return FunctionCall(name, arguments) if isinstance(arguments, dict) else None


def _from_object(given: dict[str, Any]) -> FunctionCall:
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
