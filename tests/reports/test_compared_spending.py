"""Test what conversations take in two runs: paired by example, on the page, in the file, by REST and in lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from reports.compare.spending import compare_amounts
from tests.reports.building import Builder, Case
from tests.reports.reading import csv_rows, table, text
from toolevals.grading.metrics.comparison import compare_runs, holm
from toolevals.runs.aggregates.transcript_sums import transcript_sums
from toolevals.runs.models import Grading, Transcript

pytestmark = pytest.mark.django_db
CASE = Case("pay", "pay")
SIZE = 24
amounts = st.lists(st.tuples(*[st.sampled_from([None, 0.0, 1.0, 3.0, 250.0, 4000.0])] * 2), max_size=12)


def spend(grading: Grading, cost: Sequence[float | None], tokens: Sequence[int]) -> Grading:
    for place, (money, taken) in enumerate(zip(cost, tokens, strict=True)):
        rows = Transcript.objects.filter(run=grading.run, entry__position=place)
        assert rows.update(cost=money, tokens_in=taken, tokens_out=10) == 2
    Grading.objects.filter(pk=grading.pk).update(spending=transcript_sums(grading.run).spending())
    return Grading.objects.get(pk=grading.pk)


@pytest.fixture
def pair(build: Builder) -> tuple[Grading, Grading]:
    """Twelve examples take more money and all of them the same tokens; of the last no one says the money before."""
    before = build.tried([[CASE, CASE]] * SIZE)
    after = build.again(before, [[CASE, CASE]] * SIZE)
    tokens = [1000] * SIZE
    return (
        spend(before, [0.25] * (SIZE - 1) + [None], tokens),
        spend(after, [0.5] * 12 + [0.125] + [0.25] * 11, tokens),
    )


@pytest.fixture
def ask(browser_of: Any) -> Any:
    def fetch(name: str, before: Grading, after: Grading, **query: Any) -> Any:
        app = "reports-api" if name.startswith("api:") else "reports"
        numbers = [before.run.project.slug, before.run.number, after.run.number]
        return browser_of.get(reverse(f"{app}:{name.removeprefix('api:')}", args=numbers), query)

    return fetch


def test_what_is_taken_is_paired_by_example(ask: Any, pair: Any) -> None:
    rows = {row["name"]: row for row in csv_rows(ask("compare-spending-csv", *pair))}
    # No one says how long anything took.
    assert list(rows) == ["cost", "tokens"]
    money, tokens = rows["cost"], rows["tokens"]
    assert [money[name] for name in ("unit", "examples", "left_out", "rose", "fell")] == ["money", "23", "1", "12", "1"]
    assert float(money["before"]) == pytest.approx(0.25)
    assert float(money["difference"]) == pytest.approx((12 * 0.25 - 0.125) / 23)
    assert float(money["difference_low"]) < float(money["difference"]) < float(money["difference_high"])
    # As parts of the largest difference these are the scores of any comparison.
    scores = compare_runs(
        {n: [0.0] for n in range(23)}, {n: [1.0] if n < 12 else [-0.5] if n == 12 else [0.0] for n in range(23)}
    )
    assert scores.interval is not None
    assert float(money["difference_low"]) == pytest.approx(0.25 * scores.interval.low)
    assert float(money["p_holm"]) == pytest.approx(holm([scores.p_value, 1.0])[0])
    assert (tokens["unit"], float(tokens["before"]), float(tokens["difference"])) == ("tokens", 1010.0, 0.0)
    shown = ask("api:compare-spending", *pair).json()
    assert [each["name"] for each in shown] == list(rows)
    assert shown[0]["mean"]["interval"]["low"] == float(money["difference_low"])


def test_the_page_shows_it_and_each_number_opens_its_examples(ask: Any, pair: Any) -> None:
    page = ask("compare", *pair)
    (_, money, tokens) = table(page, "compare-spending")
    assert "stands" in money[0]
    assert "money" in money[0]
    assert "stands" not in tokens[0]
    for how, count, words in (
        ("rose", 12, "that took more"),
        ("fell", 1, "that took less"),
        ("left_out", 1, "does not say it"),
        ("", 13, "that took more or less"),
    ):
        listed = text(ask("compare-cases", *pair, of="cost", how=how))
        assert f'<span class="num">{count}</span> example' in listed
        assert words in listed
        assert (
            len({case["revision_id"] for case in csv_rows(ask("compare-cases-csv", *pair, of="cost", how=how))})
            == count
        )
    assert csv_rows(ask("compare-cases-csv", *pair, of="tokens")) == []


def test_runs_that_do_not_say_it_have_no_such_pane(ask: Any, build: Builder, pair: Any) -> None:
    silent = build.again(pair[0], [[CASE, CASE]] * SIZE)
    assert "compare-spending" not in text(ask("compare", pair[0], silent))
    assert csv_rows(ask("compare-spending-csv", pair[0], silent)) == []


def test_a_part_of_the_examples_is_compared_alone(ask: Any, pair: Any) -> None:
    assert csv_rows(ask("compare-spending-csv", *pair, difficulty="none of it")) == []


def _times(amount: float | None, by: float) -> float | None:
    return None if amount is None else amount * by


@given(amounts, st.sampled_from([0.001, 1.0, 1000.0]))
def test_another_unit_changes_no_test_and_scales_the_rest(pairs: Any, unit: float) -> None:
    def scaled(by: float) -> Any:
        return compare_amounts(Counter(((_times(before, by),), (_times(after, by),)) for before, after in pairs))

    one, other = scaled(1.0), scaled(unit)
    assert (one.examples, one.left_out, one.improved, one.worsened) == (
        other.examples,
        other.left_out,
        other.improved,
        other.worsened,
    )
    assert one.p_value == pytest.approx(other.p_value)
    if one.interval is not None and one.difference is not None:
        assert one.interval.low <= one.difference <= one.interval.high
        assert other.interval.low == pytest.approx(one.interval.low * unit)
        assert other.difference == pytest.approx(one.difference * unit)
