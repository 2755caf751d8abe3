"""Puts our examples and calls in the leaderboard checker's terms: the way back from `toolevals.grading.reading.bfcl`.

The checker has no types but its own and no alternatives, and always expects calls; what it has no form for is refused
by name. Of the types only those are told apart that JSON tells apart: a tuple is a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolevals.grading.dialects.bfcl import check
from toolevals.grading.dialects.rows import NoFormError
from toolevals.grading.values import Call, CallExpectation, Expectation, OneOfCalls, ToolCall, ToolSpec
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, Matcher, OneOf

_TYPES: Mapping[str, str] = {
    "string": "string",
    "integer": "integer",
    "number": "float",
    "boolean": "boolean",
    "array": "array",
    "object": "dict",
}

# Which of our reasons (`disagreements.STRICTER`) an error of the checker is, where we pass a case.
STRICTER_BY_ERROR: Mapping[str, str] = {
    "simple_function_checker:wrong_count": "extra_calls",
    "multiple_function_checker:wrong_count": "extra_calls",
    "parallel_function_checker_no_order:wrong_count": "extra_calls",
    "parallel_function_checker_no_order:cannot_find_match": "pairing",
    "simple_function_checker:wrong_func_name": "names",
    "simple_function_checker:unexpected_param": "extra_arguments",
    "simple_function_checker:missing_required": "left_out",
    "simple_function_checker:missing_optional": "left_out",
    "type_error:simple": "types",
    "type_error:nested": "types",
}


def leaderboard_error(
    expectation: Expectation, tools: Sequence[ToolSpec], calls: Sequence[Call], *, underscores: bool | None = None
) -> str | None:
    """Return the checker's error type for calls, None where they are valid. Raises as the checker, and NoFormError.

    `underscores`: whether hosted models were given the tools' names with underscores for dots; None tells by the calls.
    """
    answer = [{call.tool: _allowed_arguments(call)} for call in _expected(expectation)]
    functions = [_function(tool) for tool in tools]
    if len(answer) == 1:
        category = "simple_python" if len(functions) == 1 else "multiple"
    else:
        category = "parallel" if len(functions) == 1 else "parallel_multiple"
    names = {tool.name for tool in tools}
    dotted = {name.replace(".", "_") for name in names} - names
    if underscores is None:
        underscores = any(call.name in dotted for call in calls)
    made = [{call.name: dict(call.arguments)} if isinstance(call, ToolCall) else None for call in calls]
    return check(category, functions, answer, made, underscores=underscores)


def _expected(expectation: Expectation) -> Sequence[CallExpectation]:
    if expectation.kind != "calls":
        raise NoFormError(f"The expectation is {expectation.kind}: the checker expects calls of its own.")
    if len(expectation.alternatives) != 1:
        raise NoFormError(
            f"The expectation has {len(expectation.alternatives)} alternatives: the checker has a form for one."
        )
    (trajectory,) = expectation.alternatives
    if trajectory.disallowed:
        raise NoFormError("The expectation has disallowed calls, and the checker knows expected ones alone.")
    if any(isinstance(each, OneOfCalls) for each in trajectory.expected):
        raise NoFormError("The expectation leaves a choice between calls, and the checker has a form for one.")
    if not trajectory.calls:
        raise NoFormError("The expectation names no call, and the checker expects one.")
    return trajectory.calls


def _allowed_arguments(call: CallExpectation) -> dict[str, list[Any]]:
    return {name: _allowed(matcher, f"{name} of {call.tool}") for name, matcher in call.arguments.items()}


def _allowed(matcher: Matcher, where: str) -> list[Any]:
    """Return the values that are allowed, `""` among them where the argument may be left out."""
    left_out = [""] if matcher.optional else []
    if isinstance(matcher, Exact):
        return [_nested(matcher.value), *left_out]
    if isinstance(matcher, OneOf):
        return [*map(_nested, matcher.values), *left_out]
    if isinstance(matcher, Absent):
        return [""]
    if isinstance(matcher, Fields) and not matcher.additional_fields:
        return [_fields(matcher, where), *left_out]
    if isinstance(matcher, Items):
        return [[_item(each, where) for each in matcher.items], *left_out]
    raise NoFormError(f"The argument {where} is a {matcher.kind} matcher, and the checker has allowed values alone.")


def _fields(matcher: Fields, where: str) -> dict[str, list[Any]]:
    return {name: _allowed(each, f"{name} in {where}") for name, each in matcher.fields.items()}


def _item(matcher: Matcher, where: str) -> Any:
    if isinstance(matcher, Fields):
        return _fields(matcher, where)
    if isinstance(matcher, Exact):
        return _nested(matcher.value)
    raise NoFormError(f"An item of {where} is a {matcher.kind} matcher, and the checker has values alone.")


def _nested(value: Any) -> Any:
    """Return a value as the checker wants it written: an object names the allowed values of each key."""
    if isinstance(value, dict):
        return {key: [item] for key, item in value.items()}
    return [_nested(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value


def _function(tool: ToolSpec) -> dict[str, Any]:
    schema = tool.input_schema
    described = schema.get("properties") or {}
    properties = {name: _described(name, each, tool) for name, each in described.items()}
    return {"name": tool.name, "parameters": {"properties": properties, "required": schema.get("required") or []}}


def _described(name: str, schema: Any, tool: ToolSpec) -> dict[str, Any]:
    kind = schema.get("type", "any") if isinstance(schema, dict) else "any"
    if not isinstance(kind, str) or kind not in {*_TYPES, "any"}:
        raise NoFormError(f"The parameter {name} of {tool.name} has no one type, and the checker wants one.")
    found = {"type": _TYPES.get(kind, "any")}
    return {**found, "items": _items(name, schema, tool)} if kind == "array" else found


def _items(name: str, schema: Mapping[str, Any], tool: ToolSpec) -> dict[str, Any]:
    items = schema.get("items")
    if not isinstance(items, dict):
        raise NoFormError(f"The parameter {name} of {tool.name} is a list of no one type, and the checker wants one.")
    return {"type": _described(f"{name} (its items)", items, tool)["type"]}
