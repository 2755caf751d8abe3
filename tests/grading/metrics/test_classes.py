"""Classes for several tools: no sum is lost in folding, and no two sets share a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.metrics.confusion import (
    SPECIAL,
    collapsed_class,
    namespace_of,
    namespaces,
    set_class,
    tools_of_class,
)
from toolevals.grading.values.verdicts import NONE

TOOLS = st.text(st.sampled_from("ab_.+\\ :/,1Q"), min_size=1, max_size=8)
NAMES = TOOLS | st.sampled_from(SPECIAL)
COUNTS = st.dictionaries(st.tuples(NAMES, NAMES), st.integers(1, 9), max_size=12)


@pytest.mark.parametrize(
    ("name", "namespace"),
    [
        ("math.sqrt", "math."),
        ("a.b.c", "a.b."),
        ("mcp__github__search", "mcp__github__"),
        ("orders/get", "orders/"),
        ("shop::get", "shop::"),
        ("shop:get", "shop:"),
        ("Trains_1_GetTickets", "Trains_1_"),
        ("get_order", ""),
        ("version_2", ""),
        ("__init", ""),
        ("end.", ""),
        ("a,b.c", ""),
        ("(none)", ""),
    ],
)
def test_what_stands_before_the_tool_is_its_namespace(name, namespace):
    assert namespace_of(name) == namespace


def test_a_namespace_is_shared_by_two_tools_at_least():
    assert namespaces(["math.sqrt", "math.sin", "geo.area", "plain"]) == {"math.": 2}


@given(NAMES, st.sets(NAMES.map(namespace_of), max_size=4))
def test_what_is_folded_is_not_folded_again(name, collapsed):
    folded = collapsed_class(name, collapsed)
    assert collapsed_class(folded, collapsed) == folded


def test_special_classes_are_never_folded():
    assert {collapsed_class(name, "*") for name in SPECIAL} == set(SPECIAL)
    assert collapsed_class("math.sqrt", "*") == "math.*"
    assert collapsed_class("math.sqrt", ("geo.",)) == "math.sqrt"
    assert collapsed_class("math.sin + math.sqrt + pay", ("math.",)) == "math.* + pay"


@given(st.sets(TOOLS, min_size=2), st.sets(NAMES, min_size=2))
def test_a_set_is_known_by_its_class(one, other):
    assert set(tools_of_class(set_class(one))) == one
    if set_class(one) == set_class(other):
        assert one == other - {NONE}


def test_a_set_of_nothing_or_of_one_tool():
    assert set_class([]) == set_class([NONE]) == NONE
    assert set_class(["a", NONE, "a"]) == "a"
    assert set_class(["b", "a"]) == "a + b"
