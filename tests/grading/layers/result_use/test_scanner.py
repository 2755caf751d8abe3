"""Test which values a text holds, and how they read."""

import pytest

from toolevals.grading.layers.result_use.scanner import MAX_TEXT, mentions_in, replies_mentions


def _first(text: str) -> tuple[str, str, object, str]:
    mention = mentions_in(text)[0]
    return text[mention.start : mention.end], mention.kind, mention.keys[0], mention.unit


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is $45.00 now", ("$45.00", "amount", 45, "USD")),
        ("1.428,00 € offen", ("1.428,00 €", "amount", 1428, "EUR")),
        ("soit 1 428,50 € net", ("1 428,50 €", "amount", 1428.5, "EUR")),
        ("about 4.5k people", ("4.5k", "number", 4500, "")),
        ("1.2 million users", ("1.2 million", "number", 1_200_000, "")),
        ("€2.3bn", ("€2.3bn", "amount", 2_300_000_000, "EUR")),
        ("a drop of -1.2% today", ("-1.2%", "percent", -1.2, "%")),
        ("-4,5 °C", ("-4,5 °C", "number", -4.5, "C")),
        ("0,845 kr per kWh", ("0,845 kr", "amount", 0.845, "NOK")),
        ("€ 285 each", ("€ 285", "amount", 285, "EUR")),
        ("138 g/dL", ("138 g/dL", "number", 138, "g/dl")),
        ("on March 19th, 2025", ("March 19th, 2025", "date", (2025, 3, 19), "")),
        ("am 30.09.2024", ("30.09.2024", "date", (2024, 9, 30), "")),
        ("el 30 de septiembre de 2024", ("30 de septiembre de 2024", "date", (2024, 9, 30), "")),
        ("Friday, 5 March", ("Friday, 5 March", "date", (0, 3, 5), "")),
        ("at 6:05 PM.", ("6:05 PM", "time", (1085,), "")),
        ("at 12 am", ("12 am", "time", (0,), "")),
        ("order #W4923227.", ("W4923227", "identifier", "w4923227", "")),
        ("see INV-2024-0815!", ("INV-2024-0815", "identifier", "inv20240815", "")),
        ("https://a.test/x?y=1.", ("https://a.test/x?y=1", "identifier", "httpsatestxy1", "")),
        ("call +49 30 1234567", ("49 30 1234567", "identifier", "49301234567", "")),
    ],
)
def test_one_value(text: str, expected: tuple[str, str, object, str]) -> None:
    assert _first(text) == expected


def test_a_date_with_a_time_and_a_zone_is_one_value() -> None:
    (mention,) = mentions_in("2025-11-02T17:10:00-08:00")
    assert mention.keys == ((2025, 11, 2), (1030,))


def test_marks_of_a_list_are_no_values() -> None:
    assert [mention.keys[0] for mention in mentions_in("1. first\n2. second\n10) tenth: 77 apples")] == [77]


def test_counts_in_words() -> None:
    text = "The three notes say two things."
    found = [(mention.kind, text[mention.start : mention.end]) for mention in replies_mentions(text)]
    assert found == [("number", "three"), ("number", "two")]


def test_groups_of_digits_are_one_identifier() -> None:
    found = replies_mentions("to DE02 1203 0000 0000 2200 51, or 0664 555 0198")
    assert [mention.keys[0] for mention in found] == ["de02", "120300000000220051", "06645550198"]


def test_impossible_moments_are_no_moments() -> None:
    assert all(mention.kind not in {"date", "time"} for mention in mentions_in("2024-13-45 and 31/31/2024 and 25:99"))


@pytest.mark.parametrize("text", ["from 4/19-25 on", "from 19/4-25 on", "1-\u00b2 and 12-\u00b3\u00b2"])
def test_parts_joined_by_a_hyphen_that_are_no_plain_numbers(text: str) -> None:
    assert mentions_in(text)


def test_long_texts_are_read_to_their_limit() -> None:
    assert not mentions_in(" " * MAX_TEXT + "42")
