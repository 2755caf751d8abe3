"""Refuses a call by its tool's schema, by how many came before it, and by what had to come before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from toolevals.grading.guard.names import Names
from toolevals.grading.guard.request import PastCall
from toolevals.grading.guard.rules.rule import Finding, Look, Options, Rule, Test, quoted
from toolevals.grading.json_schema.conformance import call_problems, unchecked_formats, unused_words, validator_of
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.canonical import canonical
from toolevals.grading.values.problems import InvalidDocument, pointer_to
from toolevals.grading.values.tools import tool_effect
from toolevals.json_types import JsonValue

# From here on integers and floats of equal value are no longer one number.
_EXACT_INTEGERS = 2**53


@dataclass(frozen=True, slots=True)
class SchemaRule(Rule):
    """The call is of an offered tool, and its arguments conform to the tool's schema, formats where it asserts them."""

    kind = "schema"

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        for tool in tools.values():
            try:
                validator_of(tool)
            except InvalidDocument:
                continue
        return partial(_schema_findings, tools)


def _schema_findings(tools: Mapping[str, ToolSpec], look: Look) -> Iterator[Finding]:
    request = look.request
    if not request.name:
        return
    if (tool := tools.get(request.name)) is None:
        yield Finding("/name", f"{quoted(request.name)} is not an offered tool.")
        return
    try:
        canonical(request.arguments)
        problems = call_problems(tool, request.arguments)
    except InvalidDocument as error:
        yield Finding("/arguments", unused_words(tool, error), is_unknown=True)
        return
    except (ValueError, RecursionError):
        # NaN, a lone surrogate, NUL: what has no canonical text can be neither checked nor compared.
        yield Finding("/arguments", "The arguments are not JSON value.")
        return
    for problem in problems:
        yield Finding(
            f"/arguments{problem.pointer}", f"The argument breaks the schema: {quoted(problem.message, 200)}."
        )
    if unchecked := unchecked_formats(tool):
        yield Finding("/arguments", unchecked, is_unknown=True)


@dataclass(frozen=True, slots=True)
class CallsRule(Rule):
    """A request of the user takes at most so many calls."""

    kind = "calls"
    reads_values = False

    most: int = 25

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_call_count_findings, self.most)


def _call_count_findings(most: int, look: Look) -> Iterator[Finding]:
    made = len(look.state.calls) - look.state.request_from
    if look.request.name and made >= most:
        yield Finding("", f"This is call {made + 1} of the request; it takes at most {most}.")


@dataclass(frozen=True, slots=True)
class ToolRatesRule(Rule):
    """A tool is called at most so often a minute, by globs of tools; where several match, each counts."""

    kind = "tool_rates"
    reads_values = False

    a_minute: Mapping[str, int] = field(default_factory=dict)

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_tool_rate_findings, [(Names((glob,)), most) for glob, most in self.a_minute.items()])


def _tool_rate_findings(rates: list[tuple[Names, int]], look: Look) -> Iterator[Finding]:
    tool, counts = look.request.name, look.state.tool_calls_last_minute
    limits = [most for names, most in rates if tool and names.holds(tool)]
    if not limits:
        return
    if counts is None:
        yield Finding("/name", f"The calls of {quoted(tool)} in the last minute are not known.", is_unknown=True)
    elif (count := counts.get(tool, 0)) >= min(limits):
        yield Finding(
            "/name", f"{quoted(tool)} was called {count:,} times in the last minute; {min(limits):,} are allowed."
        )


@dataclass(frozen=True, slots=True)
class RepeatRule(Rule):
    """The same call is made at most so often in a request of the user.

    A call is the same with the same tool and equal arguments; 1 equals 1.0. With `effect` "writes" only calls that may
    change something count: by the tool's annotation, else by the first verb in its name.
    """

    kind = "repeat"

    most: int = 1
    tools: tuple[str, ...] = ("*",)
    effect: Literal["any", "writes"] = "any"

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_repeat_findings, self, Names(self.tools), tools)


def _repeat_findings(rule: RepeatRule, names: Names, tools: Mapping[str, ToolSpec], look: Look) -> Iterator[Finding]:
    request = look.request
    if not request.name or not names.holds(request.name):
        return
    if rule.effect == "writes" and tool_effect(request.name, tools.get(request.name)) != "writes":
        return
    earlier = [call for call in look.state.request_calls if call.name == request.name]
    if len(earlier) < rule.most:
        return
    key = _key(request.arguments)
    times = sum(_key(call.arguments) == key for call in earlier)
    if times >= rule.most:
        yield Finding("", f"This call of {quoted(request.name)} was made {_times(times)} in this request already.")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _key(value: JsonValue) -> str:
    return canonical(_plain_numbers(value))


def _plain_numbers(value: JsonValue) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) <= _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, dict):
        return {name: _plain_numbers(inner) for name, inner in value.items()}
    return [_plain_numbers(inner) for inner in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Precondition(Options):
    """A tool that may be called only after another one.

    Each of `same` is an argument of both calls that must have the same value.
    """

    tool: str = ""
    after: tuple[str, ...] = ()
    same: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OrderRule(Rule):
    """A tool is called only after a call, in the same conversation, of one of the tools that it needs.

    A call that reports an error does not count. Where several preconditions name a tool, it needs all of them.
    """

    kind = "order"

    preconditions: tuple[Precondition, ...] = field(default=(), metadata={"of": Precondition})

    def compiled(self, tools: Mapping[str, ToolSpec]) -> Test:
        return partial(_order_findings, [(Names((each.tool,)), Names(each.after), each) for each in self.preconditions])


def _order_findings(needs: list[tuple[Names, Names, Precondition]], look: Look) -> Iterator[Finding]:
    request = look.request
    for names, after, need in needs:
        if not request.name or not names.holds(request.name):
            continue
        made = [call for call in look.state.calls if not call.is_error and after.holds(call.name)]
        wanted = " or ".join(quoted(tool) for tool in need.after)
        if not made:
            yield Finding("/name", f"{quoted(request.name)} comes only after {wanted}, which was not called.")
        elif not any(_agrees(call, request.arguments, need.same) for call in made):
            same = " and ".join(quoted(name) for name in need.same)
            yield Finding(
                f"/arguments{pointer_to(need.same[:1])}",
                f"{quoted(request.name)} comes only after {wanted} with the same {same}.",
            )


def _agrees(call: PastCall, arguments: JsonValue, names: tuple[str, ...]) -> bool:
    if not names:
        return True
    if not isinstance(arguments, dict) or not isinstance(call.arguments, dict):
        return False
    return all(
        name in arguments and name in call.arguments and _key(arguments[name]) == _key(call.arguments[name])
        for name in names
    )
