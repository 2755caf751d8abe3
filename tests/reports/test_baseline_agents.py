"""Test the baseline agents of a version: page, file and interface, and on a run's page."""

from __future__ import annotations

import pytest
from django.urls import reverse

from labeling.models import DatasetVersion
from reports.run.baseline_agents import highest, version_baseline_agents
from tests.reports.building import cases_of
from tests.reports.reading import csv_rows, table, text
from toolevals.runs.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(build):
    """A version that people ran on, and two baseline agents."""
    mine = build.grading(cases_of({("a", "a"): 9, ("b", "a"): 3}))
    for place, (baseline_agent, cells) in enumerate(
        [("none", {("a", "(none)"): 9, ("b", "(none)"): 3}), ("frequent", {("a", "a"): 9, ("b", "a"): 3})], 1
    ):
        other = build.grading(cases_of(cells))
        Run.objects.filter(pk=other.run_id).update(
            baseline_agent=baseline_agent, dataset_version=mine.dataset_version, number=1_000_000_000 + place
        )
    return mine.dataset_version


def address(name: str, version: DatasetVersion) -> str:
    return reverse(name, args=[version.dataset.project.slug, version.dataset.slug, version.number])


def test_page_file_and_interface_agree(browser_of, version):
    rows = csv_rows(browser_of.get(address("reports:baseline-agents-csv", version)))
    outcome = {row["baseline_agent"]: row for row in rows if row["name"] == "outcome"}
    assert (outcome["none"]["passed"], outcome["frequent"]["passed"]) == ("0", "9")
    assert float(outcome["frequent"]["rate"]) == 0.75
    said = browser_of.get(address("reports-api:baseline-agents", version)).json()["baseline_agents"]
    assert [row["kind"] for row in said] == ["none", "frequent"]
    assert said[1]["layers"][0]["rate"]["passed"] == 9
    shown = table(browser_of.get(address("reports:baseline-agents", version)), "baseline-agents")
    assert [row[2] for row in shown if row[1] == "Outcome"] == ["0 of 12", "9 of 12"]


def test_they_open_down_to_the_cases(browser_of, version):
    html = text(browser_of.get(address("reports:baseline-agents", version)))
    link = reverse("reports:cases", args=[version.dataset.project.slug, 1_000_000_002])
    assert f"{link}?column=outcome&amp;status=passed" in html
    assert "9</span> cases" in text(browser_of.get(link, {"column": "outcome", "status": "passed"}))
    assert "Baseline agent:" in text(browser_of.get(link))


def test_a_run_is_read_against_them(get, version):
    run = Run.objects.get(dataset_version=version, baseline_agent="")
    page = get("run", run.grading)
    assert [row[0] for row in table(page, "baseline-agents-small")[1:]] == [
        "always (none)",
        "always the most frequent tool",
    ]
    assert "No gate uses its scores" in text(page)
    baseline_agent = Run.objects.get(dataset_version=version, baseline_agent="none")
    assert "baseline-agents-small" not in text(get("run", baseline_agent.grading))


def test_the_highest_baseline_agent_is_what_luck_explains(version):
    assert highest(version_baseline_agents(version))["outcome"] == (0.75, "always the most frequent tool")
    assert highest(()) == {}


def test_without_baseline_agents_the_page_says_when_they_come(browser_of, build):
    version = build.version(cases_of({("a", "a"): 1}))[0]
    assert "None yet." in text(browser_of.get(address("reports:baseline-agents", version)))
    assert browser_of.get(address("reports:baseline-agents", version).replace("/1/", "/9/")).status_code == 404
