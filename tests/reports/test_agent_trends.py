"""Trends of an agent over its states and over experiments: what is joined, why what is not, and where points lead."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from reports.rates import rate
from reports.trends.analysis import RunFacts, TrendRow, series_of, tool_trend_of
from tests.reports.building import Case
from tests.reports.reading import csv_rows, embedded, table, text
from toolevals.runs.models import Agent, Grading, Run
from toolevals.workspace.models import Project

GOOD, BAD = Case("a", "a"), Case("a", "b")


def facts(number: int, **differs: object) -> RunFacts:
    return RunFacts(number, "agent", UUID(int=1), "core v1", datetime(2026, 3, 1, tzinfo=UTC), **differs)  # type: ignore[arg-type]


@pytest.fixture
def wandering(build, project):
    """Four runs of one agent: two on one set in two experiments, one on another set, then the first set again."""
    first = build.grading([GOOD] * 3 + [BAD])
    second = build.again(first, [[GOOD]] * 4, experiment="weekly")
    elsewhere = build.grading([GOOD] * 2, experiment="weekly")
    other = build.again(first, [[BAD]] * 4, experiment="weekly", agent="rival")
    Agent.objects.filter(digest="rival").update(name="rival")
    return [first, second, elsewhere, other]


def agent_page(browser: Client, project: Project, **query: str) -> Any:
    return browser.get(reverse("reports:agent-trends", args=[project.slug]), query)


@pytest.mark.django_db
def test_runs_of_an_agent_are_followed_over_experiments(browser_of, wandering, project):
    page = agent_page(browser_of, project, agent="agent", dataset="set-1")
    assert [(line.run.number, line.run.experiment) for line in page.context["newest_first"]] == [
        (2, "weekly"),
        (1, "nightly"),
    ]
    chart = embedded(page, "trend-data")["trend-selection"]
    (line,) = [trace for trace in chart["data"] if "customdata" in trace]
    assert line["y"] == [75.0, 100.0]
    assert line["customdata"] == [f"/p/{project.slug}/runs/1/", f"/p/{project.slug}/runs/2/"]


@pytest.mark.django_db
def test_the_address_chooses_and_what_is_not_there_counts_as_not_given(browser_of, wandering, project):
    def runs(**query: str) -> list[int]:
        return [line.run.number for line in agent_page(browser_of, project, **query).context["newest_first"]]

    assert runs() == [4]
    assert runs(agent="agent") == [3]
    assert runs(agent="agent", dataset="set-1", experiment="nightly") == [1]
    assert runs(agent="agent", dataset="nowhere") == [3]
    assert runs(agent="rival", dataset="set-2") == [4]
    assert agent_page(browser_of, project, agent="nobody").status_code == 404


@pytest.mark.django_db
def test_each_rate_opens_its_cases(browser_of, wandering, project):
    page = agent_page(browser_of, project, agent="agent", dataset="set-1")
    lines = page.context["newest_first"]
    (shown,) = [each for each in lines[1].shown if each.name == "selection"]
    cases = browser_of.get(shown.url)
    assert cases.context["count"] == shown.rate.total - shown.rate.passed == 1
    (right,) = [each for each in lines[0].shown if each.name == "selection"]
    assert browser_of.get(right.url).context["count"] == right.rate.total == 4


@pytest.mark.django_db
def test_one_tool_is_looked_at_by_itself(browser_of, wandering, project):
    page = agent_page(browser_of, project, agent="agent", dataset="set-1", tool="a")
    (followed,) = page.context["followed"]
    assert [each.shown[0].rate.value for each in followed.lines] == [1.0, 0.75]
    assert browser_of.get(followed.lines[1].shown[0].url).context["count"] == 4
    assert "trend-of-tool" in embedded(page, "trend-data")
    assert agent_page(browser_of, project, agent="agent", tool="<b>x</b>").context["followed"] == []


@pytest.mark.django_db
def test_a_break_is_said_in_table_chart_file_and_interface(browser_of, wandering, project):
    first, second = wandering[:2]
    Grading.objects.filter(pk=first.pk).update(graders=[{"name": "selection", "version": "1"}])
    Grading.objects.filter(pk=second.pk).update(graders=[{"name": "selection", "version": "2"}])
    query = {"agent": "agent", "dataset": "set-1"}
    page = agent_page(browser_of, project, **query)
    assert "graders selection 2" in text(page)
    assert table(page, "trend-table")[1][-1] == "another version of its grader"
    layout = embedded(page, "trend-data")["trend-selection"]["themes"]["light"]["layout"]
    assert [shape["x0"] for shape in layout["shapes"] if shape["x0"] == 0.5] == [0.5]
    file = csv_rows(browser_of.get(reverse("reports:agent-trends-csv", args=[project.slug]), query))
    api = browser_of.get(reverse("reports-api:agent-trends", args=[project.slug]), query).json()
    said = {
        (str(run["run"]), name): (str(each["line"]), ", ".join(each["broken"]), run["grading_id"])
        for run in api["runs"]
        for name, each in run["rates"].items()
        if each["total"]
    }
    assert {(r["run"], r["name"]): (r["line"], r["broken"], r["grading_id"]) for r in file if int(r["total"])} == said
    assert said["2", "selection"][:2] == ("2", "another version of its grader")
    # Another grader's version is no reason: arguments were graded alike.
    assert said["2", "arguments"][:2] == ("1", "")


@pytest.mark.django_db
def test_only_an_agent_with_a_graded_run_leads_to_its_trends(browser_of, wandering, project):
    Run.objects.filter(pk=wandering[3].run_id).update(grading=None)
    links = re.findall(r'href="([^"]*/agents/trends/[^"]*)"', text(browser_of.get(f"/p/{project.slug}/agents/")))
    assert {browser_of.get(link).status_code for link in links} == {200}
    assert [link.partition("?")[2] for link in links] == ["agent=agent"]


@pytest.mark.django_db
def test_a_project_without_runs_says_so(browser_of, project):
    assert "No run of any agent is graded yet." in text(agent_page(browser_of, project))


@pytest.mark.django_db
def test_what_is_new_is_named_without_breaking_the_line(browser_of, wandering, project):
    reworded = Agent.objects.create(
        project=project, name="agent", connector="upload", digest="new", prompt_version="p2", model="m-2"
    )
    Run.objects.filter(pk=wandering[1].run_id).update(agent=reworded)
    page = agent_page(browser_of, project, agent="agent", dataset="set-1")
    line = page.context["newest_first"][0]
    assert (line.run.changes, line.broken) == (("model", "prompt"), ())


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ({}, {}, ()),
        ({"part": "x"}, {}, ("other examples",)),
        ({}, {"graded_on": UUID(int=9)}, ("other gold",)),
        ({"registry": UUID(int=1)}, {"registry": UUID(int=2)}, ("another registry",)),
        ({}, {"registry": UUID(int=2)}, ()),
        ({"graders": {"selection": "1"}}, {"graders": {"selection": "2"}}, ("another version of its grader",)),
        ({"graders": {"selection": "1"}}, {"graders": {"selection": "1", "recovery": "1"}}, ()),
    ],
)
def test_why_two_runs_are_not_joined(before, after, why):
    trend = tool_trend_of([(facts(1, **before), {"a": rate(1, 2)}), (facts(2, **after), {"a": rate(1, 2)})])
    assert dict(trend.series[0].broken) == ({2: why} if why else {})
    assert len(trend.series[0].segments) == (2 if why else 1)


def test_a_run_on_a_slice_does_not_part_those_around_it():
    rows = [(facts(number, part="x" if number == 2 else ""), {"a": rate(1, 2)}) for number in (1, 2, 3)]
    (series,) = tool_trend_of(rows).series
    assert [[row.run.number for row in segment] for segment in series.segments] == [[1, 3], [2]]
    assert [row.run.number for row in series.newest] == [1, 3]
    assert set(series.broken) == {2, 3}


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12))
def test_every_run_stands_in_one_line_of_runs_that_can_be_compared(drawn):
    rows = [
        TrendRow(facts(number, part=str(part) if part else ""), {"a": rate(1, total)})
        for number, (part, total) in enumerate(drawn)
    ]
    for series in series_of(rows, ["a"], lambda _: 0.95):
        numbers = [row.run.number for segment in series.segments for row in segment]
        assert sorted(numbers) == [row.run.number for row in rows if row.rates["a"].total]
        assert all(len({row.run.part for row in segment}) == 1 for segment in series.segments)
        assert len({segment[0].run.part for segment in series.segments}) == len(series.segments)
