"""A policy is read whole or refused by pointer and name, and comes back as it was written."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.guard.shop import POLICY
from tests.grading.strategies import json_values
from toolevals.grading.guard import Policy
from toolevals.grading.guard.rules import RULES
from toolevals.grading.values.documents import schema
from toolevals.grading.values.problems import InvalidDocument

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
GLOBS = st.lists(NAMES, min_size=1, max_size=3)
PLACES = st.lists(
    st.fixed_dictionaries({"tool": NAMES}, optional={"pointer": st.sampled_from(["", "/a", "/items/*/id", "/a~1b"])}),
    min_size=1,
    max_size=2,
)
Options = dict[str, st.SearchStrategy[Any]]
CONTENT: Options = {
    "where": st.sampled_from([["arguments"], ["results"], ["results", "arguments"]]),
    "only": PLACES,
    "exempt": PLACES,
}
COUNTS = st.integers(0, 1_000)
KEYS = st.fixed_dictionaries(
    {},
    optional={
        "allowed_tools": GLOBS,
        "denied_tools": GLOBS,
        "models": GLOBS,
        "providers": GLOBS,
        "addresses": st.just(["192.0.2.0/24", "2001:db8::1"]),
        "requests_a_minute": COUNTS,
        "tokens_a_minute": COUNTS,
    },
)
OPTIONS: dict[str, tuple[Options, Options]] = {
    "keys": ({"keys": st.dictionaries(NAMES, KEYS, min_size=1, max_size=2)}, {}),
    "servers": ({"allowed": GLOBS}, {}),
    "blocked": ({"tools": GLOBS}, {}),
    "calls": ({}, {"most": COUNTS}),
    "tool_rates": ({"a_minute": st.dictionaries(NAMES, COUNTS, min_size=1, max_size=2)}, {}),
    "schema": ({}, {}),
    "order": (
        {
            "preconditions": st.lists(
                st.fixed_dictionaries({"tool": NAMES, "after": GLOBS}, optional={"same": st.just(["id"])}),
                min_size=1,
                max_size=2,
            )
        },
        {},
    ),
    "repeat": ({}, {"most": st.integers(1, 9), "tools": GLOBS, "effect": st.sampled_from(["any", "writes"])}),
    "origin": (
        {"places": PLACES},
        {
            "user": st.booleans(),
            "confirmed": st.lists(NAMES | st.integers(), max_size=2),
            "lists": st.lists(NAMES, max_size=2),
            "trusted": GLOBS,
            "trusted_fields": GLOBS,
            "data": st.just(["url", "email"]),
        },
    ),
    "patterns": (
        {},
        {
            "families": st.just(["secret", "code"]),
            "own": st.just([{"name": "a", "pattern": "a+"}]),
            **CONTENT,
        },
    ),
    "injection": ({}, {"families": st.just(["judge", "role"]), **CONTENT}),
    "personal_data": ({}, {"data": st.just(["iban"]), **CONTENT}),
}


def rules() -> st.SearchStrategy[dict[str, Any]]:
    kinds = [
        st.fixed_dictionaries(
            {"kind": st.just(kind), "mode": st.sampled_from(["off", "audit", "enforce"]), **required}, optional=optional
        )
        for kind, (required, optional) in OPTIONS.items()
    ]
    return st.one_of(kinds)


policies = st.fixed_dictionaries(
    {"rules": st.dictionaries(st.from_regex(r"[a-z][a-z0-9_-]{0,9}", fullmatch=True), rules(), max_size=4)},
    optional={
        "name": NAMES,
        "version": st.integers(1, 99),
        "on_error": st.sampled_from(["refuse", "allow"]),
        "deadline_ms": st.integers(1, 10_000),
    },
)


def test_each_kind_of_rule_is_drawn_and_has_its_schema():
    assert set(OPTIONS) == set(RULES)
    assert set(RULES) <= set(schema("policy")["$defs"])


@given(policies)
def test_a_policy_comes_back_as_it_was_written(document):
    policy = Policy.from_document(document)
    written = policy.to_document()
    assert Policy.from_document(written) == policy
    assert Policy.from_document(written).to_document() == written


@given(json_values)
def test_any_document_is_read_or_refused_with_a_pointer(document):
    for each in (document, {"rules": document}, {"rules": {"a": document}}):
        try:
            Policy.from_document(each)
        except InvalidDocument as error:
            assert error.problems  # noqa: PT017 (either way is right)


@pytest.mark.parametrize(
    ("rule", "pointer", "words"),
    [
        ({"kind": "schemas", "mode": "audit"}, "/rules/a/kind", "is no kind of rule: keys, servers"),
        ({"kind": "calls", "mode": "audit", "mots": 3}, "/rules/a", "'mots'"),
        ({"kind": "calls"}, "/rules/a", '"mode" is a required property'),
        ({"kind": "calls", "mode": "on"}, "/rules/a/mode", '"on" is not one of'),
        ({"kind": "keys", "mode": "off", "keys": {"a": {"tools": ["b"]}}}, "/rules/a/keys/a", "'tools'"),
        (
            {"kind": "keys", "mode": "off", "keys": {"a": {"allowed_tools": []}}},
            "/rules/a/keys/a/allowed_tools",
            "empty",
        ),
        (
            {"kind": "keys", "mode": "off", "keys": {"a/b": {"addresses": ["192.0.2.0/99"]}}},
            "/rules/a/keys/a~1b/addresses/0",
            "is neither an address nor a network",
        ),
        (
            {"kind": "patterns", "mode": "off", "own": [{"name": "a", "pattern": "(?=b)"}]},
            "/rules/a/own/0/pattern",
            "the pattern is refused",
        ),
        (
            {"kind": "origin", "mode": "off", "places": [{"pointer": "amount"}]},
            "/rules/a/places/0/pointer",
            "JSON pointer",
        ),
        ({"kind": "patterns", "mode": "off", "families": ["lisp"]}, "/rules/a/families/0", '"lisp"'),
    ],
)
def test_what_is_unknown_or_wrong_is_refused_by_its_place(rule, pointer, words):
    with pytest.raises(InvalidDocument) as caught:
        Policy.from_document({"rules": {"a": rule}})
    (problem,) = caught.value.problems
    assert problem.pointer == pointer
    assert words in problem.message


def test_every_problem_is_named():
    document = deepcopy(POLICY)
    document["rules"]["patterns"]["own"] = [{"name": "a", "pattern": "("}, {"name": "b", "pattern": ")"}]
    with pytest.raises(InvalidDocument) as caught:
        Policy.from_document(document)
    assert [problem.pointer for problem in caught.value.problems] == [
        "/rules/patterns/own/0/pattern",
        "/rules/patterns/own/1/pattern",
    ]


def test_an_id_of_a_rule_is_a_plain_name():
    with pytest.raises(InvalidDocument, match="the id of a rule is"):
        Policy.from_document({"rules": {"A b": {"kind": "calls", "mode": "off"}}})
