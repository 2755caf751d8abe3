"""Rating blind, on pages, by REST and in files; what came of it once it is closed."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from tests.reports.reading import csv_rows, text
from tests.runs.calibrated import SIZE, rate_all, truth
from tests.runs.rated import *  # noqa: F403 (its fixtures)
from tests.runs.rated import NOTE
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin, calibration_close
from toolevals.runs.models import Judge, JudgeCalibration, JudgedCase, Rating
from toolevals.workspace.models import Role

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


def test_a_rater_goes_from_case_to_case_by_the_page_alone(client, project, calibration, raters):
    client.force_login(raters[0])
    address = reverse("runs:rate", args=[project.slug, calibration.pk])
    seen = set()
    for _ in range(SIZE):
        html = client.get(address).content.decode()
        (case,) = re.findall(r'name="case" value="([0-9a-f-]{36})"', html)
        shown = calibration.cases.get(pk=case)
        assert f"ord {shown.questions[0]['actual']['arguments']['order_id'].split()[1]}" in html
        assert "core-" not in html
        seen.add(case)
        answer = client.post(address, {"case": case, "value": f"{truth(shown.questions[0]):g}", "note": ""})
        assert answer.status_code == 302
    assert len(seen) == SIZE
    assert client.get(address)["Location"] == reverse("runs:calibration", args=[project.slug, calibration.pk])
    assert Rating.objects.filter(rater=raters[0]).count() == SIZE


def test_a_bad_rating_is_refused_on_the_page_and_nothing_is_lost(client, project, calibration, raters):
    client.force_login(raters[0])
    address = reverse("runs:rate", args=[project.slug, calibration.pk])
    case = calibration.cases.left_for(raters[0]).first()
    for value, said in (("0.3", "not on the rubric"), ("much", "A value is a number"), ("", "Choose a value")):
        answer = client.post(address, {"case": case.pk, "value": value, "note": "as I think"})
        assert answer.status_code == 422
        assert said in text(answer)
        assert "as I think" in text(answer)
    assert client.post(address, {"case": "none", "value": "1"}).status_code == 302
    assert not Rating.objects.exists()
    client.post(address, {"case": case.pk, "value": "none", "note": "as I think"})
    assert Rating.objects.get().value is None


def test_a_script_is_told_what_became_of_a_rating(client, project, calibration, raters):
    client.force_login(raters[0])
    address = reverse("runs:rate", args=[project.slug, calibration.pk])
    case = calibration.cases.left_for(raters[0]).first()
    sent = {"X-Person": str(raters[0].pk), "HX-Request": "true", "X-Submission": "a" * 32}

    refused = client.post(address, {"case": case.pk, "value": "much"}, headers=sent)
    assert (refused.status_code, "X-Accepted" in refused) == (422, False)
    assert refused.json() == {"problems": [{"field": "value", "message": "A value is a number of the scale."}]}
    # A second time, because the first answer was lost, it is the same rating.
    for _ in range(2):
        taken = client.post(address, {"case": case.pk, "value": "1", "note": "yes"}, headers=sent)
        assert (taken.status_code, taken["X-Accepted"], taken["HX-Push-Url"]) == (200, "a" * 32, address)
    late = client.post(address, {"case": case.pk, "value": "0"}, headers=sent)
    assert (late.status_code, "X-Accepted" in late) == (409, False)
    assert late.json() == {"message": "You have rated this case: the first rating counts.", "url": address}
    assert client.post(address, {"case": "none", "value": "1"}, headers=sent).status_code == 409
    assert Rating.objects.get().value == 1


def test_hostile_text_of_a_case_is_shown_as_text(client, project, calibration, raters):
    case = calibration.cases.left_for(raters[0]).first()
    case.questions[0]["conversation"]["messages"][0]["content"] = "<script>alert(1)</script>"
    case.save()
    client.force_login(raters[0])
    html = client.get(reverse("runs:rate", args=[project.slug, calibration.pk])).content.decode()
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_what_came_of_it_and_each_count_opens_its_cases(get, people, calibration, raters):
    for one in raters:
        rate_all(calibration, one, NOTE)
    owner = people[Role.OWNER]
    html = text(get(owner, "runs:calibration", calibration.pk))
    for shown in ("0.58 (", "0.80 (", "below its threshold: kappa 0.58", "Ana", "Corrected by the held-out cases"):
        assert shown in html
    assert "?set=held_out&amp;judge=passed&amp;people=failed" in html
    listed = text(get(owner, "runs:calibration", calibration.pk, judge="passed", people="failed"))
    assert '<span class="num">2</span> cases' in listed
    assert "core-10" in listed
    assert "core-0<" not in listed
    assert "Ana" not in text(get(people[Role.REVIEWER], "runs:calibration", calibration.pk))
    tuning = text(get(owner, "runs:calibration", calibration.pk, set="tuning"))
    assert '<span class="num">0</span> cases' in tuning


def test_the_file_names_people_to_owners_alone_and_one_sees_ones_own_before_the_end(get, people, calibration, raters):
    rate_all(calibration, raters[0], NOTE)
    assert csv_rows(get(people[Role.OWNER], "runs:calibration-csv", calibration.pk)) == []
    own = csv_rows(get(raters[0], "runs:calibration-csv", calibration.pk))
    assert len(own) == SIZE
    assert {(row["is_own"], row["judge"], row["external_id"], row["rater"]) for row in own} == {("true", "", "", "")}
    for one in raters[1:]:
        rate_all(calibration, one)
    rows = csv_rows(get(people[Role.OWNER], "runs:calibration-csv", calibration.pk))
    assert len(rows) == 3 * SIZE
    assert {row["rater"] for row in rows} == {"Ana", "Ben", "Cleo"}
    (row, *_) = [row for row in rows if row["external_id"] == "core-10"]
    assert (row["judge"], row["people"], row["value"], row["passes"]) == ("passed", "failed", "0.0", "false")
    assert {row["rater"] for row in csv_rows(get(people[Role.VIEWER], "runs:calibration-csv", calibration.pk))} == {""}


def test_a_closed_calibration_does_not_tell_what_another_hides(get, people, calibration, raters, run_jobs):
    for one in raters:
        rate_all(calibration, one)
    request = CalibrationRequest(judge=calibration.judge, grading=calibration.grading, held_out=SIZE)
    again = calibration_begin(request=request, actor=None)
    run_jobs()

    page = text(get(people[Role.OWNER], "runs:calibration", calibration.pk))
    assert page.count(">hidden</span>") == SIZE
    assert all(
        row["judge"] == row["judge_value"] == ""
        for row in csv_rows(get(people[Role.OWNER], "runs:calibration-csv", calibration.pk))
    )
    said = get(people[Role.OWNER], "runs-api:calibration-results", calibration.pk).json()
    assert {(case["judge"], case["value"]) for case in said["cases"]} == {("hidden", None)}

    calibration_close(calibration=again, actor=None)
    assert ">hidden</span>" not in text(get(people[Role.OWNER], "runs:calibration", calibration.pk))


def test_a_judges_numbers_are_flagged_everywhere_and_put_right_once_people_were_asked(
    get, people, project, calibration, raters
):
    owner, run = people[Role.OWNER], calibration.grading.run
    never = "never compared with people"
    for one in raters:
        rate_all(calibration, one)
    flag = "below its threshold: kappa 0.58, wanted 0.6"
    case = JudgedCase.objects.filter(status="failed").values_list("case", flat=True)[0]
    places = [
        ("reports:dialects", run.number),
        ("reports:case", run.number, case),
        ("reports:trends", run.experiment.slug),
        ("runs:judges",),
        ("runs:judge", calibration.judge_id),
    ]
    for name, *args in places:
        assert flag in text(get(owner, name, *args)), name
    query = {"column": "judged:argument_semantics", "status": "failed"}
    assert flag in text(get(owner, "reports:cases", run.number, **query))
    (row,) = csv_rows(get(owner, "reports:judges-csv", run.number))
    assert (row["flag"], row["calibration_id"]) == (flag, str(calibration.pk))
    assert float(row["corrected"]) == pytest.approx(0.6)
    assert float(row["kappa"]) == pytest.approx(0.28 / 0.48)
    assert {row["flag"] for row in csv_rows(get(owner, "reports:judged-csv", run.number))} == {flag}
    trend = csv_rows(get(owner, "reports:trends-csv", run.experiment.slug))
    assert [row["flag"] for row in trend if row["name"] == "judged:argument_semantics"] == [flag]
    (said,) = get(owner, "reports-api:judges", run.number).json()
    assert (said["flag"], said["corrected"]["value"]) == (flag, pytest.approx(0.6))
    (judge,) = get(owner, "runs-api:judges").json()["results"]
    assert (judge["standing"]["trust"], judge["standing"]["flag"]) == ("below", flag)
    Judge.objects.update(threshold=0.5)
    for name, *args in places:
        html = text(get(owner, name, *args))
        assert flag not in html, name
        assert never not in html, name


def test_rating_by_rest(client, project, calibration, raters, people):
    address = f"/api/v1/projects/{project.slug}/judge-calibrations/{calibration.pk}"
    client.force_login(raters[0])
    case = client.get(f"{address}/ratings/").json()
    assert set(case) == {"id", "questions"}
    body = {"case": case["id"], "value": 0.5}
    made = client.post(f"{address}/ratings/", body, content_type="application/json")
    assert (made.status_code, made.json()["value"]) == (201, 0.5)
    assert client.post(f"{address}/ratings/", body, content_type="application/json").json()["id"] == made.json()["id"]
    refused = client.post(f"{address}/ratings/", {**body, "value": 0.3}, content_type="application/json")
    assert refused.status_code == 422
    assert client.get(f"{address}/ratings/").json()["id"] != case["id"]
    assert client.get(f"{address}/results/").status_code == 409
    client.force_login(people[Role.OWNER])
    assert client.get(f"{address}/raters/").json() == [{"rater": str(raters[0].pk), "name": "Ana", "rated": 1}]
    assert client.post(f"{address}/close/").json()["closed_at"] is not None
    found = client.get(f"{address}/results/").json()
    assert [one["rater"] for one in found["raters"]] == [str(raters[0].pk)]
    assert sum(cell["count"] for cell in found["confusion"]) == SIZE
    client.force_login(raters[0])
    assert client.get(f"{address}/ratings/").status_code == 204
    assert client.get(f"{address}/results/").json()["raters"] == []


def test_a_calibration_is_begun_by_page_and_by_rest(client, project, calibration, people, run_jobs):
    client.force_login(people[Role.ADJUDICATOR])
    end = reverse("runs:calibration-close", args=[project.slug, calibration.pk])
    assert client.post(end).status_code == 302
    new = reverse("runs:calibration-new", args=[project.slug, calibration.judge_id])
    assert "Run 1, grading 1" in text(client.get(new))
    data = {"grading": str(calibration.grading_id), "held_out": "5", "tuning": "2", "raters": "2", "seed": "s"}
    assert client.post(new, {**data, "held_out": "0"}).status_code == 422
    assert client.post(new, data).status_code == 302
    again = client.post(new, data)
    assert again.status_code == 422
    assert "still open" in text(again)
    run_jobs()
    made = JudgeCalibration.objects.latest("pk")
    assert (made.cases.count(), made.raters) == (7, 2)
    assert client.post(reverse("runs:calibration-close", args=[project.slug, made.pk])).status_code == 302
    address = f"/api/v1/projects/{project.slug}/judges/{calibration.judge_id}/calibrations/"
    answer = client.post(address, {"run": 1, "held_out": 4}, content_type="application/json")
    assert answer.status_code == 201
    assert answer.json()["drawn_from"] == {"passed": 12, "failed": 8}
    assert len(client.get(address).json()["results"]) == 3
    assert client.post(address, {"run": 99}, content_type="application/json").status_code == 422


def test_share_and_threshold_change_on_the_judges_page_and_layers_are_switched(client, project, calibration, people):
    client.force_login(people[Role.ADJUDICATOR])
    judge = calibration.judge
    page = reverse("runs:judge", args=[project.slug, judge.pk])
    data = {"share": "25", "budget": "3", "measure": "agreement", "threshold": "0.7", "tolerance": "0.5"}
    assert client.post(page, data).status_code == 302
    judge.refresh_from_db()
    assert (judge.share, judge.budget, judge.measure, judge.threshold) == (0.25, 3.0, "agreement", 0.7)
    assert (judge.tolerance, judge.tolerance_words) == (0.005, "0.5 %")
    assert client.post(page, {**data, "threshold": "2"}).status_code == 422
    assert client.post(page, {**data, "tolerance": "101"}).status_code == 422
    layer = reverse("runs:judges-layer", args=[project.slug])
    client.post(layer, {"layer": "arguments", "is_on": "0"})
    judge.refresh_from_db()
    assert not judge.is_on
    client.post(layer, {"layer": "arguments", "is_on": "1"})
    client.post(layer, {"layer": "nonsense", "is_on": "1"})
    judge.refresh_from_db()
    assert judge.is_on
    assert "25" in text(client.get(reverse("runs:judges", args=[project.slug])))


def test_the_list_of_judges_costs_the_same_with_calibrations(
    client, project, people, calibration, django_assert_max_num_queries
):
    client.force_login(people[Role.REVIEWER])
    with django_assert_max_num_queries(16):
        client.get(reverse("runs:judges", args=[project.slug]))
