from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading.strategies import json_values, profiles, text
from toolevals.grading.matching.equality import PROFILES, bfcl_text, number_in
from toolevals.grading.values import ProfileName
from toolevals.grading.values.canonical import canonical

ALL: tuple[ProfileName, ...] = ("strict", "standard", "loose", "bfcl")


@given(json_values, json_values, profiles)
def test_equality_is_symmetric_and_the_same_as_equality_of_forms(left, right, name):
    profile = PROFILES[name]
    assert profile.equal(left, right) == profile.equal(right, left)
    assert profile.equal(left, right) == (canonical(profile.form(left)) == canonical(profile.form(right)))


@given(json_values, profiles)
def test_equality_is_reflexive_and_forms_are_their_own_forms(value, name):
    profile = PROFILES[name]
    assert profile.equal(value, value)
    assert canonical(profile.form(profile.form(value))) == canonical(profile.form(value))


@pytest.mark.parametrize(
    ("left", "right", "equal_under"),
    [
        (1, 1.0, ("standard", "loose", "bfcl")),
        ({"a": [1]}, {"a": [1.0]}, ("standard", "loose", "bfcl")),
        (True, 1, ()),
        (False, 0, ()),
        (None, False, ()),
        (None, 0, ()),
        ("", None, ()),
        ("5", 5, ("loose",)),
        ("5.0", 5, ("loose",)),
        ("0.1", 0.1, ("loose",)),
        ("1e3", "1000", ("loose",)),
        ("٥", 5, ()),
        ("5 apples", 5, ()),
        (" x ", "x", ("standard", "loose", "bfcl")),
        ("a b", "ab", ("bfcl",)),
        ("New York, NY", "new-york_ny", ("bfcl",)),
        ("it's", 'it"s', ("bfcl",)),
        ("X", "x", ("bfcl",)),
        ([1, 2], [2, 1], ()),
        ([1], [1, 1], ()),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ALL),
        ({"a": 1}, {"a": 1, "b": None}, ()),
        ({"a": 1}, [1], ()),
        ([], {}, ()),
        ([], "", ()),
        (0, [], ()),
        (9007199254740993, 9007199254740992.0, ()),
        (0.0, -0.0, ALL),
    ],
)
def test_what_is_equal_under_which_profile(left, right, equal_under):
    assert tuple(name for name in ALL if PROFILES[name].equal(left, right)) == tuple(equal_under)


def test_dots_and_underscores_in_names_are_one_in_two_profiles():
    same = [name for name in ALL if PROFILES[name].tool_name("a.b") == PROFILES[name].tool_name("a_b")]
    assert same == ["loose", "bfcl"]


@pytest.mark.parametrize("text", ["1e999", "nan", "inf", "0x10", "1_000", "", "-", ".", "9" * 401, "1e5000", "1,5"])
def test_what_is_no_number(text):
    assert number_in(text) is None


@pytest.mark.parametrize(
    ("text", "number"), [("+5", 5), (" -2.50 ", -2.5), (".5", 0.5), ("5.", 5.0), ("9" * 30, int("9" * 30))]
)
def test_what_is_a_number(text, number):
    assert number_in(text) == number


def test_text_as_the_leaderboard_reads_it():
    assert bfcl_text("It's 3/4-inch, v1.0_beta*^") == 'it"s34inchv10beta'


# Few enough that many of a draw are equal under some profile, and near where floats end to tell integers apart.
near = st.sampled_from(
    [2**53, 2**53 + 1, float(2**53), "9007199254740992", "9007199254740993", "9007199254740993.0", 10**23, 1e23,
     "1e23", 0, -0.0, 0.0, "0", "-0", "0.0", "1e-400", 1, True, "1", " 1", "1.0", "+1", "A b", "a b", "ab", "a_b ",
     None, "", " "]
)  # fmt: skip
values = st.recursive(
    near, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
)


@given(values, values, values, profiles)
def test_equality_is_transitive_where_floats_end_too(one, other, third, name):
    profile = PROFILES[name]
    if profile.equal(one, other) and profile.equal(other, third):
        assert profile.equal(one, third)
    assert profile.equal(one, other) == (canonical(profile.form(one)) == canonical(profile.form(other)))


@given(values | json_values, values | json_values)
def test_what_is_equal_under_one_profile_is_equal_under_the_next(left, right):
    equal = {name: PROFILES[name].equal(left, right) for name in ALL}
    assert equal["strict"] <= equal["standard"] <= equal["loose"]


@given(json_values, profiles, st.randoms(use_true_random=False))
def test_the_order_of_keys_is_free_at_every_level(value, name, shuffle):
    def shuffled(each: Any) -> Any:
        if isinstance(each, dict):
            return {key: shuffled(each[key]) for key in shuffle.sample(list(each), len(each))}
        return [shuffled(item) for item in each] if isinstance(each, list) else each

    assert PROFILES[name].equal(value, shuffled(value))


@given(text, profiles)
def test_the_form_of_a_name_is_its_own_form(name, profile):
    form = PROFILES[profile].tool_name
    assert form(form(name)) == form(name)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        ("9007199254740993", 2**53 + 1, True),
        ("9007199254740993", 2**53, False),
        # As JSON reads them: the first has a point, so it is a float, and floats end there.
        ("9007199254740993.0", 2**53, True),
        ("9" * 400, int("9" * 400), True),
        ("9" * 401, int("9" * 401), False),
        ("1e309", float("1e308"), False),
        ("1e309", "1e310", False),
        ("0x10", 16, False),
        ("1,000", 1000, False),
    ],
)
def test_numbers_in_text_are_exact_as_far_as_json_is(left, right, equal):
    assert PROFILES["loose"].equal(left, right) == PROFILES["loose"].equal(right, left) == equal


def test_whole_floats_keep_their_value_in_the_strict_form():
    strict = PROFILES["strict"]
    assert canonical(strict.form(2.0)) != canonical(strict.form(3.0))
    assert canonical(strict.form(-0.0)) == canonical(strict.form(0.0))
    assert canonical(strict.form(2.0)) != canonical(strict.form(2))
