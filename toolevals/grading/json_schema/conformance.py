"""Tell whether arguments conform to a tool's input schema, and whether a label fits the tools that were offered.

Schemas are JSON Schema 2020-12 unless they name another draft. Patterns are matched in linear time; a pattern that
the engine refuses is not checked. References that lead out of a schema are refused. `format` is an annotation unless
a tool asserts it. What a schema and a value cost is bounded (`schema_cost`).

Tell which formats of texts the validator of a draft checks, and which of a schema nothing checks.

Tell whether a call breaks the input schema of its tool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Self
from urllib.parse import quote

import jsonschema_rs

from toolevals.grading.json_schema.matcher_conformance import MatcherCheck, can_follow
from toolevals.grading.json_schema.schema_cost import SchemaCost
from toolevals.grading.json_schema.subschemas import (
    PATTERNS,
    Path,
    remote_references,
    subschemas,
    without_refused_patterns,
)
from toolevals.grading.values import CallExpectation, Expectation, ToolSpec
from toolevals.grading.values.matchers import Fields
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.grading.values.verdicts import SchemaProblem
from toolevals.json_types import JsonMapping, JsonObject, JsonValue

# What `$schema` says, without the empty fragment that some write.
DRAFT_4: Final = "http://json-schema.org/draft-04/schema"
DRAFT_6: Final = "http://json-schema.org/draft-06/schema"
DRAFT_7: Final = "http://json-schema.org/draft-07/schema"
DRAFT_2019_09: Final = "https://json-schema.org/draft/2019-09/schema"
DRAFT_2020_12: Final = "https://json-schema.org/draft/2020-12/schema"

_IN_4 = frozenset(
    {"date", "date-time", "email", "hostname", "idn-email", "ipv4", "ipv6", "regex", "time", "uri"},
)
_IN_6 = _IN_4 | {"json-pointer", "uri-reference", "uri-template"}
_IN_7 = _IN_6 | {"idn-hostname", "iri", "iri-reference", "relative-json-pointer"}
_IN_2019 = _IN_7 | {"duration", "uuid"}
CHECKED: Final = {DRAFT_4: _IN_4, DRAFT_6: _IN_6, DRAFT_7: _IN_7, DRAFT_2019_09: _IN_2019, DRAFT_2020_12: _IN_2019}
"""The formats that are checked, by draft: those that the draft defines, and a few that it does not."""
# Of a format's name, where it is shown.
LONGEST_NAME = 60


def with_formats(tool: ToolSpec, *, asserted: bool) -> ToolSpec:
    """Return the tool with its formats asserted or not; one that states none is the same either way."""
    asserted = asserted and states_formats(tool.input_schema)
    return tool if tool.assert_formats is asserted else replace(tool, assert_formats=asserted)


def draft_of(schema: JsonObject) -> str:
    """Return the draft that a schema is read by: one that no one knows is read as the newest."""
    said = schema.get("$schema")
    named = said.removesuffix("#") if isinstance(said, str) else ""
    return named if named in CHECKED else DRAFT_2020_12


def states_formats(schema: JsonObject) -> bool:
    """Tell whether a schema states the format of a text anywhere."""
    return next(_formats(schema), None) is not None


@lru_cache(maxsize=4096)
def unchecked_formats(tool: ToolSpec) -> str:
    """Return the sentence that names the formats that a tool asserts and nothing checks; "" where there are none."""
    if not tool.assert_formats:
        return ""
    checked = CHECKED[draft_of(tool.input_schema)]
    names = dict.fromkeys(name[:LONGEST_NAME] for name in _formats(tool.input_schema) if name not in checked)
    word = "format" if len(names) == 1 else "formats"
    return f"Nothing checks the {word} {', '.join(names)} of {tool.name}." if names else ""


def _formats(schema: JsonObject) -> Iterator[str]:
    for _, inside in subschemas(schema):
        if isinstance(name := inside.get("format"), str):
            yield name


# Keywords beside which `properties` does not say all of an object's properties.
_COMPOSING = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"})
# What stands for the keyword where a schema is `false`: it admits nothing.
FALSE = "false"
# Keywords that say with `false` that there is nothing more: it is they that are broken.
_CLOSING = frozenset({"additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"})
# What stands for the keyword where all that is wrong is too much to list.
TOO_MANY = "schema"
TOO_MANY_WORDS = "breaks the schema in more ways than can be listed"
_MESSAGE_LENGTH = 300
# What a schema is called where one of its parts is compiled alone.
_HERE = "urn:toolevals:schema"
_DRAFTS: JsonObject = {
    DRAFT_4: jsonschema_rs.Draft4Validator,
    DRAFT_6: jsonschema_rs.Draft6Validator,
    DRAFT_7: jsonschema_rs.Draft7Validator,
    DRAFT_2019_09: jsonschema_rs.Draft201909Validator,
    DRAFT_2020_12: jsonschema_rs.Draft202012Validator,
}


def schema_problems(schema: object) -> list[Problem]:
    """Return what is wrong with an input schema itself; an empty list says that it can be used."""
    if not isinstance(schema, dict):
        return [Problem("", "is not an object")]
    if problems := remote_references(schema):
        return problems
    if problems := SchemaCost(schema).problems:
        return problems
    try:
        _compiled(without_refused_patterns(schema)[0])
    except jsonschema_rs.ValidationError as error:
        return [Problem(pointer_to(error.instance_path), error.message[:_MESSAGE_LENGTH])]
    except (jsonschema_rs.ReferencingError, ValueError) as error:
        return [Problem("", str(error)[:_MESSAGE_LENGTH])]
    return []


class Validator:
    """The compiled validator of a schema, which refuses by name the values whose check may take too long.

    `assert_formats` says whether a text that is not in its `format` breaks the schema.
    `schema` is the whole schema without the patterns that are not checked; it is the part at `path` that decides.
    """

    def __init__(self, schema: JsonObject, *, assert_formats: bool = False) -> None:
        self.schema = without_refused_patterns(schema)[0]
        self.path: Path = ()
        self._cost = SchemaCost(self.schema)
        self.assert_formats = assert_formats
        self._compiled = _compiled(self.schema, assert_formats=assert_formats)

    def at(self, path: Path) -> Self:
        """Return the validator of the subschema at a path; what it refers to stands where it stood."""
        place = {"$ref": f"{_HERE}#{quote(pointer_to(path))}"}
        said = {"$schema": self.schema["$schema"]} if "$schema" in self.schema else {}
        part = copy(self)
        part.path = path
        part._cost = self._cost.at(path)
        registry = jsonschema_rs.Registry([(_HERE, self.schema)])
        part._compiled = _compiled({**said, **place}, registry, assert_formats=self.assert_formats)
        return part

    def is_valid(self, value: object) -> bool:
        """Tell whether a value fits. Raises InvalidDocument where the check may take too long."""
        self._cost.require_cheap(value)
        return self._compiled.is_valid(value)

    def errors(self, value: object) -> Sequence[jsonschema_rs.ValidationError] | None:
        """Return what is wrong with a value; None where something is, and the list of it may take too long.

        Raises InvalidDocument where the check itself may take too long.
        """
        if self.is_valid(value):
            return ()
        return list(self._compiled.iter_errors(value)) if self._cost.can_list(value) else None

    def is_quick_to_explain(self, value: object) -> bool:
        """Tell whether a slow validator can say in a short time why a value does not fit."""
        return self._cost.can_explain(value)


InWords = Callable[[Validator, Any], list[SchemaProblem]]


@lru_cache(maxsize=4096)
def validator_of(tool: ToolSpec) -> Validator:
    """Return the compiled validator of a tool's arguments. Raises InvalidDocument where the schema is bad."""
    if problems := schema_problems(tool.input_schema):
        raise InvalidDocument(problem.below("/input_schema") for problem in problems)
    return Validator(tool.input_schema, assert_formats=tool.assert_formats)


