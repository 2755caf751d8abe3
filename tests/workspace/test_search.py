"""Search over a project: what it finds by name, for whom, and what it does not tell."""

from __future__ import annotations

from typing import Any

import pytest

from tests.runs.building import call, uploaded_run, version_of
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.models import Role
from toolevals.workspace.projects.services import member_set, project_create

pytestmark = pytest.mark.django_db


def found(client: Any, person: Any, words: str) -> str:
    client.force_login(person)
    return str(client.get("/p/shop/search/", {"q": words}, HTTP_HX_REQUEST="true").content.decode())


def test_what_a_project_holds_is_found_by_its_name(project, client, viewer, run_jobs):
    version = version_of(project)
    uploaded_run(project, version, [call("status", "get_order_status")])
    assert ">Core</span>" in found(client, viewer, "cor")
    assert ">status</span>" in found(client, viewer, "stat")
    assert "/p/shop/runs/1/" in found(client, viewer, "run 1")
    assert "/p/shop/runs/1/" in found(client, viewer, "AGENT")
    assert ">Members</span>" in found(client, viewer, "memb")
    assert found(client, viewer, "  ").strip() == ""
    assert "Nothing found for “&lt;b&gt;”" in found(client, viewer, "<b>")


def test_only_what_one_may_open_is_found(project, client, viewer, owner):
    stranger = user_create(actor=None, email="mira@example.org", name="Mira")
    project_create(actor=stranger, slug="hidden", name="Hidden shop")
    assert "Hidden" not in found(client, owner, "hidden")
    member_set(project=project, actor=None, user=stranger, role=Role.VIEWER)
    assert "/p/hidden/" in found(client, stranger, "hidden")
    assert "Secrets" in found(client, owner, "secr")
    assert "Secrets" not in found(client, viewer, "secr")


def test_the_page_works_without_a_script(project, client, viewer):
    version_of(project)
    client.force_login(viewer)
    page = client.get("/p/shop/search/", {"q": "core"}).content.decode()
    assert "<html" in page
    assert 'href="/p/shop/datasets/core/"' in page
