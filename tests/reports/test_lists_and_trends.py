"""Lists of cases, trends, and the whole way from an upload to the reports."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.reports.building import Case, cases_of
from tests.reports.reading import csv_rows, embedded, table, text
from tests.runs.building import STATUS, call, silence, uploaded_run, version_of
from toolevals.grading.values.verdicts import NONE
from toolevals.workspace.models import Project

pytestmark = pytest.mark.django_db


def test_a_list_is_filtered_and_paged(get, build):
    grading = build.grading([*(Case("a", "b") for _ in range(60)), *(Case("a", "a") for _ in range(5))])
    page = get("cases", grading, mode="wrong_tool")
    assert page.context["count"] == 60
    assert len(page.context["cases"]) == 50
    last = page.context["cases"][-1]
    second = get("cases", grading, mode="wrong_tool", after=str(last.id))
    assert len(second.context["cases"]) == 10
    assert "First cases" in text(second)
    assert get("cases", grading, column="outcome", status="passed").context["count"] == 5
    assert "No case matches." in text(get("cases", grading, mode="missed_call"))


def test_a_list_costs_the_same_however_long(get, build, django_assert_max_num_queries):
    grading = build.grading([Case("a", "b") for _ in range(60)])
    get("cases", grading)
    with django_assert_max_num_queries(10):
        get("cases", grading)


def trends(client: Client, name: str, project: Project, slug: str) -> Any:
    app = "reports-api" if name == "api" else "reports"
    return client.get(reverse(f"{app}:{'trends' if name == 'api' else name}", args=[project.slug, slug]))


def test_a_trend_shows_every_run_with_its_intervals(browser_of, build, project):
    for wrong in (6, 2):
        build.grading(cases_of({("a", "a"): 20 - wrong, ("a", "b"): wrong}))
    page = trends(browser_of, "trends", project, "nightly")
    rows = table(page, "trend-table")
    assert [row[0] for row in rows[1:]] == ["2 agent", "1 agent"]
    assert rows[1][1] == "90.0 66.8 to 98.8"
    assert "Run 2 cannot be compared with any earlier run" in text(page)
    chart = embedded(page, "trend-data")["trend-selection"]
    values = [y for trace in chart["data"] if "hovertext" in trace for y in trace["y"]]
    assert values == [70.0, 90.0]
    api = trends(browser_of, "api", project, "nightly").json()
    assert [run["rates"]["selection"]["value"] for run in api["runs"]] == [0.7, 0.9]
    in_csv = csv_rows(trends(browser_of, "trends-csv", project, "nightly"))
    assert [float(row["rate"]) for row in in_csv if row["name"] == "selection"] == [0.7, 0.9]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (
            20,
            2,
            "Significantly better over 2 comparable runs: the pass rate rose from 33.3 % of examples in run 1 "
            "to 93.3 %",
        ),
        (
            2,
            20,
            "Significantly worse over 2 comparable runs: the pass rate fell from 93.3 % of examples in run 1 to 33.3 %",
        ),
        (
            3,
            2,
            "No significant change over 2 comparable runs: 90.0 % of examples passed in run 1, 93.3 %",
        ),
        (2, 2, "No change over 2 comparable runs"),
    ],
)
def test_trends_open_with_what_a_test_has_earned(browser_of, build, project, before, after, says):
    def tried(wrong: int) -> list[list[Case]]:
        return [[Case("a", "b" if place < wrong else "a")] for place in range(30)]

    build.again(build.tried(tried(before)), tried(after))
    page = trends(browser_of, "trends", project, "nightly")
    assert says in text(page)
    assert reverse("reports:compare", args=[project.slug, 1, 2]) in page.content.decode()


def test_too_few_examples_tell_nothing_over_time(browser_of, build, project):
    build.again(build.tried([[Case("a", "b")]] * 10), [[Case("a", "a")]] * 10)
    assert "No conclusion over 2 comparable runs: 0.0 % of examples passed in run 1, 100.0 %" in text(
        trends(browser_of, "trends", project, "nightly")
    )


def test_one_run_is_a_table_in_which_each_rate_opens_its_cases(browser_of, build, project):
    build.grading([*cases_of({("a", "a"): 5, ("a", "b"): 2}), Case("a", "a", wrong_value=True)])
    page = trends(browser_of, "trends", project, "nightly")
    html = text(page)
    assert "a second run draws a line" in html
    assert "<svg class" not in html.split("<main")[1]
    assert embedded(page, "trend-data") == {}
    rows = {row[0]: row[1:] for row in table(page, "trend-alone") if len(row) == 4}
    assert (rows["Selection"][0], rows["Selection"][2]) == ("75.0*", "6 of 8")
    assert rows["a"] == rows["Selection"]
    links = re.findall(r'<a class="num" href="([^"]+)">', html)
    assert len(links) == len(rows) - 1
    for address in links:
        assert browser_of.get(unescape(address)).context["count"] > 0
    build.grading(cases_of({("a", "a"): 3}))
    assert "trend-alone" not in text(trends(browser_of, "trends", project, "nightly"))


def test_an_experiment_without_graded_runs_says_so(browser_of, build, project):
    version, _ = build.version([Case("a", "a")])
    build.run(version, "quiet")
    assert "No run of this experiment is graded yet." in text(trends(browser_of, "trends", project, "quiet"))
    assert trends(browser_of, "trends", project, "absent").status_code == 404


def test_an_uploaded_run_reaches_every_report(get, project, run_jobs):
    predictions = [call("status", STATUS), call("history", STATUS), call("refund", "made_up"), silence("hello")]
    run = uploaded_run(project, version_of(project), predictions)
    run_jobs()
    run.refresh_from_db()
    api = get("api:matrix", run.grading).json()
    cells = {(cell["expected"], cell["actual"]): cell["count"] for cell in api["cells"]}
    assert cells == {
        (STATUS, STATUS): 1,
        ("get_order_history", STATUS): 1,
        ("issue_refund", "(unknown tool)"): 1,
        (NONE, NONE): 1,
    }
    filtered = get("api:matrix", run.grading, bucket="no_call").json()
    assert [(cell["expected"], cell["count"]) for cell in filtered["cells"]] == [(NONE, 1)]
    aligned = get("api:matrix", run.grading, view="aligned").json()
    assert aligned["total"] == 4
    for case in csv_rows(get("cases-csv", run.grading)):
        page = get("case", run.grading, case["case_id"], expected=case["expected"], actual=case["actual"])
        assert page.status_code == 200
        assert page.context["count"] == 1
    assert get("run", run.grading).status_code == 200


def test_trends_share_one_scale_or_have_each_its_own(browser_of, build):
    """Selection is right in half, the schema in all: the lowest interval decides for both, or each its own."""
    grading = build.grading(cases_of({("a", "a"): 10, ("a", "b"): 10}))
    build.grading(cases_of({("a", "a"): 20}))
    address = reverse("reports:trends", args=[grading.run.project.slug, "nightly"])

    def baseline_agents(page: Any) -> dict[str, float]:
        return {
            chart.series.name: chart.chart["themes"]["light"]["layout"]["yaxis"]["range"][0]
            for chart in page.context["charts"]
        }

    same, own = (baseline_agents(browser_of.get(address, query)) for query in ({}, {"scale": "own"}))
    assert len(same) > 1
    assert len(set(own.values())) > 1
    assert set(same.values()) == {min(own.values())}


def test_small_pictures_share_one_scale_or_have_each_its_own(browser_of, build):
    grading = build.grading(cases_of({("a", "a"): 9, ("b", "b"): 1, ("b", "a"): 8}))
    build.grading(cases_of({("a", "a"): 9, ("b", "b"): 9}))
    address = reverse("reports:trends", args=[grading.run.project.slug, "nightly"])
    same, own = (
        {each.name: each.picture.goal for each in browser_of.get(address, query).context["tool_multiples"]}
        for query in ({}, {"scale": "own"})
    )
    assert same["a"] == same["b"] == own["b"] != own["a"]
