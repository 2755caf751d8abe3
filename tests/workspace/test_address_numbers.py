"""Whole numbers of addresses: what is one, and what any other text counts as."""

from __future__ import annotations

import pytest

from toolevals.workspace.requests import page_number, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("0011", 11),
        ("999999999", 999_999_999),
        ("1000000000", None),
        ("9" * 5000, None),
        ("", None),
        ("-1", None),
        (" 1", None),
        ("²", None),
        ("١", None),
        ("1e3", None),
        ("1_0", None),
    ],
)
def test_a_number_has_one_to_nine_plain_digits(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(("text", "page"), [("2", 2), ("0", 1), ("", 1), ("99999", 99_999), ("100000", 1), ("²", 1)])
def test_what_is_no_page_is_the_first(text: str, page: int) -> None:
    assert page_number(text) == page