def unused_words(tool: ToolSpec, error: InvalidDocument) -> str:
    """Return the sentence that a tool's schema is not used, and why and where."""
    problem = error.problems[0]
    where = f" at {problem.pointer}" if problem.pointer else ""
    return f"The schema of {tool.name} is not used: it {problem.message}{where}."


def why_unused(tool: ToolSpec) -> str:
    """Return why no call can be checked by a tool's schema, such as that its check costs too much; "" where it can."""
    try:
        validator_of(tool)
    except InvalidDocument as error:
        return f"{unused_words(tool, error)} Its calls are unscored by the schema gate."
    return ""


def call_problems(tool: ToolSpec, arguments: object) -> list[SchemaProblem]:
    """Return every way in which arguments break the tool's input schema, ordered by pointer and keyword.

    Where a schema is `false`, the keyword is "false". Where the ways are too many to list, one problem says so.
    Raises InvalidDocument where the schema itself is bad, or the check may take too long.
    """
    return schema_words(validator_of(tool), arguments)


def schema_words(validator: Validator, value: object) -> list[SchemaProblem]:
    """Return every way in which a value breaks a schema, as `call_problems` does."""
    if (errors := validator.errors(value)) is None:
        return [SchemaProblem("", TOO_MANY, TOO_MANY_WORDS)]
    found = (
        SchemaProblem(
            pointer_to(_whole_path(value, error.instance_path, error.instance) or error.instance_path),
            _keyword(error),
            error.message[:_MESSAGE_LENGTH],
        )
        for error in errors
        if not _is_there_after_all(error)
    )
    return sorted(found, key=lambda problem: (problem.pointer, problem.keyword, problem.message))


