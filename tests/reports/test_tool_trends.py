"""Trends by tool and by judge, and what is new in a run."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest
from django.urls import reverse

from reports.rates import rate
from reports.trends.analysis import RunFacts, tool_trend_of
from reports.trends.queries import recent_runs
from reports.trends.rates import ToolRate, runs_tool_trend, small_trends
from tests.reports.building import Case
from tests.reports.reading import csv_rows, embedded, text
from toolevals.presentation.sparks import broken_spark
from toolevals.runs.models import Agent, Grading, Run

FIRST = [Case("a", "b")] * 6 + [Case("a", "a")] * 4 + [Case("b", "b")] * 10
SECOND = [Case("a", "a")] * 10 + [Case("b", "a")] * 5 + [Case("b", "b")] * 5


@pytest.fixture
def line(build):
    """Two runs on the same examples and one on others: their gradings."""
    first = build.grading(FIRST)
    return first, build.again(first, [[case] for case in SECOND]), build.grading([Case("a", "a")] * 4)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("which", "a", "b"),
    [(ToolRate.RECALL, [4 / 10, 1.0, 1.0], [1.0, 5 / 10]), (ToolRate.PRECISION, [1.0, 10 / 15, 1.0], [10 / 16, 1.0])],
)
def test_a_tools_rate_over_runs_by_hand(line, which, a, b):
    trend = runs_tool_trend(recent_runs(line[0].run.experiment.runs.all(), most=9), which)
    series = {each.name: each for each in trend.series}
    assert [row.rates["a"].value for row in series["a"].rows] == a
    assert [row.rates["b"].value for row in series["b"].rows] == b
    # The third run is on another dataset: no line joins it.
    assert [len(segment) for segment in series["a"].segments] == [2, 1]


@pytest.mark.django_db
def test_page_file_and_interface_agree(browser_of, line, project):
    page = browser_of.get(reverse("reports:trends", args=[project.slug, "nightly"]))
    assert [each.name for each in page.context["tool_multiples"]] == ["a", "b"]
    assert "By tool: recall" in text(page)
    file = csv_rows(browser_of.get(reverse("reports:trends-csv", args=[project.slug, "nightly"]), {"of": "tools"}))
    api = browser_of.get(reverse("reports-api:trends", args=[project.slug, "nightly"]), {"of": "tools"}).json()
    said = {(str(run["run"]), name): found["value"] for run in api["runs"] for name, found in run["rates"].items()}
    assert {(row["run"], row["name"]): float(row["rate"]) for row in file} == said
    assert said["1", "a"] == 0.4
    other = browser_of.get(reverse("reports:trends", args=[project.slug, "nightly"]), {"rate": "precision"})
    assert "By tool: precision" in text(other)


@pytest.mark.django_db
def test_the_chart_names_what_is_new(browser_of, line, project):
    agent = Agent.objects.create(project=project, name="agent", connector="upload", digest="new", prompt_version="p2")
    Run.objects.filter(pk=line[1].run_id).update(agent=agent)
    page = browser_of.get(reverse("reports:trends", args=[project.slug, "nightly"]))
    chart = embedded(page, "trend-data")["trend-selection"]
    said = [note["text"] for note in next(iter(chart["themes"].values()))["layout"]["annotations"]]
    assert said == ["prompt", "prompt, dataset"]


@pytest.mark.django_db
def test_other_gold_breaks_the_line(build):
    first = build.grading(FIRST)
    second = build.again(first, [[case] for case in SECOND])
    other = build.grading([Case("a", "a")])
    Grading.objects.filter(pk=second.pk).update(dataset_version=other.dataset_version)
    trend = runs_tool_trend(recent_runs(first.run.experiment.runs.all(), most=9))
    series = next(each for each in trend.series if each.name == "b")
    assert [len(segment) for segment in series.segments] == [1, 1]
    assert "gold" in trend.rows[1].run.changes


def test_the_picture_breaks_where_the_line_does():
    picture = broken_spark(
        [[(0, 0.5, 0.4, 0.6), (1, 0.6, 0.5, 0.7)], [(3, 0.9, 0.8, 1.0)]], goal=0.95, width=4, changes=[3]
    )
    assert [len(line.split()) for line in picture.lines] == [2, 1]
    assert [len(band.split()) for band in picture.bands] == [4, 4]
    assert picture.dots[0][0] == "4.0"
    assert picture.changes == (picture.dots[2][0],) == ("176.0",)


def test_the_worst_tool_of_the_newest_run_comes_first():
    facts = [RunFacts(number, "agent", UUID(int=1), "core v1", datetime(2026, 3, 1, tzinfo=UTC)) for number in (1, 2)]
    trend = tool_trend_of([(facts[0], {"gone": rate(1, 9)}), (facts[1], {"good": rate(9, 9), "bad": rate(1, 9)})])
    assert [each.name for each in trend.series] == ["bad", "good", "gone"]
    assert [each.name for each in small_trends(trend, 1)] == ["bad"]
