"""Floors of a version: page, file and interface, and beside a run's scores."""

from __future__ import annotations

import pytest
from django.urls import reverse

from labeling.models import DatasetVersion
from reports.analyses.floors import highest
from reports.queries.floors import version_floors
from tests.reports.building import cases_of
from tests.reports.reading import csv_rows, table, text
from toolevals.runs.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(build):
    """A version that people ran on, and two floors."""
    mine = build.grading(cases_of({("a", "a"): 9, ("b", "a"): 3}))
    for place, (floor, cells) in enumerate(
        [("none", {("a", "(none)"): 9, ("b", "(none)"): 3}), ("frequent", {("a", "a"): 9, ("b", "a"): 3})], 1
    ):
        other = build.grading(cases_of(cells))
        Run.objects.filter(pk=other.run_id).update(
            floor=floor, dataset_version=mine.dataset_version, number=1_000_000_000 + place
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
    assert [floor["kind"] for floor in said] == ["none", "frequent"]
    assert said[1]["layers"][0]["rate"]["passed"] == 9
    shown = table(browser_of.get(address("reports:baseline-agents", version)), "floors")
    assert [row[2] for row in shown if row[1] == "Outcome"] == ["0 of 12", "9 of 12"]


def test_they_open_down_to_the_cases(browser_of, version):
    html = text(browser_of.get(address("reports:baseline-agents", version)))
    link = reverse("reports:cases", args=[version.dataset.project.slug, 1_000_000_002])
    assert f"{link}?column=outcome&amp;status=passed" in html
    assert "9</span> cases" in text(browser_of.get(link, {"column": "outcome", "status": "passed"}))
    assert "Baseline agent:" in text(browser_of.get(link))


def test_a_run_is_read_against_them(get, version):
    run = Run.objects.get(dataset_version=version, floor="")
    page = get("run", run.grading)
    assert [row[0] for row in table(page, "floors-small")[1:]] == ["always (none)", "always the most frequent tool"]
    assert "No gate uses its scores" in text(page)
    floor = Run.objects.get(dataset_version=version, floor="none")
    assert "floors-small" not in text(get("run", floor.grading))


def test_the_highest_floor_is_what_luck_explains(version):
    assert highest(version_floors(version))["outcome"] == (0.75, "always the most frequent tool")
    assert highest(()) == {}


def test_without_floors_the_page_says_when_they_come(browser_of, build):
    version = build.version(cases_of({("a", "a"): 1}))[0]
    assert "None yet." in text(browser_of.get(address("reports:baseline-agents", version)))
    assert browser_of.get(address("reports:baseline-agents", version).replace("/1/", "/9/")).status_code == 404
