"""Arbitrary text and results: no exception, spans that hold, and work that grows no faster than the text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolevals.grading.layers.result_use import grade_result_use
from toolevals.grading.layers.result_use.grader import MAX_EXAMINED
from toolevals.grading.layers.result_use.scanner import mentions_in, replies_mentions
from toolevals.grading.values import Message, ToolCall, Transcript

_PIECES = st.sampled_from(
    ["$", "€", "1", "45.00", "2025-03-14", "T09:20Z", "May", " 5", ":", "-", "/", "%", " k", "#A-1", "@", "a.b", "\n",
     '"', "“", "”", "http://", " to ", " total", "|", "*", ",", ".", "٣", "\u202f", "\ud800", "9" * 40,
     "e9", " PM", "(", "+"]
)  # fmt: skip
_TEXTS = st.one_of(st.text(max_size=60), st.lists(_PIECES, max_size=25).map("".join))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(_TEXTS)
def test_values_stand_where_they_say(text: str) -> None:
    for mention in mentions_in(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert mention.keys


@settings(max_examples=60)
@given(_VALUES, _TEXTS, st.lists(_TEXTS, min_size=1, max_size=3), _VALUES)
def test_nothing_is_raised(result: object, user: str, replies: list[str], argument: object) -> None:
    transcript = Transcript(
        (
            Message("system", user),
            Message("assistant", None, (ToolCall("t", {"a": argument}, "c"),)),
            Message("tool", json.dumps(result), call_id="c"),
            Message("tool", user),
            *(message for reply in replies for message in (Message("assistant", reply), Message("user", user))),
        )
    )
    use = grade_result_use(transcript)
    assert len(use.claims) == len(use.attributions)
    for claim in use.claims:
        assert transcript.messages[claim.message].content is not None


@pytest.mark.parametrize(
    "text",
    ["1 " * 20_000, "9" * 100_000, "a1" * 50_000, "a@b.c " * 8_000, '"' * 100_000, "1,000" * 10_000,
     "May 5, " * 6_000, "1-" * 20_000, "x@" * 50_000, "$1.2.3" * 6_000, "https://a" * 11_000],
)  # fmt: skip
def test_long_texts_are_read_in_bounded_work(text: str) -> None:
    rows = json.dumps([{"id": f"A-{place}", "price": place} for place in range(500)])
    use = grade_result_use(Transcript((Message("tool", rows), Message("assistant", text))))
    assert all(0 <= claim.start < claim.end <= len(text) for claim in use.claims)


@pytest.mark.parametrize("text", ['<a b="' * 10_000, "a,b\n" * 20_000, "{" * 50_000, "<a>" * 30_000, "a|" * 50_000])
def test_long_results_are_read_in_bounded_work(text: str) -> None:
    use = grade_result_use(Transcript((Message("tool", text), Message("assistant", "It is $12.34 on 5 May at 9:15."))))
    assert not use.findings


def test_many_statuses_and_dates_are_read_in_bounded_work() -> None:
    rows = json.dumps(
        [{"id": f"A-{n}", f"is_open_{n}": True, "status": "failed", "on": "2025-03-14"} for n in range(900)]
    )
    reply = "A-1 is completed, and it is open. Monday, 3 April at 9:17, or on 4 April. " * 300
    use = grade_result_use(Transcript((Message("tool", rows), Message("assistant", reply))))
    assert len(use.claims) <= 3_000


def test_comparisons_are_limited_and_what_is_beyond_stays_open() -> None:
    rows = json.dumps([{"id": f"A-{place}", "price_eur": place} for place in range(10_000, 10_400)])
    amounts = " ".join(f"A-{place} is {place}1,{place}2." for place in range(2 * MAX_EXAMINED))
    use = grade_result_use(Transcript((Message("tool", rows), Message("assistant", amounts))))
    assert len(use.findings) <= MAX_EXAMINED
    assert use.verdict.status in {"failed", "unscored"}


def test_reading_ends_after_the_first_values() -> None:
    text = "seven apples, 12 pears, two for $5, 3 or 4"
    assert replies_mentions(text, 4) == replies_mentions(text)[:4]