def expectation_problems(
    expectation: Expectation, tools: Sequence[ToolSpec], in_words: InWords = schema_words
) -> list[Problem]:
    """Return where a label does not fit the offered tools; pointers lead into the expectation's document.

    An unknown tool or argument; a value that breaks the schema; a required argument that the label rules out.
    `in_words` says what is wrong with a value: `reasons.reasoned_words` has more of them.
    """
    offered = {tool.name: tool for tool in tools}
    problems: list[Problem] = []
    for pointer, call in expectation.located_calls():
        if (tool := offered.get(call.tool)) is None:
            problems.append(Problem(f"{pointer}/tool", f"{call.tool} is not among the offered tools"))
        elif _is_checkable(tool):
            problems.extend(_call_label_problems(call, tool, pointer, in_words))
    return problems


def _is_checkable(tool: ToolSpec) -> bool:
    try:
        validator_of(tool)
    except InvalidDocument:
        return False
    return True


def _compiled(
    schema: JsonObject, registry: jsonschema_rs.Registry | None = None, *, assert_formats: bool = False
) -> jsonschema_rs.Validator:
    build = _DRAFTS[draft_of(schema)]
    validator: jsonschema_rs.Validator = build(
        schema, pattern_options=PATTERNS, validate_formats=assert_formats, offline=True, registry=registry
    )
    return validator


def _keyword(error: jsonschema_rs.ValidationError) -> str:
    # The path to a schema that is false ends in its place among others, which may be no keyword.
    last = error.schema_path[-1]
    is_false = isinstance(error.kind, jsonschema_rs.ValidationErrorKind.FalseSchema)
    return FALSE if isinstance(last, int) or (is_false and last not in _CLOSING) else last


def _is_there_after_all(error: jsonschema_rs.ValidationError) -> bool:
    # Of a property that is required and not admitted, the engine also says that it is missing while it is there.
    kind, inside = error.kind, error.instance
    return (
        isinstance(kind, jsonschema_rs.ValidationErrorKind.Required)
        and isinstance(inside, dict)
        and kind.property in inside
    )


def _whole_path(value: JsonValue, path: list[str | int], wanted: JsonValue) -> list[str | int] | None:
    """Return the path to what is wrong; the engine leaves empty names out, and the value found shows where."""
    if not path and type(value) is type(wanted) and value == wanted:
        return []
    if path and _has(value, path[0]):
        rest = _whole_path(value[path[0]], path[1:], wanted)
        if rest is not None:
            return [path[0], *rest]
    if isinstance(value, dict) and "" in value:
        rest = _whole_path(value[""], path, wanted)
        if rest is not None:
            return ["", *rest]
    return None


def _has(value: object, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _call_label_problems(call: CallExpectation, tool: ToolSpec, pointer: str, in_words: InWords) -> Iterator[Problem]:
    properties = tool.input_schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    more = tool.input_schema.get("additionalProperties", False)
    open_ended = not known or more is not False or not _COMPOSING.isdisjoint(tool.input_schema)
    unknown = [name for name in call.arguments if name not in known and not open_ended]
    for name in unknown:
        yield Problem(f"{pointer}/arguments{pointer_to([name])}", f"{tool.name} has no argument {name}")
    named = {name: matcher for name, matcher in call.arguments.items() if name not in unknown}
    schema, follows = _walked(tool)
    check = MatcherCheck(schema, tool.name, lambda path, value: in_words(_validator_at(tool, path), value), follows)
    arguments = Fields(named, additional_fields=call.additional_arguments)
    yield from (problem.below(f"{pointer}/arguments") for problem in check.found((), arguments, "").problems)


@lru_cache(maxsize=256)
def _walked(tool: ToolSpec) -> tuple[JsonObject, bool]:
    schema = without_refused_patterns(tool.input_schema)[0]
    return schema, can_follow(schema)


@lru_cache(maxsize=4096)
def _validator_at(tool: ToolSpec, path: Path) -> Validator:
    return validator_of(tool).at(path) if path else validator_of(tool)


class SchemaGate:
    """The schema of one tool. `is_known` is false without a tool, and where no one can check by its schema."""

    def __init__(self, tool: ToolSpec | None) -> None:
        self._validator = None if tool is None else validator_of(tool)
        self.is_known = tool is not None

    def breaks(self, arguments: JsonMapping) -> bool | None:
        """Tell whether arguments break the schema; None where there is none, or their check may take too long."""
        if self._validator is None:
            return None
        try:
            return not self._validator.is_valid(arguments)
        except InvalidDocument:
            return None


NO_SCHEMA = SchemaGate(None)


@lru_cache(maxsize=4096)
def schema_gate(tool: ToolSpec) -> SchemaGate:
    """Return the gate of a tool's schema; NO_SCHEMA where the schema is bad."""
    try:
        return SchemaGate(tool)
    except InvalidDocument:
        return NO_SCHEMA
