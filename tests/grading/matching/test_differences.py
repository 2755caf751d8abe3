"""Test which part of an argument is wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from tests.grading.strategies import call_expectations, json_values, profiles, small
from toolevals.grading.matching.compiled_calls import compile_call
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.matching.value_differences import MOST_PARTS, argument_differences
from toolevals.grading.values import CallExpectation
from toolevals.grading.values.matchers import Exact, Fields, Items, Matcher, OneOf, Range
from toolevals.grading.values.verdicts import ArgumentDifference

STANDARD = PROFILES["standard"]


def differences(matcher: Matcher, value: Any, profile: str = "standard") -> list[ArgumentDifference]:
    call = compile_call(CallExpectation("t", {"a": matcher}), PROFILES[profile])  # type: ignore[index]
    return list(argument_differences(call, {"a": value}, PROFILES[profile], 0))  # type: ignore[index]


def parts(matcher: Matcher, value: Any) -> dict[str, tuple[Any, Any, str]]:
    return {each.path: (each.expected, each.actual, each.kind) for each in differences(matcher, value)}


def test_the_wrong_part_of_an_object_is_named():
    expected = {"to": {"city": "Rome", "zip": "00100"}, "note": ["a", {"b": 1}]}
    actual = {"to": {"city": "Roma", "street": "Via 1"}, "note": ["a", {"b": 1.0}]}
    assert parts(Exact(expected), actual) == {
        "/a/to/city": ({"exact": "Rome"}, "Roma", "changed"),
        "/a/to/zip": ({"exact": "00100"}, None, "missing"),
        "/a/to/street": (None, "Via 1", "extra"),
        "/a/note": ({"exact": ["a", {"b": 1}]}, ["a", {"b": 1.0}], "same"),
    }


def test_the_wrong_item_of_a_list_is_named_and_missing_and_further_ones_too():
    assert parts(Exact([1, [2, 3]]), [1, [2, 4, 5]]) == {
        "/a/0": ({"exact": 1}, 1, "same"),
        "/a/1/0": ({"exact": 2}, 2, "same"),
        "/a/1/1": ({"exact": 3}, 4, "changed"),
        "/a/1/2": (None, 5, "extra"),
    }
    assert parts(Exact([1, 2]), [1])["/a/1"] == ({"exact": 2}, None, "missing")
    wanted = Items((Range(1, 2), Exact(3, optional=True)))
    assert parts(wanted, [5]) == {
        "/a/0": ({"range": [1, 2]}, 5, "changed"),
        "/a/1": ({"exact": 3}, None, "missing"),
    }


def test_names_are_escaped_in_paths():
    assert list(parts(Exact({"x/y": {"~": 1}}), {"x/y": {"~": 2}})) == ["/a/x~1y/~0"]


@pytest.mark.parametrize(
    ("matcher", "value"),
    [(Exact({"b": 1}), [1]), (Exact([1]), {"0": 1}), (OneOf(({"b": 1}, {"b": 2})), {"b": 3}), (Exact(1), {"b": 1})],
)
def test_a_value_of_another_type_and_one_of_several_are_shown_whole(matcher, value):
    assert parts(matcher, value) == {"/a": (matcher.to_document(), value, "changed")}


def test_fields_are_opened_to_the_matcher_inside():
    matcher = Fields({"deep": Fields({"n": Range(1, 2), "v": Exact({"w": 1})})})
    assert {each.path: each.kind for each in differences(matcher, {"deep": {"n": 3, "v": {"w": 2}}})} == {
        "/a/deep/n": "changed",
        "/a/deep/v/w": "changed",
    }


def test_an_argument_of_very_many_parts_is_shown_whole():
    most = list(range(MOST_PARTS))
    assert len(differences(Exact(most), most[::-1])) == MOST_PARTS
    assert [each.path for each in differences(Exact([*most, 0]), [*most, 1])] == ["/a"]


@given(json_values, json_values, profiles)
def test_some_part_differs_where_the_whole_does_and_none_where_it_does_not(left, right, profile):
    kinds = {each.kind for each in differences(Exact(left), right, profile)}
    assert (kinds == {"same"}) == PROFILES[profile].equal(left, right)


def test_each_part_is_looked_at_once_however_deep_it_lies():
    def nested(last: int) -> Any:
        value: Any = {"bulk": list(range(20_000)), "last": last}
        for _ in range(150):
            value = {"in": value}
        return value

    expected, given_value = Exact(nested(1)), nested(2)
    # 0.05 s where it was measured; once for each level would be more than 2 s.
    assert best_seconds(lambda: differences(expected, given_value), enough=1) < 1
    found = differences(expected, given_value)
    assert [each.path for each in found if each.kind == "changed"] == ["/a" + "/in" * 150 + "/last"]


@given(call_expectations, profiles, st.data())
def test_arguments_without_a_fault_are_all_shown_as_the_same(call, profile, data):
    named = {
        name: st.sampled_from([getattr(matcher, "value", "a"), *getattr(matcher, "values", ())]) | small
        for name, matcher in call.arguments.items()
    }
    actual = data.draw(st.fixed_dictionaries({}, optional={**named, "more": small}))
    compiled = compile_call(call, PROFILES[profile])
    check = compiled.check(actual)
    kinds = {each.kind for each in argument_differences(compiled, actual, PROFILES[profile], 0)}
    assert (kinds <= {"same"}) == (check.faults == 0)
