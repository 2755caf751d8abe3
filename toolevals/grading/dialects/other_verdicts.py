"""Tell what other tools say of the very calls that we graded, and why they say otherwise: one row of verdicts a case.

A verdict of another tool is passed where it gives its full score, failed where it gives less; unscored where it has no
form for the expectation or the calls, errored where the original raises. These four are never mixed. Ours next to them
is that on the calls alone, because no other tool here looks at answers, states or recovery.

Puts our examples and calls in the leaderboard checker's terms: the way back from `toolevals.grading.reading.bfcl`.

The checker has no types but its own and no alternatives, and always expects calls; what it has no form for is refused
by name. Of the types only those are told apart that JSON tells apart: a tuple is a list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

from toolevals.grading.dialects.bfcl import check
from toolevals.grading.dialects.catalog import DIALECTS, Score
from toolevals.grading.dialects.disagreements import LAXER, REASONS, reason_between
from toolevals.grading.dialects.plain_calls import attempt
from toolevals.grading.dialects.rows import Comparison, NoFormError, comparison
from toolevals.grading.values import Call, CallExpectation, Expectation, OneOfCalls, ToolCall, ToolSpec, Transcript
from toolevals.grading.values.matchers import Absent, Exact, Fields, Items, Matcher, OneOf
from toolevals.grading.values.verdicts import Status
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

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


def _nested(value: object) -> Any:
    """Return a value as the checker wants it written: an object names the allowed values of each key."""
    if isinstance(value, dict):
        return {key: [item] for key, item in value.items()}
    return [_nested(item) if isinstance(item, dict) else item for item in value] if isinstance(value, list) else value


def _function(tool: ToolSpec) -> JsonObject:
    schema = tool.input_schema
    described = schema.get("properties") or {}
    properties = {name: _described(name, each, tool) for name, each in described.items()}
    return {"name": tool.name, "parameters": {"properties": properties, "required": schema.get("required") or []}}


def _described(name: str, schema: JsonValue, tool: ToolSpec) -> JsonObject:
    kind = schema.get("type", "any") if isinstance(schema, dict) else "any"
    if not isinstance(kind, str) or kind not in {*_TYPES, "any"}:
        raise NoFormError(f"The parameter {name} of {tool.name} has no single type, which the checker requires.")
    found = {"type": _TYPES.get(kind, "any")}
    return {**found, "items": _items(name, schema, tool)} if kind == "array" else found


def _items(name: str, schema: JsonMapping, tool: ToolSpec) -> JsonObject:
    items = schema.get("items")
    if not isinstance(items, dict):
        raise NoFormError(
            f"The parameter {name} of {tool.name} is a list without a single type, which the checker requires."
        )
    return {"type": _described(f"{name} (its items)", items, tool)["type"]}


OURS: Final = "ours"
# A disagreement that no reason of the table explains.
UNEXPLAINED: Final = "unexplained"


@dataclass(frozen=True, slots=True)
class Column:
    """One way in which another tool judges calls: a metric of a dialect under some of its options, the rest default."""

    key: str
    dialect: str
    metric: str
    looks_at: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The package and its version that the verdicts reproduce."""
        return f"{DIALECTS[self.dialect].package} {DIALECTS[self.dialect].version}"


