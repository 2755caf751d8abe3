"""Masking: what differs from one time to the next is masked, what says what went wrong stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.failures import masked

DIFFERING = st.one_of(
    st.uuids().map(str),
    st.integers(-(10**12), 10**12).map(str),
    st.floats(0.01, 1e6, allow_nan=False).map(lambda value: f"{value:.2f}"),
    st.datetimes().map(lambda moment: moment.isoformat(timespec="seconds")),
    st.dates().map(str),
    st.from_regex(r"\A[A-Z]{2,5}-?[0-9]{2,8}\Z"),
    st.from_regex(r"\A#?[A-Z][0-9]{7}\Z"),
    st.from_regex(r"\A[a-z]{3,8}_[a-z]{3,8}_[0-9]{4}\Z"),
    st.from_regex(r"\A/(srv|home|var)/[a-z]{1,8}/[a-z]{1,8}\.py\Z"),
    st.from_regex(r'\A"[a-zA-Z ]{1,20}"\Z'),
    st.from_regex(r"\A'[a-zA-Z ]{1,20}'\Z"),
    st.from_regex(r"\A[a-z]{2,8}@[a-z]{2,8}\.com\Z"),
    st.from_regex(r"\Ahttps://[a-z]{2,8}\.org/[a-z0-9]{1,9}\Z"),
)
TEMPLATES = (
    "Error: order {} not found",
    "{}: no such user",
    "total price is {}, but paid {}",
    "Service unavailable, try again after {}",
    "items [{}, {}] are not in the order",
)


@given(
    st.sampled_from(TEMPLATES), st.lists(DIFFERING, min_size=2, max_size=2), st.lists(DIFFERING, min_size=2, max_size=2)
)
def test_one_kind_of_error_has_one_text(template, first, second):
    assert masked(template.format(*first)) == masked(template.format(*second))


@given(st.text(max_size=300))
def test_masking_what_is_masked_changes_nothing_more(text):
    once = masked(text)
    assert masked(masked(once)) == masked(once)
    assert len(once) <= 300


@given(st.from_regex(r"\A[A-Za-zé]{3,12}( [A-Z][a-z]{1,9})?\Z"), st.from_regex(r"\A[A-Za-zé]{3,12}\Z"))
def test_what_the_call_was_made_with_is_masked(first, second):
    words = [f"There is no airport {each}, sorry" for each in (first, second)]
    texts = {
        masked(said, [each])
        for said, each in zip(words, (first, second), strict=True)
        if each not in ("airport", "There", "sorry")
    }
    assert len(texts) <= 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Error: 503 Service Unavailable", "Error: 503 Service Unavailable"),
        ("503 Service Unavailable", "503 Service Unavailable"),
        ("HTTP/1.1 404", "HTTP/1.1 404"),
        ('{"error": "not found", "code": 404, "id": "W12"}', "error: not found code: 404 id: …"),
        ('"Order not found."', "Order not found"),
        ("Flight HAT123 is full on 2024-05-13", "Flight … is full on …"),
        ("can't read 'x y', it isn't there", "can't read …, it isn't there"),
        ("  a\n\n b\t c ", "a b c"),
        ("", ""),
    ],
)
def test_what_says_what_went_wrong_stays(text, left):
    assert masked(text) == left


def test_hostile_text_takes_no_longer_than_its_length():
    for text in (
        "'" * 50_000,
        "a_" * 50_000,
        "1-" * 50_000,
        "[" * 50_000,
        "…," * 50_000,
        "/a" * 50_000,
        '{"a":' * 5_000,
    ):
        assert len(masked(text, ["a" * 9_000, "("])) <= 300
