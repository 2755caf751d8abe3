"""Invitations as owners make, renew and revoke them, on the page and by REST; and at once."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client

from tests.fixtures.people import PASSWORD, person
from toolevals.workspace.clock import database_now
from toolevals.workspace.log_filters import LinkFilter
from toolevals.workspace.models import AuditEntry, Invitation, Membership, Project, Role, User
from toolevals.workspace.people.services import (
    AccountExistsError,
    InvitationEndedError,
    invitation_accept_as_new,
    invitation_create,
    invitation_revoke,
)
from toolevals.workspace.projects.services import member_remove, member_set
from toolevals.workspace.tokens.services import token_create

API = "/api/v1/projects/shop/invitations/"
NEW = {"name": "Nora Newcome", "password": PASSWORD, "again": PASSWORD}


@pytest.fixture
def browser(client: Client, owner: User) -> Client:
    """The owner's browser."""
    client.force_login(owner)
    return client


@pytest.fixture
def invited(project: Project, owner: User) -> Callable[..., str]:
    """Return a function that invites an address and returns the path of its link."""

    def invite(email: str = "new@example.org", role: Role = Role.REVIEWER) -> str:
        return f"/invitations/link/{invitation_create(project=project, actor=owner, email=email, role=role)[1]}/"

    return invite


def shown_once(response: Any) -> str:
    """Return the path of the link that a page offers to copy."""
    found = re.search(r'data-copy="http://[^/]+(/invitations/link/[^"]+)"', response.content.decode())
    assert found is not None
    return found[1]


def test_inviting_says_the_same_whether_or_not_there_is_an_account(browser, outsider):
    answers = [
        browser.post("/p/shop/members/", {"email": email, "role": 20}) for email in (outsider.email, "none@example.org")
    ]
    texts = [answer.content.decode().partition("<table")[0] for answer in answers]
    first, second = texts[0].replace(outsider.email, "X"), texts[1].replace("none@example.org", "X")
    # Tokens of forms, times, and the secret of the link.
    changing = re.compile(r"[A-Za-z0-9]{64}|<time.*?</time>|(?<=/invitations/link/)[\w-]+")
    assert changing.sub("T", first) == changing.sub("T", second)


def test_a_member_is_not_invited_again(browser, viewer):
    answer = browser.post("/p/shop/members/", {"email": viewer.email.upper(), "role": 40})
    assert "A member has this address already." in answer.content.decode()
    assert not Invitation.objects.exists()


def test_inviting_an_address_again_makes_one_invitation_with_a_new_link(project, owner, invited, client):
    old, new = invited(), invited(role=Role.VIEWER)
    assert Invitation.objects.get().role == Role.VIEWER
    assert client.get(old).status_code == 404
    assert client.get(new).status_code == 200


def test_an_owner_renews_and_revokes(browser, invited):
    invited()
    Invitation.objects.update(expires_at=database_now())
    assert ">expired<" in browser.get("/p/shop/members/").content.decode()
    row = Invitation.objects.get()
    link = shown_once(browser.post(f"/p/shop/invitations/{row.pk}/renew/"))
    assert Client().get(link).status_code == 200
    browser.post(f"/p/shop/invitations/{row.pk}/revoke/")
    assert Client().get(link).status_code == 410
    assert "new@example.org" not in browser.get("/p/shop/members/").content.decode()
    again = browser.post(f"/p/shop/invitations/{row.pk}/renew/", follow=True)
    assert "Only a pending invitation gets a new link." in again.content.decode()


@pytest.mark.parametrize(
    "leave",
    [
        lambda membership: member_remove(membership=membership, actor=None),
        lambda membership: member_set(
            project=membership.project, actor=None, user=membership.user, role=Role.ADJUDICATOR
        ),
    ],
)
def test_who_is_no_owner_any_more_leaves_no_link_behind(client, project, owner, leave):
    other = person("Other", is_installation_owner=True)
    membership = member_set(project=project, actor=None, user=other, role=Role.OWNER)
    _, secret = invitation_create(project=project, actor=other, email="new@example.org", role=Role.OWNER)
    leave(membership)
    assert client.post(f"/invitations/link/{secret}/", NEW).status_code == 410


