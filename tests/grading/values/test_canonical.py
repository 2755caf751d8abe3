import json
from typing import Any

import pytest
from hypothesis import given

from tests.grading.strategies import json_values
from toolevals.grading.values.canonical import MAX_DEPTH, canonical, digest, exact, parse, shown


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


@given(json_values)
def test_text_reads_back_as_the_same_value(value):
    assert json.dumps(parse(canonical(value)), sort_keys=True) == json.dumps(value, sort_keys=True)


@given(json_values)
def test_the_canonical_form_of_the_canonical_form_is_itself(value):
    assert canonical(parse(canonical(value))) == canonical(value)


@given(json_values)
def test_a_large_integer_beside_a_value_changes_nothing_in_the_value(value):
    # Large integers take another path through the code.
    assert canonical([value, 2**80]) == f"[{canonical(value)},{2**80}]"


def test_keys_are_sorted_by_code_point_and_nothing_is_padded():
    assert canonical({"b": 1, "a": [1.0, None], "é": "é", "\U0001f600": 0, "\uffff": 0}) == (
        '{"a":[1.0,null],"b":1,"é":"é","\uffff":0,"\U0001f600":0}'
    )


@pytest.mark.parametrize("value", [1e16, 1e-5, 1.5e300, 5e-324, -0.0, 100000.0])
def test_floats_have_one_text_on_both_paths(value):
    assert canonical([value, 2**80]) == f"[{canonical(value)},{2**80}]"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_json_lacks_are_refused(value):
    for holder in (value, [None, value], {"a": {"b": value}}, [2**80, value]):
        with pytest.raises(ValueError, match="not a JSON value"):
            canonical(holder)


@given(json_values)
def test_what_is_beside_null_is_written_as_without_it(value):
    # null is what orjson writes for a number that JSON lacks, so that texts with it are looked at again.
    assert exact([value, None, (value,)]) == f"[{exact(value)},null,[{exact(value)}]]"


@pytest.mark.parametrize("value", ["\0", ["a\0"], {"\0": 1}, [2**80, "\0"]])
def test_nul_is_refused(value):
    with pytest.raises(ValueError, match="NUL"):
        canonical(value)


def test_an_escaped_backslash_before_u0000_is_no_nul():
    assert parse(canonical("\\u0000")) == "\\u0000"


@pytest.mark.parametrize("value", ["\ud800", {"\udfff": 1}, [2**80, "\ud800"]])
def test_lone_surrogates_are_refused(value):
    with pytest.raises(ValueError, match="surrogate"):
        canonical(value)


@pytest.mark.parametrize("value", [{1: 2}, {1: 2**80}, {"a": object()}, b"bytes", {1, 2}])
def test_what_is_not_json_is_refused(value):
    with pytest.raises(ValueError):
        canonical(value)


def test_both_paths_have_the_same_limit_of_depth():
    canonical(nested(MAX_DEPTH))
    canonical([*nested(MAX_DEPTH - 1), 2**80])
    for value in (nested(MAX_DEPTH + 1), [*nested(MAX_DEPTH + 1), 2**80]):
        with pytest.raises(ValueError, match="nested deeper"):
            canonical(value)


def test_one_and_one_point_nought_stay_two_values():
    assert canonical(1) != canonical(1.0)
    assert type(parse(canonical(1.0))) is float


def test_integers_beyond_64_bits_survive():
    assert parse(canonical({"n": 2**64})) == {"n": 2**64}
    assert parse(str(-(2**63) - 1)) == -(2**63) - 1


def test_an_integer_of_too_many_digits_is_refused():
    assert canonical(10**4300 - 1) == "9" * 4300
    for value in (10**4300, [-(10**4300)], 1 << 2_000_000):
        with pytest.raises(ValueError, match="an integer has more than 4,300 digits"):
            canonical(value)


def test_anything_can_be_shown_to_people():
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    assert shown({"b": 1, "a": 2}, 40) == '{"a":2,"b":1}'
    assert shown("x" * 50, 10) == f'"{"x" * 9}…'
    for value in (deep, 10**5000, [10**5000], "\0", "\ud800", {1: "\ud800"}, float("nan"), object()):
        assert len(canonical(shown(value, 40))) > 2


@pytest.mark.parametrize("text", ["NaN", "[1e999]", "[12345678901234567890, NaN]", "{", '"\\ud800"'])
def test_bad_text_is_refused(text):
    with pytest.raises(ValueError):
        parse(text)


def test_the_digest_depends_on_content_alone():
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert len(digest(None)) == 64


def test_exact_text_keeps_the_order_of_keys_and_canonical_text_does_not():
    value = {"b": [1, {"d": 2**70, "c": None}], "a": 1.0}
    assert exact(value) == '{"b":[1,{"d":1180591620717411303424,"c":null}],"a":1.0}'
    assert canonical(value) == '{"a":1.0,"b":[1,{"c":null,"d":1180591620717411303424}]}'
    assert exact({"b": 1, "a": "x"}) == '{"b":1,"a":"x"}'