def _modes(dialect: str, metric: str, option: str, modes: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(
        Column(f"{dialect}.{mode.lower()}", dialect, metric.format(mode), words, {option: mode})
        for mode, words in modes.items()
    )


COLUMNS: Final[Mapping[str, Column]] = {
    column.key: column
    for column in (
        Column("bfcl", "bfcl", "valid", "whole calls; allowed values, text without case, spaces and marks"),
        Column("ai_evaluation.name", "ai_evaluation", "function_name_match", "the name of a single call"),
        Column("ai_evaluation.exact", "ai_evaluation", "function_call_exact_match", "a single call, to the value"),
        Column("ai_evaluation.parameters", "ai_evaluation", "parameter_validation", "a single call by its schema"),
        Column("ai_evaluation.accuracy", "ai_evaluation", "function_call_accuracy", "names, keys and values, weighted"),
        *_modes(
            "agentevals",
            "trajectory_{}_match",
            "trajectory_match_mode",
            {
                "strict": "messages in order, calls in each to the value",
                "unordered": "all calls, none extra, in any order",
                "subset": "no call beyond the expected ones",
                "superset": "every expected call, others free",
            },
        ),
        Column("ragas.accuracy", "ragas", "tool_call_accuracy", "calls in order, values as text"),
        Column("ragas.f1", "ragas", "tool_call_f1", "the set of calls, to the value"),
        *_modes(
            "adk",
            "tool_trajectory_avg_score",
            "match_type",
            {
                "EXACT": "calls in order, none extra, to the value",
                "IN_ORDER": "expected calls in order, others free",
                "ANY_ORDER": "expected calls in any order, others free",
            },
        ),
        Column("deepeval", "deepeval", "tool_correctness", "tools' names, others free"),
        Column(
            "deepeval.arguments",
            "deepeval",
            "tool_correctness",
            "names and arguments, others free",
            {"input_parameters": "true"},
        ),
    )
}


@dataclass(frozen=True, slots=True)
class ToolevalsVerdict:
    """Our verdict on the calls of a case, and what was wrong with them."""

    status: Status
    mode: str = ""


@dataclass(frozen=True, slots=True)
class OtherVerdict:
    """Another tool's verdict on a case.

    `score` is its own figure, None without one. `reason` names a reason of REASONS, or UNEXPLAINED, where it differs
    from ours; empty where it agrees, and where either has no verdict. `said` is what the tool says itself: its type of
    error, the exception that it raises, or what it has no form for.
    """

    status: Status
    score: float | None = None
    reason: str = ""
    said: str = ""


def own_verdict(selection: Status, arguments: Status, mode: str, *, expects_calls: bool) -> ToolevalsVerdict:
    """Return our verdict on the calls, of the verdicts on selection and arguments: what else was graded is left out."""
    if selection in ("unscored", "errored"):
        return ToolevalsVerdict(selection)
    if "failed" in (selection, arguments):
        return ToolevalsVerdict("failed", mode)
    # With the right tools the arguments are unscored where there are none to compare, or a judge has not spoken.
    return ToolevalsVerdict("unscored" if expects_calls and arguments != "passed" else "passed")


def verdicts_beside(
    own: ToolevalsVerdict,
    expectation: Expectation,
    transcript: Transcript | None,
    tools: Sequence[ToolSpec] | None,
    keys: Collection[str] = COLUMNS.keys(),
) -> dict[str, OtherVerdict]:
    """Return the verdict of each of COLUMNS, or of some, on what an agent did. Nothing that the case holds is raised.

    `tools` is None where they are not known.
    """
    if transcript is None:
        return dict.fromkeys(keys, OtherVerdict("unscored", said="No prediction came."))
    if transcript.error is not None:
        return dict.fromkeys(keys, OtherVerdict("errored", said="The agent could not be reached."))
    compared = attempt(partial(_compared, expectation, transcript, tools))
    found = {}
    for key in keys:
        if COLUMNS[key].dialect == "bfcl":
            found[key] = _leaderboard(own, expectation, transcript, tools or ())
        elif isinstance(compared, Exception):
            found[key] = _no_verdict(compared)
        else:
            found[key] = _scored(own, compared, _metric(key), expectation)
    return found


def _compared(expectation: Expectation, transcript: Transcript, tools: Sequence[ToolSpec] | None) -> Comparison:
    # Where all calls stand in one message, it is not known whether the agent sent them so or they were listed so.
    talk = sum(bool(message.calls) for message in transcript.messages) > 1
    return comparison(expectation, transcript, whole_talk=talk, tools=tools)


def _scored(
    own: ToolevalsVerdict, row: Comparison, metric: Callable[[Comparison], Score], expectation: Expectation
) -> OtherVerdict:
    score = attempt(partial(metric, row))
    if isinstance(score, Exception):
        return _no_verdict(score)
    status: Status = "passed" if score >= 1 else "failed"
    reason = ""
    if own.status in ("passed", "failed") and own.status != status:
        reason = reason_between(own.status, own.mode, row, metric, expectation.profile) or UNEXPLAINED
    return OtherVerdict(status, float(score), reason)


def _leaderboard(
    own: ToolevalsVerdict, expectation: Expectation, transcript: Transcript, tools: Sequence[ToolSpec]
) -> OtherVerdict:
    error = attempt(partial(leaderboard_error, expectation, tools, transcript.calls))
    if isinstance(error, Exception):
        return _no_verdict(error)
    if error is None:
        mode = own.mode if own.mode in LAXER else UNEXPLAINED
        return OtherVerdict("passed", 1.0, mode if own.status == "failed" else "")
    reason = STRICTER_BY_ERROR.get(error, "values") if own.status == "passed" else ""
    return OtherVerdict("failed", 0.0, reason, error)


def _no_verdict(error: Exception) -> OtherVerdict:
    if isinstance(error, NoFormError):
        return OtherVerdict("unscored", said=str(error))
    return OtherVerdict("errored", said=f"The original raises {type(error).__name__}.")


@cache
def _metric(key: str) -> Callable[[Comparison], Score]:
    column = COLUMNS[key]
    dialect = DIALECTS[column.dialect]
    if dialect.metrics is None:
        raise KeyError(key)
    return dialect.metrics(dialect.chosen(column.options.items()))[column.metric]


def sentence_of(reason: str) -> str:
    """Return a reason as a sentence; empty without one."""
    if reason == UNEXPLAINED:
        return "No rule of the table explains it."
    return REASONS.get(reason, "")


def columns_document() -> list[JsonObject]:
    """Return what decides the verdicts, to be kept next to them: each column with the version that it reproduces."""
    return [
        {
            "key": column.key,
            "dialect": column.dialect,
            "package": DIALECTS[column.dialect].package,
            "version": DIALECTS[column.dialect].version,
            "metric": column.metric,
            "options": dict(column.options),
            "looks_at": column.looks_at,
        }
        for column in COLUMNS.values()
    ]
