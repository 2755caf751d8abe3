"""The fast validator finds the faults that the reference validator finds: over every keyword, in every draft.

Where the two are known to differ is in `DIFFERENCES`, by name: the fast one's answer is the one that we want, but for
`content_encoding`, where either will do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grading.reference import reference_problems
from toolevals.grading.json_schema.conformance import FALSE, call_problems, validator_of
from toolevals.grading.values import ToolSpec
from toolevals.grading.values.problems import target_of
from toolevals.grading.values.verdicts import SchemaProblem

DRAFTS = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019-09": "https://json-schema.org/draft/2019-09/schema",
    "2020-12": "https://json-schema.org/draft/2020-12/schema",
}
ORDER = list(DRAFTS)
Schemas = st.SearchStrategy[Any]

NAMES = st.sampled_from(["a", "b", "c", "a/b", "~"])
TEXTS = st.sampled_from(["", "a", "ab", "abc", "b1", "é", "😀", "10", "A"])
NUMBERS = st.sampled_from([0, 1, 1.0, 2, 2.5, -1, 3, 10, -0.5, 1e3, 2**53])
SCALARS = TEXTS | NUMBERS | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=3)
# Patterns that both engines take, and read alike.
PATTERNS = st.sampled_from(["^a", "b$", "^[a-c]{1,2}$", "[0-9]+", "x|y|a", "^$", ".", "a.?c", "^(ab)*$", "[^a]"])
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
SIZES = st.integers(0, 3)


def since(draft: str, first: str) -> bool:
    return ORDER.index(draft) >= ORDER.index(first)


def keywords(draft: str, inner: Schemas) -> dict[str, Schemas]:
    """Return every keyword of a draft that says something about values, with what may stand under it."""
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(NAMES, inner, max_size=3)
    found: dict[str, Schemas] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(SCALARS | VALUES, min_size=1, max_size=4, unique_by=repr),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minimum": NUMBERS,
        "maximum": NUMBERS,
        "minLength": SIZES,
        "maxLength": SIZES,
        "pattern": PATTERNS,
        "minItems": SIZES,
        "maxItems": SIZES,
        "uniqueItems": st.booleans(),
        "minProperties": SIZES,
        "maxProperties": SIZES,
        "required": st.lists(NAMES, min_size=1, max_size=2, unique=True),
        "properties": named,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=2),
        "additionalProperties": st.booleans() | inner,
        "allOf": several,
        "anyOf": several,
        "oneOf": several,
        "not": inner,
        "format": st.sampled_from(["date", "email", "uuid"]),
        "title": st.just("t"),
    }
    return found | keywords_by_draft(draft, inner, several, named)


def keywords_by_draft(draft: str, inner: Schemas, several: Schemas, named: Schemas) -> dict[str, Schemas]:
    found: dict[str, Schemas] = {"items": inner}
    if draft == "4":
        found |= {"exclusiveMinimum": st.booleans(), "exclusiveMaximum": st.booleans()}
    else:
        found |= {"const": VALUES, "contains": inner, "propertyNames": inner}
        found |= {"exclusiveMinimum": NUMBERS, "exclusiveMaximum": NUMBERS}
    if since(draft, "7"):
        found |= {"if": inner, "then": inner, "else": inner}
    if since(draft, "2019-09"):
        found |= {"minContains": SIZES, "maxContains": SIZES, "dependentSchemas": named}
        found |= {"dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2)}
        found |= {"unevaluatedProperties": inner, "unevaluatedItems": inner}
    else:
        found["dependencies"] = st.dictionaries(
            NAMES, inner | st.lists(NAMES, min_size=1, max_size=2, unique=True), max_size=2
        )
    if draft == "2020-12":
        found["prefixItems"] = several
    else:
        found |= {"items": inner | several, "additionalItems": inner}
    return found


def schemas(draft: str) -> Schemas:
    """Return a strategy of schemas of a draft in which every keyword may stand at any depth."""
    target = {"$ref": "#/definitions/other"}
    leaf = st.sampled_from([{}, target] if draft == "4" else [{}, True, False, target])
    tree = st.recursive(leaf, lambda inner: objects(draft, inner), max_leaves=5)
    root = objects(draft, tree)
    other = objects(draft, leaf.filter(lambda drawn: drawn != target))
    return st.tuples(root, other).map(
        lambda drawn: {"$schema": DRAFTS[draft], "definitions": {"other": drawn[1]}, **drawn[0]}
    )


def objects(draft: str, inner: Schemas) -> Schemas:
    known = keywords(draft, inner)
    chosen = st.lists(st.sampled_from(sorted(known)), min_size=1, max_size=4, unique=True)
    return chosen.flatmap(lambda names: st.fixed_dictionaries({name: known[name] for name in names})).map(with_bounds)


def with_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema in which each boolean `exclusive...` of draft 4 has the bound that it speaks of."""
    bounds = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
    return {bound: 1 for word, bound in bounds.items() if isinstance(schema.get(word), bool)} | schema


