from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.runs.baseline.mentions import Kind, mentions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a base of 10 and -2.5", [(Kind.NUMBER, 10), (Kind.NUMBER, -2.5)]),
        ("worth $2,000,000", [(Kind.NUMBER, 2_000_000)]),
        ("two of them", [(Kind.COUNT, 2)]),
        ("at 5% a year", [(Kind.PERCENT, 5)]),
        ("order ORD-9182", [(Kind.CODE, "ORD-9182")]),
        ("the 2019-2020 season", [(Kind.CODE, "2019-2020")]),
        ("on March 1st, 2023", [(Kind.DATE, date(2023, 3, 1))]),
        ("on 1 March 2023 or 2023-03-02", [(Kind.DATE, date(2023, 3, 1)), (Kind.DATE, date(2023, 3, 2))]),
        ("on 02/30/2023", [(Kind.NUMBER, 2), (Kind.NUMBER, 30), (Kind.NUMBER, 2023)]),
        ("write to ada@example.org", [(Kind.EMAIL, "ada@example.org")]),
        ("see https://example.org/a?b=1.", [(Kind.URL, "https://example.org/a?b=1")]),
        ("called 'extra spicy'", [(Kind.QUOTED, "extra spicy")]),
        ("don't stop, it's fine", []),
        ("flights to New York, USA", [(Kind.NAME, "New York, USA")]),
        ("Book a room. Please hurry", []),
    ],
)
def test_what_a_text_mentions(text, expected):
    assert [(found.kind, found.value) for found in mentions(text)] == expected


@given(st.text(max_size=200))
def test_mentions_stand_in_order_and_do_not_overlap(text):
    found = mentions(text)

    assert all(before.end <= after.start for before, after in pairwise(found))
    assert all(0 <= mention.start < mention.end <= len(text) for mention in found)
