"""Parameters of tools over runs: on the page, in the file, by REST, and in the lists that rates open."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from reports.rates import rate, rate_of
from reports.trends.queries import recent_runs
from reports.trends.rates import ParameterTrend, parameter_trend
from tests.reports.building import Builder
from tests.reports.reading import csv_rows, embedded, text
from tests.reports.test_compared_parameters import RIGHT, SIZE, fault
from toolevals.grading.metrics.clustered import ExampleSums
from toolevals.runs.models import ArgumentCount, ArgumentFault, CaseGrade, Grading, KeptSums, VerdictCount

pytestmark = pytest.mark.django_db
DATE, CABIN = "departure_date of flights", "cabin of flights"


@pytest.fixture
def line(build: Builder) -> list[Grading]:
    """Three runs: the date gets worse and worse, the cabin is wrong once, of the seats only the schema is broken."""
    first = build.tried([[RIGHT]] * SIZE)
    gradings = [first, *(build.again(first, [[RIGHT]] * SIZE) for _ in range(2))]
    fault(first, "departure_date", [0])
    fault(gradings[1], "departure_date", range(6), "missing")
    fault(gradings[2], "departure_date", range(12))
    fault(gradings[2], "departure_date", range(12, 16), "missing")
    fault(gradings[1], "cabin", [5])
    fault(first, "seats", [3], "invalid")
    return gradings


def found(line: list[Grading]) -> ParameterTrend:
    return parameter_trend(recent_runs(line[0].run.experiment.runs.all(), most=9))


def test_the_rate_of_each_parameter_by_hand(line: list[Grading]) -> None:
    trend = found(line).trend
    # What moved most comes first; what breaks a schema is counted apart.
    assert [each.name for each in trend.series] == [DATE, CABIN]
    assert [row.rates[DATE].passed for row in trend.rows] == [23, 18, 8]
    assert [row.rates[CABIN].passed for row in trend.rows] == [24, 23, 24]
    shown, by_hand = trend.rows[2].rates[DATE], rate(8, 24)
    assert (shown.total, shown.value, shown.examples) == (24, 8 / 24, 24)
    assert (shown.low, shown.high) == pytest.approx((by_hand.low, by_hand.high))


def test_trials_of_an_example_are_not_taken_for_examples(build: Builder) -> None:
    grading = build.tried([[RIGHT, RIGHT]] * SIZE)
    for case in CaseGrade.objects.filter(grading=grading, transcript__entry__position__lt=12, transcript__trial=1):
        ArgumentFault.objects.create(
            grading=grading, case=case, place=0, tool="flights", argument="departure_date", kind="changed"
        )
    ArgumentCount.objects.create(grading=grading, tool="flights", argument="departure_date", kind="changed", count=12)
    KeptSums.objects.filter(grading=grading).delete()
    row = found([grading]).trend.rows[0].rates[DATE]
    by_hand = rate_of(ExampleSums.of({(2, 2): 12, (2, 1): 12}))
    assert (row.passed, row.total, row.examples) == (36, 48, 24)
    assert (row.low, row.high) == pytest.approx((by_hand.low, by_hand.high))


def test_page_file_and_interface_agree_and_each_rate_opens_its_cases(
    browser_of: Any, line: list[Grading], project: Any
) -> None:
    place = [project.slug, "nightly"]
    page = browser_of.get(reverse("reports:trends", args=place), {"parameter": DATE})
    assert [each.name for each in page.context["parameter_multiples"]] == [DATE, CABIN]
    assert "By parameter" in text(page)
    assert "trend-of-parameter" in embedded(page, "trend-data")
    for shown, count in zip(page.context["parameter_lines"], (16, 6, 1), strict=True):
        assert browser_of.get(shown.shown[0].url).context["count"] == count
    (followed,) = page.context["followed"]
    assert [each.shown[0].rate.passed for each in followed.lines] == [8, 18, 23]
    # None is wrong: the calls to its tool are listed.
    right = page.context["parameter_lines"][0].shown[1]
    assert (right.rate.passed, browser_of.get(right.url).context["count"]) == (24, 24)
    file = csv_rows(browser_of.get(reverse("reports:trends-csv", args=place), {"of": "parameters"}))
    api = browser_of.get(reverse("reports-api:trends", args=place), {"of": "parameters"}).json()
    said = {(str(run["run"]), name): each for run in api["runs"] for name, each in run["rates"].items()}
    assert {(row["run"], row["name"]): float(row["rate"]) for row in file} == {
        key: each["value"] for key, each in said.items()
    }
    assert [(row["tool"], row["argument"]) for row in file[:2]] == [("flights", "cabin"), ("flights", "departure_date")]
    assert said["3", DATE]["argument"] == "departure_date"


def test_a_run_that_did_not_count_them_has_no_rates(line: list[Grading]) -> None:
    ArgumentCount.objects.filter(grading=line[0]).delete()
    VerdictCount.objects.filter(grading=line[0], column="arguments").delete()
    VerdictCount.objects.create(grading=line[0], column="arguments", value="failed", count=2)
    assert [len(row.rates) for row in found(line).trend.rows] == [0, 2, 2]


def test_the_page_draws_a_few_and_names_the_rest(browser_of: Any, line: list[Grading], project: Any) -> None:
    for number in range(9):
        fault(line[1], f"other_{number}", [number])
    page = browser_of.get(reverse("reports:trends", args=[project.slug, "nightly"]))
    assert len(page.context["parameter_multiples"]) == 5
    assert "6 more, as CSV" in text(page)


def test_names_that_could_be_read_otherwise_are_quoted(build: Builder) -> None:
    grading = build.tried([[RIGHT]] * SIZE)
    for argument in ("", "(all together)", "day of flights"):
        fault(grading, argument, [0])
    assert set(found([grading]).named) == {
        "(all together) of flights",
        '"(all together)" of flights',
        '"day of flights" of flights',
    }


def test_it_costs_the_same_however_many_runs(build: Builder, django_assert_num_queries: Any) -> None:
    first = build.tried([[RIGHT]] * SIZE)
    fault(first, "departure_date", [0])
    for _ in range(3):
        fault(build.again(first, [[RIGHT]] * SIZE), "departure_date", [1])
    runs = recent_runs(first.run.experiment.runs.all(), most=9)
    parameter_trend(runs)
    with django_assert_num_queries(5):
        parameter_trend(runs)