def places(problems: Iterable[Any]) -> set[tuple[str, str]]:
    return {(problem.pointer, problem.keyword) for problem in problems}


@pytest.mark.parametrize("draft", DRAFTS)
def test_both_validators_find_the_same_faults(draft):
    @settings(max_examples=60)
    @given(schemas(draft), ARGUMENTS)
    def agree(schema, arguments):
        tool = ToolSpec("t", "", schema)
        slow = reference_problems(tool, arguments)
        assert validator_of(tool).is_valid(arguments) is not bool(slow)
        assert without_repeats(call_problems(tool, arguments)) == without_repeats(slow)

    agree()


def without_repeats(problems: list[SchemaProblem]) -> set[tuple[str, str]]:
    """Return the faults but for what is unevaluated where there is another fault: see `unevaluated_too`."""
    found = places(problems)
    return {each for each in found if not each[1].startswith("unevaluated")} or found


@settings(max_examples=60)
@given(schemas("2020-12"), ARGUMENTS)
def test_faults_come_in_one_order_and_name_a_keyword_and_a_place(schema, arguments):
    problems = call_problems(ToolSpec("t", "", schema), arguments)
    assert problems == sorted(problems, key=lambda each: (each.pointer, each.keyword, each.message))
    again = dict(reversed(list(arguments.items())))
    assert places(call_problems(ToolSpec("t", "", schema), again)) == places(problems)
    for problem in problems:
        assert problem.message
        assert problem.keyword in {*keywords("2020-12", st.nothing()), FALSE}
        assert target_of(arguments, f"#{quote(problem.pointer)}", "")[1] == problem.pointer


# By name: the argument's schema, its value, the keywords that the fast validator finds broken, and those that the
# reference does: None where it raises.
DIFFERENCES: dict[str, tuple[dict[str, Any], Any, list[str], list[str] | None]] = {
    # 19.99 is a multiple of 0.01 as both are written, not as binary fractions.
    "decimal_multiples": ({"multipleOf": 0.01}, 19.99, [], ["multipleOf"]),
    # As in ECMA-262, which JSON Schema names: `$` is the end of the text, not a line feed before it.
    "end_of_text": ({"pattern": "a$"}, "a\n", ["pattern"], []),
    # As there: `\\d` and `\\w` are ASCII.
    "ascii_digits": ({"pattern": r"^\d$"}, "٣", ["pattern"], []),
    "ascii_words": ({"pattern": r"^\w$"}, "é", ["pattern"], []),
    # Syntax of ECMA-262 that Python's `re` has not.
    "unicode_properties": ({"pattern": r"^\p{L}$"}, "é", [], None),
    "control_letters": ({"pattern": r"^\cA$"}, "\x01", [], None),
    "any_character": ({"pattern": "[^]"}, "a", [], None),
    "named_groups": ({"pattern": "(?<x>a)"}, "a", [], None),
    # What `additionalProperties` refuses it has evaluated.
    "unevaluated_too": (
        {"additionalProperties": False, "unevaluatedProperties": False},
        {"b": 1},
        ["additionalProperties"],
        ["additionalProperties", "unevaluatedProperties"],
    ),
    # Drafts 6 and 7 let a validator check what later ones call an annotation.
    "content_encoding": (
        {"$schema": DRAFTS["7"], "contentEncoding": "base64"},
        "?",
        ["contentEncoding"],
        [],
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_the_known_differences_are_these(name):
    schema, value, fast, slow = DIFFERENCES[name]
    draft = {"$schema": schema["$schema"]} if "$schema" in schema else {}
    tool = ToolSpec("t", "", {**draft, "properties": {"a": schema}})
    assert [problem.keyword for problem in call_problems(tool, {"a": value})] == fast
    if slow is None:
        with pytest.raises(re.error):
            reference_problems(tool, {"a": value})
    else:
        assert [problem.keyword for problem in reference_problems(tool, {"a": value})] == slow


def test_a_false_schema_for_a_pattern_is_told_of_at_the_property():
    tool = ToolSpec("t", "", {"patternProperties": {"^a": False}})
    assert places(call_problems(tool, {"a": 1})) == places(reference_problems(tool, {"a": 1})) == {("/a", FALSE)}


@pytest.mark.parametrize("draft", DRAFTS)
def test_format_is_an_annotation_in_every_draft(draft):
    tool = ToolSpec("t", "", {"$schema": DRAFTS[draft], "properties": {"a": {"format": "email"}}})
    assert call_problems(tool, {"a": "no address"}) == []


def test_both_validators_say_where_a_schema_that_admits_nothing_stands():
    tool = ToolSpec("t", "", {"properties": {"a": {"properties": {"b/c": False}}}, "additionalProperties": False})
    arguments = {"a": {"b/c": 1}}
    assert (
        places(reference_problems(tool, arguments)) == places(call_problems(tool, arguments)) == {("/a/b~1c", "false")}
    )