def test_the_operator_says_who_invites(client, project, settings):
    local = person("Local")
    member_set(project=project, actor=None, user=local, role=Role.OWNER)
    client.force_login(local)
    said = {"email": "new@example.org", "role": 20}
    assert "Only owners of the installation invite people." in client.get("/p/shop/members/").content.decode()
    for answer in (client.post("/p/shop/members/", said), client.post(API, said | {"role": "viewer"})):
        assert answer.status_code == 403
    assert not Invitation.objects.exists()
    settings.WHO_INVITES = "project-owners"
    assert client.post("/p/shop/members/", said).status_code == 200
    assert Invitation.objects.count() == 1


def test_pending_invitations_are_for_owners_eyes(client, invited, viewer):
    invited()
    client.force_login(viewer)
    assert "new@example.org" not in client.get("/p/shop/members/").content.decode()
    assert client.get("/p/shop/invitations.csv").status_code == 403
    assert client.get(API).status_code == 403


def test_the_interface_invites_renews_and_revokes(client, owner, project):
    _, secret = token_create(project=project, actor=owner, user=owner, name="ci", role=Role.OWNER)
    header = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    made = client.post(API, {"email": "new@example.org", "role": "viewer"}, "application/json", **header)
    assert made.status_code == 201
    invitation, link = made.json()["invitation"], made.json()["link"]
    assert (invitation["state"], invitation["role"], invitation["is_expired"]) == ("pending", "viewer", False)
    assert link.startswith("http://testserver/invitations/link/")
    listed = client.get(API, **header)
    assert [each["email"] for each in listed.json()["results"]] == ["new@example.org"]
    assert link.split("/")[-2] not in listed.content.decode()
    renewed = client.post(f"{API}{invitation['id']}/renew/", **header)
    assert renewed.status_code == 201
    assert renewed.json()["link"] != link
    assert client.delete(f"{API}{invitation['id']}/", **header).status_code == 204
    assert client.get(f"{API}{invitation['id']}/", **header).json()["state"] == "revoked"
    assert client.post(f"{API}{invitation['id']}/renew/", **header).status_code == 409
    bad = client.post(API, {"email": "no address", "role": "viewer"}, "application/json", **header)
    assert bad.json()["problems"][0]["pointer"] == "/email"
    member = client.post(API, {"email": owner.email, "role": "viewer"}, "application/json", **header)
    assert (member.status_code, member.json()["problems"][0]["pointer"]) == (422, "/email")


def test_a_malformed_address_is_refused(project):
    with pytest.raises(ValidationError):
        invitation_create(project=project, actor=None, email="no address", role=Role.VIEWER)


def test_no_link_is_logged(client, invited, caplog):
    link = invited()
    invitation_revoke(invitation=Invitation.objects.get(), actor=None)
    with caplog.at_level(logging.DEBUG, logger="django.request"):
        client.get(link)
        client.get("/invitations/link/nothing-to-see/more/")
    secret = link.split("/")[3]
    assert [record.getMessage() for record in caplog.records if "/invitations/link/" in record.getMessage()]
    assert secret not in caplog.text
    assert "nothing-to-see" not in caplog.text
    line = logging.LogRecord("django.server", 20, "", 1, '"GET %s HTTP/1.1" 200', (link,), None)
    assert LinkFilter().filter(line)
    assert line.getMessage() == '"GET /invitations/link/…/ HTTP/1.1" 200'


@pytest.mark.django_db(transaction=True)
def test_the_same_link_used_twice_at_once_makes_one_account_and_one_membership(project, owner):
    row, _ = invitation_create(project=project, actor=owner, email="new@example.org", role=Role.VIEWER)
    together = threading.Barrier(4)
    said: list[str] = []

    def accept() -> None:
        mine = Invitation.objects.select_related("project").get(pk=row.pk)
        together.wait()
        try:
            invitation_accept_as_new(invitation=mine, name="Nora", password=PASSWORD)
            said.append("member")
        except (InvitationEndedError, AccountExistsError) as error:
            said.append(type(error).__name__)
        finally:
            connection.close()

    threads = [threading.Thread(target=accept) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 4
    assert said.count("member") == 1
    assert User.objects.filter(email="new@example.org").count() == 1
    assert Membership.objects.filter(user__email="new@example.org").count() == 1
    assert AuditEntry.objects.filter(verb="invitation_accept").count() == 1
