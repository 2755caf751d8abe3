"""Test what a form reads off a schema's pattern."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.label_form.fields import plain_beginning


@pytest.mark.parametrize(
    ("pattern", "beginning"),
    [
        (r"^A-\d{5}$", "A-"),
        ("^ORD_[0-9]+", "ORD_"),
        ("^ab?c", "a"),
        ("^a+", ""),
        ("^a{0,3}b", ""),
        (r"A-\d", ""),
        ("^A-1|B", ""),
        ("^[A-Z]{3}", ""),
        (7, ""),
        (None, ""),
    ],
)
def test_the_plain_beginning_of_a_pattern(pattern: object, beginning: str):
    assert plain_beginning(pattern) == beginning


@given(st.from_regex(r"^\^[ab-]{1,3}[?*+]?[ab]{0,2}$", fullmatch=True), st.text("ab-", max_size=6))
def test_what_matches_begins_so(pattern: str, text: str):
    if re.search(pattern, text):
        assert text.startswith(plain_beginning(pattern))
