"""Parameters of tools in two runs: paired by example, on the page, in the file, by REST and in lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.urls import reverse

from tests.reports.building import Builder, Case
from tests.reports.reading import csv_rows, table, text
from toolevals.grading.metrics.comparison import compare_counted
from toolevals.runs.models import ArgumentCount, ArgumentFault, CaseGrade, Grading, VerdictCount

pytestmark = pytest.mark.django_db
SIZE = 24
RIGHT, ELSEWHERE = Case("flights", "flights"), Case("flights", "hotels")


def fault(grading: Grading, argument: str, places: Iterable[int], kind: str = "changed") -> None:
    """Make a parameter of `flights` wrong in these examples."""
    for place in places:
        case = CaseGrade.objects.get(grading=grading, transcript__entry__position=place)
        ArgumentFault.objects.create(grading=grading, case=case, place=0, tool="flights", argument=argument, kind=kind)
    ArgumentCount.objects.create(grading=grading, tool="flights", argument=argument, kind=kind, count=len(list(places)))


@pytest.fixture
def pair(build: Builder) -> tuple[Grading, Grading]:
    """The date is wrong in one example before and in twelve others now; the last example calls another tool now."""
    before = build.tried([[RIGHT]] * SIZE)
    after = build.again(before, [*[[RIGHT]] * (SIZE - 1), [ELSEWHERE]])
    fault(before, "departure_date", [0])
    fault(after, "departure_date", range(1, 13))
    fault(before, "cabin", [5], "missing")
    # What breaks a schema is counted apart.
    fault(after, "seats", [3], "invalid")
    return before, after


@pytest.fixture
def ask(browser_of: Any) -> Any:
    def fetch(name: str, before: Grading, after: Grading, **query: Any) -> Any:
        app = "reports-api" if name.startswith("api:") else "reports"
        numbers = [before.run.project.slug, before.run.number, after.run.number]
        return browser_of.get(reverse(f"{app}:{name.removeprefix('api:')}", args=numbers), query)

    return fetch


def test_the_parameter_that_regressed_is_named(ask: Any, pair: Any) -> None:
    rows = csv_rows(ask("compare-parameters-csv", *pair))
    assert [(row["argument"], row["moved"]) for row in rows] == [("departure_date", "regressed"), ("cabin", "")]
    date = rows[0]
    assert [date[name] for name in ("tool", "examples", "left_out", "fixed", "broken", "test")] == [
        "flights",
        "23",
        "1",
        "1",
        "12",
        "mcnemar",
    ]
    expected = compare_counted({((0, 1), (1, 1)): 1, ((1, 1), (0, 1)): 12, ((1, 1), (1, 1)): 10})
    assert float(date["difference"]) == pytest.approx(-11 / 23) == expected.difference
    assert expected.interval is not None
    assert expected.p_value is not None
    assert float(date["difference_low"]) == expected.interval.low
    # Two parameters are asked about.
    assert float(date["p_holm"]) == pytest.approx(2 * expected.p_value)
    said = ask("api:compare-parameters", *pair).json()
    assert [(each["argument"], each["moved"]) for each in said] == [("departure_date", "regressed"), ("cabin", "")]


def test_the_page_says_so_and_each_number_opens_its_examples(ask: Any, pair: Any) -> None:
    page = ask("compare", *pair)
    assert "departure_date of flights regressed." in text(page)
    (_, date, cabin) = table(page, "compare-parameters")
    assert "regressed" in date[0]
    assert "regressed" not in cabin[0]
    asked = {"of": "argument", "tool": "flights", "parameter": "departure_date"}
    for how, count in (("fixed", 1), ("broken", 12), ("left_out", 1), ("", 13)):
        listed = text(ask("compare-cases", *pair, **asked, how=how))
        assert f'<span class="num">{count}</span> example' in listed
        assert 'departure_date</span> of <span class="tool">flights' in listed
        rows = csv_rows(ask("compare-cases-csv", *pair, **asked, how=how))
        assert len({row["revision_id"] for row in rows}) == count
    assert "parameter=departure_date&amp;how=broken" in text(page)


def test_nothing_is_said_of_a_grading_that_did_not_count_them(ask: Any, pair: Any) -> None:
    ArgumentCount.objects.filter(grading=pair[0]).delete()
    VerdictCount.objects.filter(grading=pair[0], column="arguments").delete()
    VerdictCount.objects.create(grading=pair[0], column="arguments", value="failed", count=2)
    assert csv_rows(ask("compare-parameters-csv", *pair)) == []
    assert csv_rows(ask("compare-cases-csv", *pair, of="argument", tool="flights", parameter="departure_date")) == []


def test_a_part_of_the_examples_is_compared_alone(ask: Any, pair: Any) -> None:
    assert csv_rows(ask("compare-parameters-csv", *pair, difficulty="none of it")) == []
