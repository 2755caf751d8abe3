from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.runs.baseline.words import stem, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("get_order_status", ["get", "order", "status"]),
        ("getOrderStatus", ["get", "order", "status"]),
        ("HTTPServer.start", ["http", "server", "start"]),
        ("triangle_properties.get", ["triangl", "property", "get"]),
        ("Where is my order?", ["order"]),
        ("", []),
    ],
)
def test_names_and_sentences_are_split_alike(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "forms", [("calculate", "calculating", "calculated", "calculation"), ("city", "cities"), ("order", "orders")]
)
def test_endings_do_not_matter(forms):
    assert len({stem(form) for form in forms}) == 1


@given(st.text())
def test_any_text_gives_lower_case_words(text):
    assert all(word and word == word.lower() for word in words(text))
