"""Test which text is which date, and which is none."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.matching.compiled_calls import compile_matcher
from toolevals.grading.matching.equality import PROFILES
from toolevals.grading.values.dates import FORMATS, read_moment
from toolevals.grading.values.documents import schema
from toolevals.grading.values.matchers import DateEqual


@pytest.mark.parametrize(
    "text",
    [
        "2025-04-03", "2025/4/3", "2025.04.03", "20250403", " 2025-04-03\n", "3 April 2025", "3rd of Apr. 2025",
        "03-Apr-2025", "April 3, 2025", "apr 3 2025", "Thu, 3 Apr 2025", "Thursday April 3rd, 2025", "2025-04-03T00:00",
        "2025-04-03 00:00:00.000", "20250403T0000", "April 3, 2025 at 12:00 am", "3 April 2025, 00:00",
    ],
)  # fmt: skip
def test_one_date_in_many_forms(text):
    assert read_moment(text) == read_moment("2025-04-03")
    assert read_moment(text) is not None


@pytest.mark.parametrize(
    "text",
    ["2025-04-03T10:00Z", "2025-04-03T12:00:00+02:00", "2025-04-03 06:00-0400", "20250403T100000Z",
     "Thu, 03 Apr 2025 10:00:00 GMT", "April 3, 2025 at 10:00 am UTC", "2025-04-03t10:00:00,000z",
     "2025-04-03 12:00 UTC+02:00", "2025-04-03T10:00-00:00"],
)  # fmt: skip
def test_one_instant_in_many_forms(text):
    moment = read_moment(text)
    wanted = read_moment("2025-04-03T10:00Z")
    assert moment is not None
    assert wanted is not None
    assert wanted.admits(moment)
    assert moment.admits(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "2025", "2025-04", "2025-13-01", "2025-02-29", "0000-01-01", "25-04-03", "3 April 25", "03/04/2025",
        "3.4.2025", "31/04/2025", "3-4/2025", "Fri, 3 Apr 2025", "2025-04-03T24:00", "2025-04-03T10:60",
        "2025-04-03T10:00+24:00", "2025-04-03T1000+2", "2025-04-03 13:00 pm", "2025-04-03T", "2025-W14-4", "2025-093",
        "2025-04-03T10:00 CET", "1743638400", "２０２５-04-03", "2025-04-03 and more", "2025-04-03T10:00.5", "x" * 100,
    ],
)  # fmt: skip
def test_what_is_no_date_or_could_be_two(text):
    assert read_moment(text) is None


def test_a_format_says_how_a_numeric_date_is_meant():
    assert read_moment("25/04/2025") == read_moment("04/25/2025") == read_moment("2025-04-25")
    assert read_moment("04/04/2025") == read_moment("2025-04-04")
    assert read_moment("03/04/2025", ["DD/MM/YYYY"]) == read_moment("2025-04-03")
    assert read_moment("03/04/2025", ["MM/DD/YYYY"]) == read_moment("2025-03-04")
    assert read_moment("03.04.2025", ["DD/MM/YYYY"]) is None
    assert read_moment("25/04/2025", ["MM/DD/YYYY"]) is None
    assert tuple(schema("expectation")["$defs"]["date_in_formats"]["properties"]["formats"]["items"]["enum"]) == FORMATS


def admits(expected: str, actual: object, *formats: str) -> bool | None:
    return compile_matcher(DateEqual(expected, formats), PROFILES["strict"])(actual)


def test_zones():
    # An expectation with a zone wants the instant; one without wants the clock, whatever the zone.
    assert admits("2025-04-03T10:00Z", "2025-04-03T12:00+02:00")
    assert not admits("2025-04-03T10:00Z", "2025-04-03T10:00")
    assert not admits("2025-04-03T10:00Z", "2025-04-03T10:00+02:00")
    assert admits("2025-04-03T10:00", "2025-04-03T10:00+02:00")
    assert not admits("2025-04-03T10:00", "2025-04-03T08:00Z")
    assert admits("2025-04-03", "2025-04-03T00:00Z")
    assert not admits("2025-04-03", "2025-04-03T10:00")
    assert admits("9999-12-31T23:30-01:00", "9999-12-31T23:30-01:00")


def test_ambiguous_dates_and_other_values_never_match():
    assert not admits("2025-04-03", "03/04/2025")
    assert admits("2025-04-03", "03/04/2025", "DD/MM/YYYY")
    others: list[object] = [20250403, None, True, ["2025-04-03"], {}]
    assert [admits("2025-04-03", value) for value in others] == [False] * 5


FORMS = ("{0:%Y-%m-%d}", "{0:%Y%m%d}", "{0.day} {0:%B} {0.year:04}", "{0:%b} {0.day}, {0.year:04}")


@given(st.dates(), st.sampled_from(FORMS))
def test_every_date_is_read_back(day, form):
    # Years are written with four digits, which strftime does not do everywhere.
    text = form.replace("%Y", f"{day.year:04}").format(day)
    assert read_moment(text) == read_moment(day.isoformat())
    assert read_moment(text) is not None


@given(st.text(max_size=80) | st.from_regex(r"[0-9]{1,4}[-/. ][0-9a-z]{1,3}[-/. ,]+[0-9]{1,4}.{0,20}", fullmatch=True))
def test_no_text_is_a_crash_and_what_is_read_is_a_date(text):
    moment = read_moment(text)
    assert moment is None or date.min.toordinal() <= moment.wall // (86_400 * 10**9) <= date.max.toordinal()
