"""Test what is done with a run from the list of runs."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse
from pytest_django.asserts import assertContains, assertRedirects

from tests.runs.building import baseline_run
from toolevals.workspace.models import JobState

pytestmark = pytest.mark.django_db


def page(name: str, *args: Any) -> str:
    return reverse(f"runs:{name}", args=["shop", *args])


def test_cancel_retry_and_regrade(project, version, as_adjudicator, run_jobs):
    run = baseline_run(project, version)

    as_adjudicator.post(page("run-cancel", 1))
    run.job.refresh_from_db()
    assert run.job.state == JobState.CANCELLED
    assertContains(as_adjudicator.get(page("runs")), page("run-retry", 1))

    as_adjudicator.post(page("run-retry", 1))
    run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED

    response = as_adjudicator.post(page("run-regrade", 1), {"next": "/p/shop/runs/?experiment=nightly"})
    assertRedirects(response, "/p/shop/runs/?experiment=nightly", fetch_redirect_response=False)
    run_jobs()
    run.refresh_from_db()
    assert run.grading.number == 2


def test_a_run_is_paused_and_resumed_from_the_list(project, version, as_adjudicator, run_jobs):
    run = baseline_run(project, version)
    as_adjudicator.post(page("run-pause", 1))
    assert run_jobs() == 0
    assertContains(as_adjudicator.get(page("runs")), page("run-resume", 1))
    as_adjudicator.post(page("run-resume", 1))
    run_jobs()
    run.job.refresh_from_db()
    assert run.job.state == JobState.SUCCEEDED


def test_what_cannot_be_done_is_said(project, version, as_adjudicator, run_jobs):
    baseline_run(project, version)
    assertContains(as_adjudicator.post(page("run-regrade", 1), follow=True), "not been graded yet")
    run_jobs()

    assertContains(
        as_adjudicator.post(page("run-cancel", 1), follow=True), "only a running or paused job can be cancelled"
    )
    assertContains(as_adjudicator.post(page("run-retry", 1), follow=True), "can be retried")


@pytest.mark.parametrize("next_", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_an_act_leads_back_to_our_own_pages_only(project, version, as_adjudicator, next_):
    baseline_run(project, version)

    response = as_adjudicator.post(page("run-cancel", 1), {"next": next_})

    assertRedirects(response, page("runs"), fetch_redirect_response=False)


@pytest.mark.parametrize("name", ["run-cancel", "run-pause", "run-resume", "run-retry", "run-regrade"])
def test_a_run_that_is_not_there_is_not_found(project, as_adjudicator, name):
    assert as_adjudicator.post(page(name, 7)).status_code == 404
