"""Invitations, from the owner who makes the link to the person who comes in by it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from tests.fixtures.people import PASSWORD
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Invitation, Membership, Project, Role, User
from toolevals.workspace.people.services import invitation_accept_as_new, invitation_create, invitation_revoke

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


def test_the_owner_gets_a_link_once_and_only_its_hash_is_kept(browser):
    answer = browser.post("/p/shop/members/", {"email": "NEW@example.org", "role": 20})
    secret = shown_once(answer).split("/")[3]
    assert answer["Cache-Control"] == "no-store"
    page = browser.get("/p/shop/members/").content.decode()
    assert "new@example.org" in page
    assert secret not in page
    kept = Invitation.objects.get()
    assert secret not in str(vars(kept)) + str([vars(entry) for entry in AuditEntry.objects.all()])
    assert timedelta(days=6, hours=23) < kept.expires_at - database_now() < timedelta(days=7)
    assert not User.objects.filter(email="new@example.org").exists()


def test_a_person_sets_a_password_that_nobody_else_knows(browser, project):
    link = shown_once(browser.post("/p/shop/members/", {"email": "new@example.org", "role": 20}))
    visitor = Client(enforce_csrf_checks=True)
    page = visitor.get(link)
    assert page["Referrer-Policy"] == "no-referrer"
    assert "no-store" in page["Cache-Control"]
    assert "Invitation to Shop support" in page.content.decode()
    assert re.findall(r'(?:href|src|action)="(https?:)?//', page.content.decode()) == []
    made = visitor.post(link, NEW)
    assert (made.status_code, made["Location"]) == (302, "/sign-in/?next=/p/shop/")
    assert made["Referrer-Policy"] == "no-referrer"
    user = User.objects.get(email="new@example.org")
    assert (user.name, user.check_password(PASSWORD), user.is_installation_owner) == ("Nora Newcome", True, False)
    assert Membership.objects.get(user=user, project=project).role == Role.REVIEWER
    assert [entry.verb for entry in AuditEntry.objects.filter(verb__startswith="invitation_").order_by("id")] == [
        "invitation_create",
        "invitation_accept",
    ]
    assert visitor.post(link, NEW).status_code == 410
    assert User.objects.filter(email="new@example.org").count() == 1


def test_opening_a_link_changes_nothing(client, invited):
    link = invited()
    before = list(Invitation.objects.order_by("pk").values())
    for _ in range(3):
        assert client.get(link).status_code == 200
        assert client.head(link).status_code == 405
    assert list(Invitation.objects.order_by("pk").values()) == before
    assert client.cookies.get("sessionid") is None
    assert client.post(link, NEW).status_code == 302


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"password": "short", "again": "short"}, "too short"),
        ({"again": "another password"}, "The two passwords differ."),
        ({"password": "new@example.org", "again": "new@example.org"}, "too similar to"),
        ({"password": "Nora Newcome", "again": "Nora Newcome"}, "too similar to"),
        ({"name": ""}, "This field is required."),
    ],
)
def test_what_is_wrong_with_an_account_leaves_the_link_as_it_was(client, invited, said, why):
    link = invited()
    answer = client.post(link, NEW | said)
    assert answer.status_code == 422
    assert why in answer.content.decode()
    assert not User.objects.filter(email="new@example.org").exists()
    assert client.post(link, NEW).status_code == 302


@pytest.mark.parametrize(
    ("end", "status", "why"),
    [
        (lambda _: Invitation.objects.update(expires_at=database_now()), 410, "has expired"),
        (lambda row: invitation_revoke(invitation=row, actor=None), 410, "was revoked"),
        (
            lambda row: invitation_create(project=row.project, actor=None, email=row.email, role=Role.VIEWER),
            404,
            "is not valid",
        ),
        (lambda row: invitation_accept_as_new(invitation=row, name="N", password=PASSWORD), 410, "answered already"),
    ],
)
def test_a_link_that_has_ended_says_so_and_opens_nothing(client, invited, end, status, why):
    link = invited()
    end(Invitation.objects.get())
    members = Membership.objects.count()
    for answer in (client.get(link), client.post(link, NEW)):
        assert answer.status_code == status
        assert why in answer.content.decode()
        assert answer["Referrer-Policy"] == "no-referrer"
    assert Membership.objects.count() == members
    assert client.get("/invitations/link/nothing/").status_code == 404


def test_an_existing_account_is_invited_not_taken_over(client, invited, outsider, project):
    outsider.set_password(PASSWORD)
    outsider.save()
    link = invited(outsider.email)
    # To a stranger the page is the same as for an address without an account.
    assert client.get(link).content.decode().count("<form") == client.get(invited()).content.decode().count("<form")
    link = invited(outsider.email)
    refused = client.post(link, NEW | {"password": "a wholly other one", "again": "a wholly other one"})
    assert refused.status_code == 409
    outsider.refresh_from_db()
    assert outsider.check_password(PASSWORD)
    assert not Membership.objects.filter(user=outsider).exists()
    client.force_login(outsider)
    assert client.get(link)["Location"] == "/?all"
    for page in ("/", "/profile/"):
        assert "Accept<span" in client.get(page).content.decode()
    offer = Invitation.objects.get(email=outsider.email)
    assert client.post(f"/invitations/{offer.pk}/accept/")["Location"] == "/p/shop/"
    assert Membership.objects.get(user=outsider, project=project).role == Role.REVIEWER
    assert AuditEntry.objects.get(verb="invitation_accept").actor == outsider
    assert client.post(f"/invitations/{offer.pk}/accept/", follow=True).status_code == 200
    assert "Accept<span" not in client.get("/?all").content.decode()


def test_an_invitation_is_declined(client, invited, outsider):
    invited(outsider.email)
    client.force_login(outsider)
    offer = Invitation.objects.get()
    answer = client.post(f"/invitations/{offer.pk}/decline/", follow=True)
    assert "You have declined the invitation." in answer.content.decode()
    assert client.post(f"/invitations/{offer.pk}/accept/")["Location"] == "/?all"
    assert not Membership.objects.filter(user=outsider).exists()
    assert AuditEntry.objects.filter(verb="invitation_decline", actor=outsider).count() == 1


def test_another_account_can_neither_open_nor_answer_it(client, invited, outsider):
    link = invited()
    client.force_login(outsider)
    for answer in (client.get(link), client.post(link, NEW)):
        assert answer.status_code == 409
        assert "This invitation is for another person" in answer.content.decode()
        assert "new@example.org" not in answer.content.decode()
    offer = Invitation.objects.get()
    for act in ("accept", "decline"):
        assert client.post(f"/invitations/{offer.pk}/{act}/").status_code == 404
    assert not Membership.objects.filter(user=outsider).exists()
