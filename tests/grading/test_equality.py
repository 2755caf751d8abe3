import pytest
from hypothesis import given

from tests.grading.strategies import json_values, profiles
from toolevals.grading.canonical import canonical
from toolevals.grading.equality import PROFILES, bfcl_text, number_in
from toolevals.grading.values import ProfileName

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
