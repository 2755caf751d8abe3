"""A project's first page: what waits, what is new since one was here, and asking again while it is open."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from labeling.adjudicate.services import dispute_open
from labeling.models import Revision
from tests.runs.building import EXAMPLES, call, example, uploaded_run, version_of
from toolevals.workspace.clock import database_now
from toolevals.workspace.home import MOST_NEWS, visit_note, visited_before
from toolevals.workspace.models import Job, JobState, Membership, Role, Visit
from toolevals.workspace.projects.services import project_create

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HTTP_HX_REQUEST": "true"}


def text_of(client: Any, person: Any, query: str = "", **headers: str) -> str:
    """Return the first page's HTML with single spaces, and none before the end of a tag."""
    client.force_login(person)
    page = client.get(f"/p/shop/{query}", **headers).content.decode()
    return " ".join(page.split()).replace(" >", ">")


def long_ago(person: Any, **since: float) -> None:
    """Let the person's last look at the page be so long ago."""
    Visit.objects.filter(user=person).update(seen_at=database_now() - timedelta(**since))


def test_what_waits_is_listed_with_its_button(project, client, reviewer, adjudicator, viewer):
    unlabelled = {key: EXAMPLES[0][key] for key in ("input", "tools")}
    version_of(project, [*EXAMPLES, unlabelled | {"id": "open"}])
    page = text_of(client, reviewer)
    assert "<span>example to label</span>" in page
    assert ">Label examples</a>" in page
    assert "No open tasks." in text_of(client, viewer)
    revision = Revision.objects.get(example__external_id="status")
    dispute_open(revision=revision, actor=reviewer, reason="It should be the history.")
    page = text_of(client, adjudicator)
    assert "<span>example to label</span>" in page
    assert "<span>dispute to decide</span>" in page
    assert ">Decide disputes</a>" in page
    assert "dispute to decide" not in text_of(client, reviewer)


def test_failed_jobs_wait_for_those_who_may_try_again_and_not_for_ever(project, client, reviewer, adjudicator):
    job = Job.objects.create(project=project, kind="import", title="Import", state=JobState.FAILED)
    assert "<span>failed job</span>" in text_of(client, adjudicator)
    assert "<span>failed job</span>" not in text_of(client, reviewer)
    Job.objects.filter(pk=job.pk).update(created_at=database_now() - timedelta(days=15))
    assert "<span>failed job</span>" not in text_of(client, adjudicator)


def test_news_are_what_happened_since_the_visit_before(project, client, viewer, run_jobs):
    assert 'id="news-h"' not in text_of(client, viewer), "nothing happened before the first visit"
    long_ago(viewer, hours=1)
    version = version_of(project)
    uploaded_run(project, version, [call("status", "get_order_status")])
    run_jobs()
    page = text_of(client, viewer)
    assert "Since your last visit" in page
    assert "Core v1 was frozen: 4 examples" in page
    assert "Run 1 of agent graded on Core v1" in page
    # Looking again at once is the same visit; looking much later another one, which knows it all.
    assert "Core v1 was frozen" in text_of(client, viewer)
    long_ago(viewer, hours=2)
    Visit.objects.update(seen_at=database_now() - timedelta(minutes=31))
    version.__class__.objects.update(created_at=database_now() - timedelta(hours=3))
    page = text_of(client, viewer)
    assert "Core v1 was frozen" not in page


def test_a_visit_ends_with_half_an_hour_away(project, viewer):
    assert visit_note(project=project, user=viewer) is None
    assert visit_note(project=project, user=viewer) is None
    long_ago(viewer, minutes=29)
    assert visit_note(project=project, user=viewer) is None
    long_ago(viewer, minutes=31)
    before = visit_note(project=project, user=viewer)
    assert before is not None
    assert timedelta(minutes=31) <= database_now() - before < timedelta(minutes=32)
    assert visited_before(project, viewer) == before
    assert Visit.objects.count() == 1


def test_there_are_never_too_many_news(project, client, viewer):
    version = version_of(project)
    versions = [type(version)(dataset=version.dataset, number=number, size=4) for number in range(2, MOST_NEWS + 9)]
    type(version).objects.bulk_create(versions)
    page = text_of(client, viewer)
    assert page.count("was frozen") == MOST_NEWS
    assert f"The {MOST_NEWS} newest of more." in page


def test_experiments_show_their_newest_run_with_count_and_interval_or_its_progress(project, client, viewer, run_jobs):
    version = version_of(project)
    uploaded_run(project, version, [call("status", "get_order_status"), call("history", "issue_refund")])
    page = text_of(client, viewer)
    assert "not graded yet" in page
    assert 'aria-label="Run 1, progress"' in page
    run_jobs()
    page = text_of(client, viewer)
    assert "50.0 %" in page
    assert "1 of 2 passed</span>" in page
    assert "0.3 to 99.7" in page
    assert 'aria-label="Run 1, progress"' not in page


