"""The workspace's pages."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured

from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import ApiToken, Job, Membership, Project, Role
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import token_create

from .tasks import claimed

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture
def page(client, owner):
    """Return a function that fetches a page as the owner and returns its text."""
    client.force_login(owner)

    def fetch(path: str, **extra) -> str:
        response = client.get(path, **extra)
        assert response.status_code == 200, path
        return str(response.content.decode())

    return fetch


def shown_once(response) -> str:
    """Return the secret that the page offers to copy."""
    found = re.search(r'data-copy="([^"]+)"', response.content.decode())
    assert found is not None
    return found[1]


def test_whoever_has_one_project_is_taken_there_and_can_still_see_the_list(client, owner, page):
    assert client.get("/")["Location"] == "/p/shop/"
    assert "Shop support" in page("/?all")


def test_home_lists_ones_projects_and_no_others(client, owner, page, django_assert_max_num_queries):
    for number in range(20):
        project_create(actor=owner if number else None, slug=f"p{number}", name=f"Project {number}")
    with django_assert_max_num_queries(6):
        text = page("/")
    assert "Project 19" in text
    assert ">Project 0<" not in text


def test_a_new_project_belongs_to_whoever_makes_it(client, outsider, settings):
    settings.WHO_MAKES_PROJECTS = "everyone"
    client.force_login(outsider)
    assert client.post("/projects/new/", {"name": "Mine", "slug": "mine"})["Location"] == "/p/mine/"
    assert Membership.objects.get(project__slug="mine", user=outsider).role == Role.OWNER
    assert client.get("/p/mine/").status_code == 200


@pytest.mark.parametrize("slug", ["shop", "a b", "", "x" * 61])
def test_a_project_needs_a_short_name_of_its_own(client, owner, slug):
    client.force_login(owner)
    assert client.post("/projects/new/", {"name": "Mine", "slug": slug}).status_code == 200
    assert Project.objects.count() == 1


def test_only_those_whom_the_operator_lets_make_projects(client, outsider, owner, settings):
    client.force_login(outsider)
    for answer in (client.get("/projects/new/"), client.post("/projects/new/", {"name": "Mine", "slug": "mine"})):
        assert answer.status_code == 403
        assert "Only installation owners can create projects here." in answer.content.decode()
    assert not Project.objects.filter(slug="mine").exists()
    assert "/projects/new/" not in client.get("/?all").content.decode()
    client.force_login(owner)
    assert "/projects/new/" in client.get("/?all").content.decode()
    settings.WHO_MAKES_PROJECTS = "all"
    with pytest.raises(ImproperlyConfigured, match="must be one of installation-owners, everyone"):
        client.get("/?all")


def test_settings_are_saved(client, owner, project, page):
    client.post("/p/shop/settings/", {"name": "Shop"})
    project.refresh_from_db()
    assert project.name == "Shop"
    assert client.post("/p/shop/settings/", {"name": ""}).status_code == 200
    project.refresh_from_db()
    assert project.name == "Shop"


def test_the_overview_shows_the_latest_jobs(page, job_of, django_assert_max_num_queries):
    for _ in range(8):
        job_of([{}, {}])
    with django_assert_max_num_queries(36):
        assert page("/p/shop/").count('class="job job-short"') == 5


def test_members_are_listed_in_a_fixed_number_of_queries(page, project, django_assert_max_num_queries):
    for number in range(20):
        user = user_create(actor=None, email=f"m{number}@example.org", name=HOSTILE)
        Membership.objects.create(project=project, user=user, role=Role.VIEWER)
    with django_assert_max_num_queries(11):
        text = page("/p/shop/members/")
    assert HOSTILE not in text
    assert "&lt;script&gt;" in text


def test_the_last_owner_stays(client, owner, project):
    client.force_login(owner)
    mine = Membership.objects.get(user=owner)
    for path, data in ((f"{mine.pk}/role/", {"role": 10}), (f"{mine.pk}/remove/", {})):
        response = client.post(f"/p/shop/members/{path}", data, follow=True)
        assert "is the last owner" in response.content.decode()
    mine.refresh_from_db()
    assert mine.role == Role.OWNER


def test_a_role_can_be_changed_and_a_membership_ended_with_its_tokens(client, owner, reviewer, project):
    client.force_login(owner)
    membership = Membership.objects.get(user=reviewer)
    token, _ = token_create(project=project, actor=None, user=reviewer, name="ci", role=Role.REVIEWER)
    client.post(f"/p/shop/members/{membership.pk}/role/", {"role": 30})
    membership.refresh_from_db()
    assert membership.role == Role.ADJUDICATOR
    client.post(f"/p/shop/members/{membership.pk}/remove/")
    token.refresh_from_db()
    assert token.revoked_at is not None
    client.force_login(reviewer)
    assert client.get("/p/shop/").status_code == 404


def test_members_of_another_project_cannot_be_reached(client, owner, outsider):
    other = project_create(actor=outsider, slug="other", name="Other")
    theirs = Membership.objects.get(project=other)
    client.force_login(owner)
    assert client.post(f"/p/shop/members/{theirs.pk}/remove/").status_code == 404
    assert Membership.objects.filter(pk=theirs.pk).exists()


def test_a_tokens_secret_is_shown_once_and_only_its_hash_is_kept(client, owner, page):
    response = client.post("/p/shop/tokens/", {"name": "weekly-check", "role": 30, "days": "90"})
    secret = shown_once(response)
    token = ApiToken.objects.get()
    assert secret not in f"{vars(token)}"
    assert secret.startswith(token.prefix)
    assert token.expires_at is not None
    assert secret not in page("/p/shop/tokens/")
    client.post(f"/p/shop/tokens/{token.pk}/revoke/")
    assert "weekly-check" not in page("/p/shop/tokens/")


def test_the_audit_log_is_read_page_by_page(page, owner, project, django_assert_max_num_queries):
    for number in range(120):
        audit_record(project=project, actor=owner, verb=f"act_{number}", target=project, detail={"note": HOSTILE})
    with django_assert_max_num_queries(10):
        text = page("/p/shop/audit/")
    assert HOSTILE not in text
    seen = re.findall(r"<code>(act_\d+)</code>", text)
    while older := re.search(r'href="\?before=([^"]+)"', text):
        text = page(f"/p/shop/audit/?before={older[1]}")
        seen += re.findall(r"<code>(act_\d+)</code>", text)
    assert seen == [f"act_{number}" for number in reversed(range(120))]


def test_a_cursor_that_is_none_shows_the_first_page(page, project):
    assert "project_create" in page("/p/shop/audit/?before=nonsense")


def test_jobs_are_listed_in_a_fixed_number_of_queries(page, job_of, django_assert_max_num_queries):
    for _ in range(12):
        job_of([{}, {}])
    with django_assert_max_num_queries(10):
        assert page("/p/shop/jobs/").count('class="job"') == 12


def test_a_running_job_polls_and_a_finished_one_does_not(page, job_of, run_jobs):
    job = job_of([{}, {}], size=4, result_path="/p/shop/runs/1/")
    url = f"/p/shop/jobs/{job.pk}/"
    part = page(url, HTTP_HX_REQUEST="true")
    assert f'hx-get="{url}"' in part
    assert '<progress max="8" value="0"' in part
    assert "<html" not in part
    run_jobs()
    part = page(url, HTTP_HX_REQUEST="true")
    assert "hx-get" not in part
    assert 'href="/p/shop/runs/1/"' in part


def test_a_page_that_waits_for_a_job_reloads_when_it_ends(client, owner, job_of, run_jobs):
    client.force_login(owner)
    job = job_of([{}])
    url = f"/p/shop/jobs/{job.pk}/?reload"
    assert f'hx-get="{url}"' in client.get(url, HTTP_HX_REQUEST="true").content.decode()
    run_jobs()
    assert client.get(url, HTTP_HX_REQUEST="true")["HX-Refresh"] == "true"


def test_a_failed_job_lists_what_is_wrong_by_line_and_can_be_tried_again(client, owner, page, job_of, run_jobs):
    job = job_of([{"refuse": HOSTILE}])
    run_jobs()
    text = page(f"/p/shop/jobs/{job.pk}/")
    assert HOSTILE not in text
    assert "line 3" in text
    assert "/id" in text
    assert "The file is wrong." in text
    part = client.post(f"/p/shop/jobs/{job.pk}/retry/", HTTP_HX_REQUEST="true").content.decode()
    assert "running" in part


def test_a_job_is_cancelled_from_its_page_once(client, owner, job_of):
    client.force_login(owner)
    job = job_of([{}])
    assert client.post(f"/p/shop/jobs/{job.pk}/cancel/")["Location"] == f"/p/shop/jobs/{job.pk}/"
    again = client.post(f"/p/shop/jobs/{job.pk}/cancel/", follow=True)
    assert "only a running or paused job can be cancelled" in again.content.decode()


def test_a_job_is_paused_and_resumed_from_its_page(client, owner, job_of):
    client.force_login(owner)
    url = f"/p/shop/jobs/{job_of([{}]).pk}/"
    part = client.post(f"{url}pause/", HTTP_HX_REQUEST="true").content.decode()
    assert "paused" in part
    assert f"{url}resume/" in part
    assert f"{url}pause/" not in part
    assert "running" in client.post(f"{url}resume/", HTTP_HX_REQUEST="true").content.decode()
    assert "only a paused job can be resumed" in client.post(f"{url}resume/", follow=True).content.decode()


def test_a_running_job_says_how_fast_it_goes_and_how_long_it_takes(page, job_of):
    job = job_of([{}, {}], size=300)
    claimed(job.batches.order_by("number").first().pk).progress(300)
    Job.objects.update(pace_since=database_now() - timedelta(seconds=30))
    assert re.search(r"a second, about \d+ s left in this\s+step", page(f"/p/shop/jobs/{job.pk}/"))


def test_a_viewer_sees_a_job_without_its_buttons(client, viewer, job_of):
    client.force_login(viewer)
    text = client.get(f"/p/shop/jobs/{job_of([{}]).pk}/").content.decode()
    assert "/cancel/" not in text


def test_jobs_of_another_project_cannot_be_reached(client, outsider, job_of):
    project_create(actor=outsider, slug="other", name="Other")
    client.force_login(outsider)
    assert client.get(f"/p/other/jobs/{job_of([{}]).pk}/").status_code == 404


def test_error_pages_say_what_happened(client, viewer, settings):
    client.force_login(viewer)
    refused = client.get("/p/shop/audit/")
    assert refused.status_code == 403
    assert "This requires the owner role. You are viewer. A project owner" in refused.content.decode()
    missing = client.get("/p/shop/nothing/")
    assert missing.status_code == 404
    assert "you do not have access" in missing.content.decode()


def test_a_crash_is_answered_by_a_page_that_needs_nothing(client, db, monkeypatch):
    client.raise_request_exception = False
    monkeypatch.setattr("toolevals.workspace.errors.last_sweep", lambda: 1 / 0)
    response = client.get("/healthz")
    assert response.status_code == 500
    assert "Server error" in response.content.decode()
