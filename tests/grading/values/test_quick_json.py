"""The quick reading of JSON text gives what the careful one gives, or nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.grading import strategies
from toolevals.grading.values.documents import UNSURE, load_json, read_quickly
from toolevals.grading.values.problems import InvalidDocument

DEPTH = 200
# Pieces of which most texts are nearly JSON.
_MARKS = ['{"a":1', ":", ",", "{", "}", "[", "]", " ", "\ufeff", "\0"]
_KEYS = ['"a"', '"a" ', '"b"', '"\\""', '"\\\\"', '":"', '"\\u0022"']
_SCALARS = ["1", "-0", "1e5", "9" * 19, "9" * 21, "1e400", "true", "NaN"]
_TEXTS = ['"a"', '"a:b"', '"\\u0000"', '"\\u003a"', '"\\ud800"', '"\\\\u0000"', '"é"', '"\ud800"']
pieces = st.lists(st.sampled_from([*_MARKS, *_SCALARS, *_TEXTS]), max_size=12).map("".join)


def carefully(text: str) -> Any:
    """Return what the careful parser says, which alone reads bytes."""
    try:
        return load_json(text.encode("utf-8", "surrogatepass"))
    except InvalidDocument:
        return UNSURE


def same(left: Any, right: Any) -> bool:
    return json.dumps(left) == json.dumps(right)


@given(strategies.arguments, st.booleans(), st.sampled_from([None, 1]))
def test_what_is_read_quickly_is_what_is_read_carefully(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    quick = read_quickly(text, DEPTH)
    assert quick is UNSURE or same(quick, carefully(text))


@given(pieces | st.lists(pieces, max_size=3).map(lambda parts: "{" + ",".join(f'"a":{part}' for part in parts) + "}"))
def test_text_that_is_nearly_json_is_never_read_otherwise(text):
    quick = read_quickly(text, DEPTH)
    if quick is not UNSURE:
        careful = carefully(text)
        assert careful is not UNSURE
        assert same(quick, careful)


@given(
    st.recursive(
        st.sampled_from(['"x"', '":"', '"\\":"', '"\\\\":"', "1.5"]),
        lambda inner: st.lists(st.tuples(st.sampled_from(_KEYS), inner), max_size=3).map(
            lambda pairs: "{" + ",".join(f"{key}:{value}" for key, value in pairs) + "}"
        ),
        max_leaves=6,
    )
)
def test_a_pair_that_is_lost_shows_whatever_strings_hold(text):
    quick = read_quickly(text, DEPTH)
    if quick is not UNSURE:
        assert same(quick, carefully(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": ["x", 2.5, {"c": null}]}',
        '{"a": {"text": "{\\"b\\": 1, \\"c\\": 2}"}}',
        '{"a": [' + ",".join(['{"b": [1]}'] * 201) + "]}",
        '{"time": "10:30", "url": "https://x.y"}',
        '{"a:b": {"c": [":"]}}',
        "{}",
        '{"a": "\\u00e9\\n"}',
        '{"a": -1.5e10}',
    ],
)
def test_ordinary_text_is_read_quickly(text):
    assert same(read_quickly(text, DEPTH), json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"a": {"b" : 1, "b": 2}, "c": ":"}',
        '{"a": {"b": 1, "b": 2}, "c": "\\u0022:"}',
        '{"a": {"b": 1, "b": 2}}',
        '{"a": 1, "\\u0061": 2}',
        '{"a": "x:", "a": "\\u003ay"}',
        '{"a": "\\u0000"}',
        '{"a": 123456789012345678901}',
        '{"a": [-123456789012345678901]}',
        '{"a": "\\ud800"}',
        '{"a": "\ud800"}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": ' + "[" * 201 + "]" * 201 + "}",
        '{"a": ' + "[" * 100_000,
        "[1]",
        "",
    ],
)
def test_what_may_have_a_fault_is_left_to_the_careful_reading(text):
    assert read_quickly(text, DEPTH) is UNSURE
