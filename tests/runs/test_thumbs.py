"""Thumbs on single judgements: one each, changed at will, never lost, counted and listed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from tests.agents.chat_server import chat_server
from tests.agents.judges import judging
from tests.reports.reading import csv_rows, text
from tests.runs.building import cases_of
from tests.runs.calibrated import judged_run, scored
from tests.runs.judged import judge_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.runs.models import CalibratedCase, JudgeCalibration, Thumb
from toolevals.runs.thumbs.services import thumb_give

pytestmark = pytest.mark.django_db
RUBRIC = "argument_semantics"


@pytest.fixture
def graded(project: Any, run_jobs: Any, settings: Any) -> Any:
    """A grading of three judged cases."""
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    with chat_server(judging(scored)) as server:
        judge_of(project, server)
        run = judged_run(project, size=3)
        run_jobs()
    run.refresh_from_db()
    return run.grading


def case_in(graded: Any, number: int = 0) -> Any:
    return cases_of(graded)[f"core-{number}", 0]


def test_another_thumb_takes_the_place_of_the_first_and_the_history_stays(graded, reviewer, adjudicator):
    case = case_in(graded)
    first = thumb_give(case=case, rubric=RUBRIC, actor=reviewer, is_up=True)
    assert thumb_give(case=case, rubric=RUBRIC, actor=reviewer, is_up=True) == first
    thumb_give(case=case, rubric=RUBRIC, actor=adjudicator, is_up=True)
    thumb_give(case=case, rubric=RUBRIC, actor=reviewer, is_up=False, note="The order is another ")
    thumb_give(case=case, rubric=RUBRIC, actor=reviewer, is_up=None)
    own = Thumb.objects.filter(person=reviewer).order_by("pk")
    assert [(thumb.words, thumb.is_current) for thumb in own] == [
        ("up", False),
        ("down", False),
        ("removed", True),
    ]
    assert [thumb.person for thumb in Thumb.objects.counted()] == [adjudicator]
    with pytest.raises(IntegrityError), transaction.atomic():
        Thumb.objects.create(case=case, rubric=RUBRIC, judge=first.judge, person=reviewer, is_up=True)


def test_only_a_verdict_that_is_there_and_shown_is_judged_in_turn(graded, reviewer):
    case = case_in(graded)
    with pytest.raises(InvalidDocument, match="is shown"):
        thumb_give(case=case, rubric="task_completion", actor=reviewer, is_up=True)
    with pytest.raises(InvalidDocument, match="must be text"):
        thumb_give(case=case, rubric=RUBRIC, actor=reviewer, is_up=True, note="\0")
    made = JudgeCalibration.objects.create(
        judge_id=graded.judges[0]["judge"], grading=graded, raters=1, seed="s", drawn_from={}
    )
    CalibratedCase.objects.create(calibration=made, position=1, case=case, is_held_out=True, passed=True)
    with pytest.raises(InvalidDocument, match="is shown"):
        thumb_give(case=case, rubric=RUBRIC, actor=reviewer, is_up=True)


def test_thumbs_are_given_on_the_page_counted_listed_and_downloaded(client: Client, project, graded, reviewer, viewer):
    case, number = case_in(graded), graded.run.number
    give = reverse("reports:thumb", args=[project.slug, number, case.pk])
    client.force_login(reviewer)
    page = text(client.get(reverse("reports:case", args=[project.slug, number, case.pk])))
    assert "Right" in page
    answer = client.post(give, {"rubric": RUBRIC, "said": "down", "note": "<b>no</b>"})
    assert answer.status_code == 302
    for said in ("sideways", ""):
        client.post(give, {"rubric": RUBRIC, "said": said})
    assert Thumb.objects.count() == 1
    page = text(client.get(reverse("reports:case", args=[project.slug, number, case.pk])))
    assert 'value="down" type="submit" aria-pressed="true"' in page
    client.force_login(viewer)
    assert client.post(give, {"rubric": RUBRIC, "said": "up"}).status_code == 403
    assert 'name="said"' not in text(client.get(reverse("reports:case", args=[project.slug, number, case.pk])))
    assert "0 up, 1 down" in text(client.get(reverse("runs:judges", args=[project.slug])))
    judge = graded.judges[0]["judge"]
    listed = text(client.get(reverse("runs:thumbs", args=[project.slug, judge])))
    assert "&lt;b&gt;no&lt;/b&gt;" in listed
    assert "core-0" in listed
    up = text(client.get(reverse("runs:thumbs", args=[project.slug, judge]), {"said": "up"}))
    assert "core-0" not in up
    (row,) = csv_rows(client.get(reverse("runs:thumbs-csv", args=[project.slug, judge])))
    assert (row["case_id"], row["said"], row["is_current"]) == (str(case.pk), "down", "true")
    (thumb,) = client.get(f"/api/v1/projects/{project.slug}/judges/{judge}/thumbs/").json()["results"]
    assert (thumb["is_up"], thumb["note"]) == (False, "<b>no</b>")


def test_a_thumb_by_rest(client: Client, project, graded, reviewer):
    client.force_login(reviewer)
    address = f"/api/v1/projects/{project.slug}/runs/{graded.run.number}/cases/{case_in(graded).pk}/thumbs/"
    made = client.post(address, {"rubric": RUBRIC, "is_up": True}, content_type="application/json")
    assert (made.status_code, made.json()["is_up"]) == (201, True)
    back = client.post(address, {"rubric": RUBRIC, "is_up": None}, content_type="application/json")
    assert back.json()["is_up"] is None
    wrong = client.post(address, {"rubric": "none", "is_up": True}, content_type="application/json")
    assert wrong.status_code == 422
