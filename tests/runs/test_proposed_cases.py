"""Thumbs beside a calibration: counted by verdict, proposed to raters, and in no figure."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.reports.reading import csv_rows, text
from tests.runs.building import cases_of
from tests.runs.calibrated import judged_run, rate_all, scored
from tests.runs.judged import judge_of
from toolevals.runs.drift.services import drift_begin
from toolevals.runs.judge_calibrations.results import results_of
from toolevals.runs.judge_calibrations.services import CalibrationRequest, calibration_begin
from toolevals.runs.models import CalibratedCase, Judge, JudgeCalibration, Thumb, Tryout
from toolevals.runs.thumbs.services import thumb_give
from toolevals.workspace.models import Batch

pytestmark = pytest.mark.django_db
RUBRIC = "argument_semantics"
# The judge passes the first twelve of twenty.
DOWN, UP = (0, 3, 15), (1,)


@pytest.fixture
def judge(project: Any, run_jobs: Any, settings: Any) -> Any:
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    with chat_server(judging(scored)) as server:
        made = judge_of(project, server)
        judged_run(project)
        run_jobs()
        yield made


@pytest.fixture
def grading(judge: Any, project: Any, reviewer: Any, adjudicator: Any) -> Any:
    """A grading of twenty judged cases, some with thumbs."""
    found = project.runs.get().grading
    cases = cases_of(found)
    for number in (*DOWN, *UP):
        thumb_give(case=cases[f"core-{number}", 0], rubric=RUBRIC, actor=reviewer, is_up=number in UP)
    thumb_give(case=cases["core-0", 0], rubric=RUBRIC, actor=adjudicator, is_up=False)
    return found


def begun(judge: Judge, grading: Any, run_jobs: Any, **said: Any) -> JudgeCalibration:
    request = CalibrationRequest(judge=judge, grading=grading, raters=1, seed="s", **{"held_out": 6, **said})
    made = calibration_begin(request=request, actor=None)
    run_jobs()
    return JudgeCalibration.objects.get(pk=made.pk)


def names(calibration: JudgeCalibration, **wanted: Any) -> set[str]:
    name = "case__transcript__entry__revision__example__external_id"
    return set(calibration.cases.filter(**wanted).values_list(name, flat=True))


def test_proposed_cases_are_rated_besides_those_that_chance_draws(judge, grading, run_jobs):
    with transaction.atomic():
        by_chance = names(begun(judge, grading, run_jobs, tuning=3))
        transaction.set_rollback(True)
    made = begun(judge, grading, run_jobs, tuning=3, thumbs=True)
    assert names(made, by_thumb=False) == by_chance
    assert names(made, by_thumb=True) == {f"core-{number}" for number in DOWN} - by_chance != set()
    assert not made.cases.filter(by_thumb=True, is_held_out=True).exists()
    passed = made.cases.filter(by_thumb=True).values_list("case__transcript__entry__position", "passed")
    assert all(is_passed == (position < 12) for position, is_passed in passed)
    # Nothing tells a rater which they are.
    places = made.cases.filter(by_thumb=True).values_list("position", flat=True)
    assert max(places) <= made.cases.count()
    assert set(places) != {made.cases.count() - place for place in range(len(places))}


def test_no_figure_takes_a_proposed_case(judge, grading, run_jobs, viewer):
    made = begun(judge, grading, run_jobs, tuning=2, thumbs=True)
    rate_all(made, viewer)
    made.refresh_from_db()
    assert not made.is_open
    thumbs = results_of(made, "thumbs")
    assert {case.case.set_name for case in thumbs.cases} == {"thumbs"}
    assert (thumbs.comparison.compared, thumbs.comparison.table.agreement.value) == (0, None)
    for chosen, count in (("held_out", 6), ("tuning", 2)):
        results = results_of(made, chosen)
        assert (len(results.cases), results.comparison.compared) == (count, count)
    assert sum(made.table.values()) == 6
    assert results_of(made, "thumbs").corrected == results_of(made, "held_out").corrected
    check = drift_begin(judge=judge, calibration=made, actor=None)
    batches = Batch.objects.filter(job=check.job)
    asked = [place for batch in batches for place in batch.payload.get("places", ())]
    assert len(asked) == 8
    assert not CalibratedCase.objects.filter(calibration=made, position__in=asked, by_thumb=True).exists()


def test_what_a_calibration_has_had_is_proposed_no_more(judge, grading, run_jobs, reviewer):
    assert Thumb.objects.proposed(judge).values("case").distinct().count() == len(DOWN)
    made = begun(judge, grading, run_jobs, thumbs=True)
    rate_all(made, reviewer)
    assert not Thumb.objects.proposed(judge).exists()
    again = begun(judge, grading, run_jobs, thumbs=True)
    assert not again.cases.filter(by_thumb=True).exists()


def test_pages_count_thumbs_by_verdict_and_lead_to_a_calibration(
    client: Client, project, judge, grading, run_jobs, adjudicator, viewer
):
    client.force_login(adjudicator)
    page = text(client.get(reverse("runs:judge", args=[project.slug, judge.pk])))
    assert "self-selected: in no figure" in page
    thumbs = reverse("runs:thumbs", args=[project.slug, judge.pk])
    assert f'<a href="{thumbs}?verdict=passed&amp;said=down">3</a>' in page
    assert f'<a href="{thumbs}?verdict=failed&amp;said=down">1</a>' in page
    assert "Of those down, 3 cases were in no calibration." in " ".join(page.split())
    listed = text(client.get(thumbs, {"verdict": "failed", "said": "down"}))
    assert "core-15" in listed
    assert "core-3" not in listed
    new = reverse("runs:calibration-new", args=[project.slug, judge.pk])
    assert f"{new}?thumbs=on&amp;grading={grading.pk}" in page
    form = client.get(new, {"thumbs": "on", "grading": str(grading.pk)}).context["form"]
    assert (form["thumbs"].value(), form["grading"].value()) == ("on", str(grading.pk))
    said = {"grading": str(grading.pk), "held_out": "6", "tuning": "0", "raters": "1", "seed": "s", "thumbs": "on"}
    assert client.post(new, said).status_code == 302
    run_jobs()
    made = JudgeCalibration.objects.get()
    assert made.cases.filter(by_thumb=True).exists()
    # While people rate, verdicts and thumbs on these cases are hidden.
    page = text(client.get(reverse("runs:judge", args=[project.slug, judge.pk])))
    assert "in no calibration" not in page
    rate_all(made, viewer)
    shown = text(client.get(reverse("runs:calibration", args=[project.slug, made.pk]), {"set": "thumbs"}))
    assert "By thumbs" in shown
    assert "no figure takes them" in shown
    assert "Kappa" not in shown
    assert "self-selected: in no figure" in shown
    client.force_login(viewer)
    assert "Have them rated" not in text(client.get(reverse("runs:judge", args=[project.slug, judge.pk])))


def test_a_changed_rubric_is_tried_on_the_proposed_cases_first(
    client: Client, project, judge, grading, run_jobs, adjudicator
):
    client.force_login(adjudicator)
    new = reverse("runs:rubric-new", args=[project.slug])
    page = text(client.get(reverse("runs:judge", args=[project.slug, judge.pk])))
    link = f"{new}?rubric={judge.rubric_id}&amp;thumbs=on&amp;run={grading.run.number}"
    assert link in page
    trial = client.get(link.replace("&amp;", "&")).context["trial"]
    assert (trial["thumbs"].value(), trial["run"].value()) == ("on", str(grading.run.number))
    body = {
        "document": judge.rubric.document, "run": grading.run.number, "judge": str(judge.pk), "seed": "s",
        "thumbs": True,
    }  # fmt: skip
    answer = client.post(f"/api/v1/projects/{project.slug}/rubric-tryouts/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["thumbs"]) == (201, True)
    run_jobs()
    tryout = Tryout.objects.get()
    name = "case__transcript__entry__revision__example__external_id"
    tried = list(tryout.cases.order_by("position").values_list(name, flat=True))
    assert set(tried[: len(DOWN)]) == {f"core-{number}" for number in DOWN}
    assert len(set(tried)) == 10
    shown = text(client.get(reverse("runs:tryout", args=[project.slug, tryout.pk])))
    assert "those with a thumb down first" in " ".join(shown.split())


def test_files_and_rest_tell_the_verdict_and_the_set(client: Client, project, judge, grading, run_jobs, adjudicator):
    client.force_login(adjudicator)
    rows = csv_rows(client.get(reverse("runs:thumbs-csv", args=[project.slug, judge.pk])))
    assert {row["external_id"]: row["verdict"] for row in rows} == {
        "core-0": "passed", "core-3": "passed", "core-15": "failed", "core-1": "passed",
    }  # fmt: skip
    api = f"/api/v1/projects/{project.slug}"
    listed = client.get(f"{api}/judges/{judge.pk}/thumbs/").json()["results"]
    assert sorted(each["verdict"] for each in listed) == ["failed", *["passed"] * 4]
    body = {"run": grading.run.number, "held_out": 6, "raters": 1, "seed": "s", "thumbs": True}
    answer = client.post(f"{api}/judges/{judge.pk}/calibrations/", body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    run_jobs()
    made = JudgeCalibration.objects.get()
    rate_all(made, adjudicator)
    results = client.get(f"{api}/judge-calibrations/{made.pk}/results/?set=thumbs").json()
    assert results["thumbs"] == [{"judge": "passed", "up": 1, "down": 3}, {"judge": "failed", "up": 0, "down": 1}]
    assert (results["agreement"]["value"], len(results["cases"])) == (None, made.cases.filter(by_thumb=True).count())
    lines = csv_rows(client.get(reverse("runs:calibration-csv", args=[project.slug, made.pk])))
    assert {line["set"] for line in lines} == {"held_out", "thumbs"}
