"""A lost password: a link by e-mail, for an hour and once, and nothing that tells who has an account."""

from __future__ import annotations

import logging
import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client

from tests.fixtures.people import PASSWORD
from toolevals.workspace.accounts.services import FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT, user_create
from toolevals.workspace.clock import database_now
from toolevals.workspace.log_filters import LinkFilter
from toolevals.workspace.models import AuditEntry, Delivery, SignInFailure, User
from toolevals.workspace.notifications.sending import deliveries_send

LOST = "/sign-in/lost-password/"
NEW = "another long password"


@pytest.fixture(autouse=True)
def set_up(settings):
    settings.EMAIL_URL = "smtp://mail.example.org"
    settings.PUBLIC_URL = "https://evals.example.org"


@pytest.fixture
def mara(db) -> User:
    return user_create(actor=None, email="mara@example.org", name="Mara Lind", password=PASSWORD)


def link(client: Client, email: str = "mara@example.org") -> str:
    assert client.post(LOST, {"email": email})["Location"] == "/sign-in/"
    deliveries_send()
    [path] = re.findall(r"https://evals\.example\.org(\S+)", str(mail.outbox[-1].body))
    return str(path)


def set_password(client: Client, path: str, password: str = NEW):
    form = client.get(path)["Location"]
    return client.post(form, {"password1": password, "password2": password})


def test_the_link_sets_a_password_once_and_ends_the_sessions(client, mara):
    elsewhere = Client()
    elsewhere.force_login(mara)
    SignInFailure.objects.create(email=mara.email, address="192.0.2.1")
    path = link(client, "MARA@example.org ")
    assert mail.outbox[-1].to == [mara.email]
    assert "too short" in set_password(client, path, "short").content.decode()
    assert set_password(client, path)["Location"] == "/sign-in/"
    assert elsewhere.get("/profile/").status_code == 302
    assert client.get("/profile/").status_code == 302
    assert "is changed" in client.get("/sign-in/").content.decode()
    assert not SignInFailure.objects.filter(email=mara.email).exists()
    assert client.post("/sign-in/", {"email": mara.email, "password": NEW}).status_code == 302
    assert [entry.target_id for entry in AuditEntry.objects.filter(verb="password_reset")] == [mara.pk]
    assert "not valid" in Client().get(path).content.decode()


def test_the_page_says_the_same_of_an_unknown_address_and_sends_nothing(client, mara):
    user_create(actor=None, email="single@example.org", name="No password")
    user_create(actor=None, email="sample@example.org", name="Sample", password="sample", is_sample=True)
    User.objects.filter(pk=user_create(actor=None, email="off@example.org", name="Off", password=PASSWORD).pk).update(
        is_active=False
    )
    pages = []
    for name in ("mara", "nobody", "single", "sample", "off"):
        client = Client()
        client.post(LOST, {"email": f"{name}@example.org"})
        pages.append(
            re.sub(r'(?:value|content)="[^"]*"|{"X-CSRFToken[^}]*}', "", client.get("/sign-in/").content.decode())
        )
    assert len(set(pages)) == 1
    deliveries_send()
    assert [message.to for message in mail.outbox] == [[mara.email]]


def test_a_link_ends_after_an_hour_and_a_mail_that_waited_so_long_is_not_sent(client, mara, settings, monkeypatch):
    path = link(client)
    settings.PASSWORD_RESET_TIMEOUT = -1
    assert "not valid" in client.get(path).content.decode()
    client.post(LOST, {"email": mara.email})
    Delivery.objects.filter(state="waiting").update(created_at=database_now() - timedelta(minutes=61))
    deliveries_send()
    assert len(mail.outbox) == 1


def test_asking_often_is_refused_and_locks_no_one_out(client, mara):
    for _ in range(FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT):
        assert client.post(LOST, {"email": mara.email}).status_code == 302
    refused = client.post(LOST, {"email": mara.email})
    assert (refused.status_code, refused["Retry-After"]) == (429, "900")
    assert "Wait fifteen minutes" in refused.content.decode()
    assert client.post("/sign-in/", {"email": mara.email, "password": PASSWORD}).status_code == 302


@pytest.mark.parametrize("missing", ["EMAIL_URL", "PUBLIC_URL"])
def test_without_mail_the_page_names_the_operators_command(client, mara, settings, missing):
    setattr(settings, missing, "")
    assert "toolevals set-password" in client.get(LOST).content.decode()
    assert client.post(LOST, {"email": mara.email}).status_code == 200
    assert not Delivery.objects.exists()


def test_the_key_of_a_link_is_in_no_log():
    record = logging.LogRecord("x", 30, "", 0, "Not Found: %s", ("/sign-in/new-password/abc/c0ffee-1234/",), None)
    LinkFilter().filter(record)
    assert "c0ffee" not in record.getMessage()
