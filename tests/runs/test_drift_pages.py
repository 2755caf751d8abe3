"""Checks for drift on pages, by REST and in files."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.reports.reading import csv_rows, text
from tests.runs.calibrated import MARK, SIZE
from tests.runs.drifting import *  # noqa: F403 (its fixtures)
from tests.runs.drifting import NOW_PASSES
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin
from toolevals.runs.models import DriftAnswer, DriftCheck

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


def test_pages_rest_and_the_file_say_the_same_and_open_the_cases(
    client, project, owner, calibration, judge, run_jobs, django_assert_max_num_queries
):
    client.force_login(owner)
    judge.passes, judge.broken = NOW_PASSES, frozenset({19})
    page = reverse("runs:drift-new", args=[project.slug, calibration.judge_id])
    offered = text(client.get(page))
    assert "20 cases" in offered
    data = {"calibration": str(calibration.pk), "budget": "2"}
    assert client.post(page, {**data, "budget": "-1"}).status_code == 422
    made = client.post(page, data)
    assert made.status_code == 302
    assert "still going on" in text(client.post(page, data))
    assert "Cancel" in text(client.get(made["Location"]))
    run_jobs()
    with django_assert_max_num_queries(25):
        html = text(client.get(made["Location"]))
    assert '<span class="num">5</span> changed' in html
    assert "5 of 19" in html
    assert f"{MARK} 5 of 12" in html
    assert f"{MARK} 5 of 7" in html
    assert "core-19" not in html
    assert "core-19" in text(client.get(made["Location"], {"show": "errored"}))
    found = DriftCheck.objects.get()
    rows = csv_rows(client.get(reverse("runs:drift-csv", args=[project.slug, found.pk])))
    assert len(rows) == SIZE
    assert sorted(row["external_id"] for row in rows if row["kind"] == "changed") == [f"core-{n}" for n in range(5, 10)]
    (row,) = [row for row in rows if row["external_id"] == "core-5"]
    assert (row["before"], row["before_value"], row["now"], row["now_value"]) == ("passed", "1.0", "failed", "0.0")
    api = f"/api/v1/projects/{project.slug}"
    (said,) = client.get(f"{api}/judges/{calibration.judge_id}/drift-checks/").json()["results"]
    assert said == client.get(f"{api}/judge-drift-checks/{found.pk}/").json()
    assert (said["figures"]["changed"], said["figures"]["compared"], said["figures"]["errored"]) == (5, 19, 1)
    assert said["figures"]["share_changed"]["value"] == pytest.approx(5 / 19)
    assert (said["asked"], said["budget"]) == (SIZE, 2.0)
    cases = client.get(f"{api}/judge-drift-checks/{found.pk}/cases/").json()
    assert (cases["count"], cases["following"]) == (5, 0)
    assert {case["now_reason"] for case in cases["results"]} == {f"{MARK} {n} of 7" for n in range(5, 10)}
    history = text(client.get(reverse("runs:judge", args=[project.slug, calibration.judge_id])))
    assert "5 of 19" in history
    assert "drifted: 5 of 19" in history
    assert "drifted: 5 of 19" in text(client.get(reverse("reports:dialects", args=[project.slug, 1])))
    (listed,) = client.get(f"{api}/judges/").json()["results"]
    assert (listed["standing"]["trust"], listed["standing"]["drift_check"]) == ("drifted", str(found.pk))


def test_a_check_is_begun_by_rest_with_the_newest_closed_calibration(client, project, owner, calibration, run_jobs):
    client.force_login(owner)
    address = f"/api/v1/projects/{project.slug}/judges/{calibration.judge_id}/drift-checks/"
    made = client.post(address, {}, content_type="application/json")
    assert (made.status_code, made.json()["calibration"], made.json()["figures"]) == (201, str(calibration.pk), None)
    cases = f"/api/v1/projects/{project.slug}/judge-drift-checks/{made.json()['id']}/cases/"
    assert client.get(cases).status_code == 409
    assert client.post(address, {}, content_type="application/json").status_code == 422
    run_jobs()
    assert client.get(cases, {"show": "same"}).json()["count"] == SIZE
    nothing = {"calibration": str(calibration.judge_id)}
    assert client.post(address, nothing, content_type="application/json").status_code == 422


def test_cases_that_people_rate_now_are_hidden_in_a_check_too(
    client, project, owner, calibration, judge, check, run_jobs
):
    judge.passes = NOW_PASSES
    made = check()
    request = CalibrationRequest(judge=calibration.judge, grading=calibration.grading, held_out=SIZE, raters=1)
    calibration_begin(request=request, actor=None)
    run_jobs()
    client.force_login(owner)
    html = text(client.get(reverse("runs:drift", args=[project.slug, made.pk])))
    assert MARK not in html
    assert "20 cases being rated by people are not listed" in html
    rows = csv_rows(client.get(reverse("runs:drift-csv", args=[project.slug, made.pk])))
    assert {(row["kind"], row["now"], row["people"]) for row in rows} == {("hidden", "", "")}
    cases = client.get(f"/api/v1/projects/{project.slug}/judge-drift-checks/{made.pk}/cases/").json()
    assert (cases["count"], cases["hidden"]) == (0, SIZE)


def test_hostile_reasons_are_shown_as_text(client, project, owner, calibration, check):
    made = check()
    DriftAnswer.objects.update(value=0, reason="<script>alert(1)</script>")
    client.force_login(owner)
    html = client.get(reverse("runs:drift", args=[project.slug, made.pk])).content.decode()
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html