def test_the_open_page_is_only_changed_where_something_has_changed(project, client, viewer):
    client.force_login(viewer)
    page = client.get("/p/shop/").content.decode()
    asks = page.split('id="home" hx-get="/p/shop/', 1)[1].split('"', 1)[0]
    again = client.get(f"/p/shop/{asks}", **HTMX)
    assert (again.status_code, again.content) == (204, b"")
    version_of(project)
    changed = client.get(f"/p/shop/{asks}", **HTMX)
    assert changed.status_code == 200
    assert "Core v1 was frozen" in changed.content.decode()
    assert "<html" not in changed.content.decode()
    # Asking while it is open is no visit.
    long_ago(viewer, hours=1)
    client.get(f"/p/shop/{asks}", **HTMX)
    assert Visit.objects.get().seen_at < database_now() - timedelta(minutes=59)


def test_what_people_wrote_stays_text(project, client, viewer):
    version = version_of(project, [example("one", "Where is it?", None)])
    type(version.dataset).objects.update(name="<b>bold</b>")
    assert "<b>bold" not in text_of(client, viewer)


def test_the_page_costs_the_same_however_much_there_is(project, client, owner, run_jobs, django_assert_max_num_queries):
    version = version_of(project)
    for number in range(3):
        uploaded_run(project, version, [call("status", "get_order_status")], commit=str(number))
    run_jobs()
    text_of(client, owner)
    with django_assert_max_num_queries(75):
        client.get("/p/shop/")
    with django_assert_max_num_queries(19):
        client.get("/p/shop/", **HTMX)
    assert Role.OWNER in project.memberships.values_list("role", flat=True)


def test_a_project_without_a_graded_run_shows_five_steps_and_what_is_done(project, client, owner, viewer):
    page = text_of(client, owner)
    assert "Five steps to your first confusion matrix." in page
    assert "0 of 5 done" in page
    assert 'id="step-1"' in page
    # Panes without anything in them are left out.
    assert not any(f'id="{pane}"' in page for pane in ("experiments-h", "news-h", "jobs"))
    # Who may not bring tools is not offered to.
    assert 'id="step-1"' not in text_of(client, viewer)
    version_of(project)
    page = text_of(client, owner)
    assert "2 of 5 done" in page
    assert "See one of" not in page
    assert 'aria-current="step"><span class="step-no num" aria-hidden="true">1</span>' in page
    assert "Connect an agent" in page


def test_the_newest_graded_run_opens_the_page_with_what_it_confuses_and_the_change_before(
    project, client, viewer, run_jobs
):
    version = version_of(project)
    uploaded_run(project, version, [call("status", "get_order_status"), call("history", "get_order_history")])
    uploaded_run(project, version, [call("status", "get_order_status"), call("history", "issue_refund")])
    run_jobs()
    page = text_of(client, viewer)
    assert "2 scored examples: too few for a conclusion" in page
    assert '<a class="n" href="/p/shop/runs/2/">Run 2</a> of agent' in page
    assert ">1 of 2</a>" in page
    assert '<span class="tool">get_order_history</span><br><span class="xs faint">called as</span>' in page
    assert 'href="/p/shop/runs/1/compare/2/?layer=selection"' in page
    assert "not significant" in page
    assert "fewer than 20 examples" in page
    assert "Five steps" not in page


def test_a_project_without_a_graded_run_leads_to_a_matrix_that_the_person_may_see(
    project, client, owner, viewer, run_jobs
):
    uploaded_run(project, version_of(project), [call("status", "get_order_status")])
    run_jobs()
    project_create(actor=owner, slug="own", name="Own")
    client.force_login(owner)
    page = " ".join(client.get("/p/own/").content.decode().split())
    assert '<a href="/p/shop/runs/1/matrix/">See one of Shop' in page
    assert ">Example result<" in page
    assert 'href="/p/shop/runs/1/">Open the run</a>' in page
    Membership.objects.filter(project=project, user=owner).delete()
    page = client.get("/p/own/").content.decode()
    assert "See one of" not in page
    assert ">Example result<" not in page


def test_the_latest_jobs_are_told_in_a_line_each(project, client, owner, run_jobs):
    uploaded_run(project, version_of(project), [call("status", "get_order_status")])
    run_jobs()
    page = text_of(client, owner)
    assert 'Result<span class="visually-hidden"> of Run 1' in page
    assert "What the file was read as" not in page
    assert "was frozen: 4 examples" in page
