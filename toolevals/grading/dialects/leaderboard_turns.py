"""Reads the leaderboard's conversations of several turns: the calls expected in each, and those made, step by step.

As in `bfcl-eval` 2026.3.23 (Apache-2.0), a step that cannot be decoded is left out. Text is read as a syntax tree and
never evaluated; what the original evaluates in it (sums, calls in arguments) makes the row unscored, by name.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from toolevals.grading.dialects.rows import NoFormError
from toolevals.grading.reading.parsing.python_calls import PythonSource, UnreadableCallError
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.json_types import JsonMapping, JsonObject

CATEGORIES = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
# Where their states come from: simulators that ask models, search indices or the network.
NOT_BY_STATE = ("memory", "web_search")
LONGEST_SHOWN = 100
_ID = re.compile(r"(?P<category>[a-z_]+?)_\d+(?:-.*)?")

TurnCall: TypeAlias = JsonObject
"""`{"name": ..., "positional": [...], "named": {...}}`"""


@dataclass(frozen=True, slots=True)
class Turns:
    """A conversation: its classes with their configurations, expected calls by turn, made calls by turn and step."""

    classes: Sequence[str]
    configs: JsonMapping
    long_context: bool
    expected: Sequence[Sequence[TurnCall]]
    made: Sequence[Sequence[Sequence[TurnCall]]]


def category_of(row: object) -> str:
    """Return the category of a row, from its id where it names none; empty where nothing says it."""
    if not isinstance(row, Mapping):
        return ""
    if isinstance(said := row.get("category"), str):
        return said
    found = _ID.fullmatch(row["id"]) if isinstance(row.get("id"), str) else None
    return found["category"] if found else ""


def turns_error(row: JsonMapping) -> tuple[str, str] | None:
    """Return the error type of a prediction that need not be run, and the reason; None of any other."""
    made, expected = row.get("prediction"), len(_list(row, "possible_answer"))
    if not isinstance(made, list):
        return "multi_turn:inference_error", "the prediction is not a list of turns"
    if len(made) != expected:
        return "multi_turn:force_terminated", f"the prediction has {len(made)} turns, and {expected} are expected"
    return None


def turns_of(row: JsonMapping) -> Turns:
    """Return the conversation of a row.

    Raises InvalidDocument where it is not of this form, NoFormError where a call in it would have to be evaluated.
    """
    configs = row.get("initial_config")
    if not isinstance(configs, Mapping):
        raise InvalidDocument.at("/initial_config", "is not a dict")
    expected = [
        [_expected(call, pointer_to(["possible_answer", turn, place])) for place, call in enumerate(_turn(calls, turn))]
        for turn, calls in enumerate(_list(row, "possible_answer"))
    ]
    made = [_steps(steps, turn) for turn, steps in enumerate(_list(row, "prediction"))]
    category = category_of(row)
    return Turns(_list(row, "involved_classes"), configs, "long_context" in category, expected, made)


def _list(row: JsonMapping, key: str) -> list[Any]:
    if not isinstance(value := row.get(key), list):
        raise InvalidDocument.at(pointer_to([key]), "is not a list")
    return value


def _turn(calls: object, turn: int) -> list[Any]:
    if not isinstance(calls, list):
        raise InvalidDocument.at(pointer_to(["possible_answer", turn]), "is not a list of calls")
    return calls


def _expected(text: object, pointer: str) -> TurnCall:
    call = _decoded(text) if isinstance(text, str) else None
    if call is None:
        raise InvalidDocument.at(pointer, "is not a call")
    return call


def _steps(steps: object, turn: int) -> list[list[TurnCall]]:
    """Return the calls of a turn's steps, without the steps that have none."""
    if not isinstance(steps, list):
        raise InvalidDocument.at(pointer_to(["prediction", turn]), "is not a list of steps")
    try:
        return [calls for step in steps if (calls := _step(step))]
    except NoFormError as error:
        raise NoFormError(f"Turn {turn + 1}: {error}") from None


def _step(step: object) -> list[TurnCall]:
    """Return the calls of a step: of text, of `{name: arguments}` or a list of them, or of calls as text in a list.

    A step that is anything else has none.
    """
    if isinstance(step, str):
        return _prompted(step)
    calls: list[TurnCall] = []
    for each in [step] if isinstance(step, dict) else step if isinstance(step, list) else []:
        if isinstance(each, str):
            # One that is no Python is run all the same, and raises.
            calls.append(_decoded(each) or {"name": each, "positional": [], "named": {}})
        elif isinstance(each, dict):
            for name, said in each.items():
                if not isinstance(arguments := _arguments(said), dict):
                    return []
                calls.append({"name": name, "positional": [], "named": arguments})
        else:
            return []
    return calls


def _arguments(said: object) -> Any:
    try:
        return load_json(said) if isinstance(said, str) else said
    except InvalidDocument:
        return None


def _decoded(text: str) -> TurnCall | None:
    """Return a call as the original evaluates it; None where it is no Python or no call."""
    node = _expression(text)
    return _call(node, text, ast.literal_eval) if isinstance(node, ast.Call) else None


def _prompted(text: str) -> list[TurnCall]:
    """Return the calls of a prompted model's text, a list of them with brackets or without; nothing of other text."""
    inner = text.strip("`\n ")
    node = _expression(f"{'' if inner.startswith('[') else '['}{inner}{'' if inner.endswith(']') else ']'}")
    if not isinstance(node, ast.List) or not all(isinstance(each, ast.Call) for each in node.elts):
        return []
    # The original's decoder loses arguments without a name.
    return [
        {**_call(each, text, _prompted_value), "positional": []} for each in node.elts if isinstance(each, ast.Call)
    ]


def _expression(text: str) -> ast.expr | None:
    try:
        statements = PythonSource(text).tree.body
    except UnreadableCallError:
        return None
    only = statements[0] if len(statements) == 1 else None
    return only.value if isinstance(only, ast.Expr) else None


def _call(node: ast.Call, text: str, read: Callable[[ast.expr], Any]) -> TurnCall:
    try:
        positional = [_plain(read(each)) for each in node.args]
        # Unpacked arguments have no name.
        named = {_plain(each.arg or ...): _plain(read(each.value)) for each in node.keywords}
    except (ValueError, TypeError, RecursionError, MemoryError):
        shown = text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} ..."
        raise NoFormError(f"an argument in {shown} is not a plain value, and nothing is evaluated here.") from None
    return {"name": ast.unparse(node.func), "positional": positional, "named": named}


def _prompted_value(node: ast.expr) -> Any:
    """Return a value as the original's decoder reads it: a bare name is text. Raises ValueError where it evaluates."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.List):
        return [_prompted_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        if all(isinstance(value, ast.Dict) for value in node.values):
            raise ValueError("the original takes it for a call")
        return {
            ast.literal_eval(key) if key else None: _prompted_value(value)
            for key, value in zip(node.keys, node.values, strict=True)
        }
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.USub):
        raise ValueError("the original takes any sign for a minus")  # noqa: TRY004 - no type is wrong
    return ast.literal_eval(node)


def _plain(value: object) -> Any:
    """Return a value that JSON gives back as it is. Raises ValueError and TypeError on any other, such as a tuple."""
    if json.loads(json.dumps(value, allow_nan=False)) != value:
        raise ValueError("JSON has no form for it")
    return value
