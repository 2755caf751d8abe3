"""Test when labelling will be done: the pace of the last days, with the range that the count leaves open."""

from __future__ import annotations

from datetime import date, timedelta

from labeling.label.throughput import FARTHEST, FEWEST, Forecast, forecast, in_blocks

TODAY = date(2030, 3, 1)


def test_the_range_is_that_of_a_poisson_count():
    found = forecast(100, 100, 10, TODAY)
    assert found is not None
    # 10 a day; (10 ± 0.98)² / 10 are 8.1 and 12.1 a day.
    assert found == Forecast(10.0, TODAY + timedelta(10), TODAY + timedelta(9), TODAY + timedelta(13))


def test_few_labels_and_nothing_left_tell_no_day():
    assert forecast(100, FEWEST - 1, 10, TODAY) is None
    assert forecast(0, 100, 10, TODAY) is None
    assert forecast(10_000_000, 100, 14, TODAY) is None


def test_an_end_beyond_years_is_no_day():
    found = forecast(FARTHEST, 10, 10, TODAY)
    assert found is not None
    assert found.last is None


def test_labels_count_on_the_day_that_completes_their_block():
    assert in_blocks(0, [19, 1, 0, 45]) == [0, 20, 0, 40]
    assert in_blocks(35, [4, 1]) == [0, 20]
