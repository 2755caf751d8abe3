"""Write questions, functions and possible answers in the leaderboard's forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from labeling.exports.outcome import Inexpressible
from toolevals.grading.json_schema.subschemas import with_subschemas
from toolevals.grading.reading.bfcl import CATEGORIES
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, Matcher, OneOf

_TYPES = {"object": "dict", "number": "float"}
_PLAIN_MESSAGE = frozenset({"role", "content", "name"})
_ROLES = frozenset({"system", "user", "assistant"})
_BY_KIND = {"no_call": ("irrelevance", "live_irrelevance"), "some_call": ("live_relevance",)}
_NOT_CALLS = frozenset(name for names in _BY_KIND.values() for name in names)


def category_of(gold: Expectation, tools: Sequence[ToolSpec], wanted: str) -> str:
    """Return an example's category: the one that it has, if that can hold its gold, else the one that does."""
    if gold.kind != "calls":
        fitting = _BY_KIND[gold.kind]
        return wanted if wanted in fitting else fitting[0]
    is_parallel = len(gold.alternatives[0].expected) > 1
    if wanted in CATEGORIES and wanted not in _NOT_CALLS and ("parallel" in wanted) == is_parallel:
        return wanted
    if is_parallel:
        return "parallel_multiple" if len(tools) > 1 else "parallel"
    return "multiple" if len(tools) > 1 else "simple_python"


def question_row(name: str, content: Mapping[str, Any], tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """Return an example's row of a question file. Raises Inexpressible."""
    if content.get("context"):
        raise Inexpressible("the agent knows a context that is no message")
    messages = content.get("messages", [])
    for message in messages:
        if not _PLAIN_MESSAGE.issuperset(message) or message.get("role") not in _ROLES:
            raise Inexpressible("the conversation holds calls or results")
    functions = [
        {"name": tool.name, "description": tool.description, "parameters": bfcl_types(tool.input_schema)}
        for tool in tools
    ]
    return {"id": name, "question": [messages], "function": functions}


def bfcl_types(schema: Any) -> Any:
    """Return a JSON Schema with the leaderboard's words for types. Raises Inexpressible where it has none."""
    if not isinstance(schema, dict):
        return schema
    written = dict(schema)
    if isinstance(kind := schema.get("type"), str):
        written["type"] = _TYPES.get(kind, kind)
    elif kind is not None:
        raise Inexpressible("a parameter has several types")
    return with_subschemas(written, lambda inner, _: bfcl_types(inner))


def answer_row(name: str, gold: Expectation) -> dict[str, Any] | None:
    """Return an example's row of an answer file; None where its category has none. Raises Inexpressible."""
    if gold.reactions or gold.answer is not None or gold.state is not None:
        raise Inexpressible("more than calls is expected")
    if gold.kind != "calls":
        return None
    if len(gold.alternatives) > 1:
        raise Inexpressible("several lists of calls are accepted")
    trajectory = gold.alternatives[0]
    if trajectory.additional_calls:
        raise Inexpressible("further calls are allowed")
    if len(trajectory.ordered) + bool(trajectory.unordered) > 1:
        raise Inexpressible("calls are expected in an order")
    if trajectory.disallowed or not trajectory.expected:
        raise Inexpressible("calls are ruled out, or none is named")
    return {"id": name, "ground_truth": [_call(call) for call in trajectory.expected]}


def _call(call: Any) -> dict[str, Any]:
    if not isinstance(call, CallExpectation):
        raise Inexpressible("one of several calls is expected")
    if call.additional_arguments:
        raise Inexpressible("other arguments are allowed")
    return {call.tool: {name: allowed_values(matcher) for name, matcher in call.arguments.items()}}


def allowed_values(matcher: Matcher) -> list[Any]:
    """Return a parameter's list of allowed values; `""` in it says that it may be left out. Raises Inexpressible."""
    if isinstance(matcher, Absent):
        return [""]
    values = _values(matcher)
    if matcher.optional:
        return [*(value for value in values if value != ""), ""]
    if "" in values:
        raise Inexpressible("an empty text is expected, which there says that a parameter may be left out")
    return values


def _values(matcher: Matcher) -> list[Any]:
    if isinstance(matcher, OneOf):
        return [_nested(value) for value in matcher.values]
    return [_one(matcher)]


def _one(matcher: Matcher) -> Any:
    if isinstance(matcher, Exact):
        return _nested(matcher.value)
    if isinstance(matcher, Fields) and not matcher.additional_fields:
        return {name: allowed_values(each) for name, each in matcher.fields.items()}
    if isinstance(matcher, Items):
        return [_one(each) for each in matcher.items]
    raise Inexpressible(f"an argument is described by {matcher.kind}")


def _nested(value: Any) -> Any:
    """Return a value as it stands among allowed ones: the fields of an object are lists of allowed values."""
    if isinstance(value, dict):
        return {name: [_nested(each)] for name, each in value.items()}
    return [_nested(each) for each in value] if isinstance(value, list) else value
