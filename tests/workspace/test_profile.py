"""One's own account: the name, and the password with what ends with it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from tests.fixtures.people import PASSWORD
from toolevals.workspace.accounts.services import FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT, user_create
from toolevals.workspace.models import AuditEntry, Role, User
from toolevals.workspace.projects.services import member_set
from toolevals.workspace.tokens.services import token_create

NEW = "another long password"
URL = "/profile/password/"


@pytest.fixture
def anna(client: Client, db: None) -> User:
    user = user_create(actor=None, email="anna.long@shop.example", name="Anna Longname", password=PASSWORD)
    client.force_login(user)
    return user


def change(client: Client, old: str = PASSWORD, new: str = NEW, **said: Any) -> Any:
    return client.post(URL, {"old": old, "new": new, **said})


def test_the_name_is_changed(client, anna):
    client.post("/profile/", {"name": "Anna"})
    anna.refresh_from_db()
    assert anna.name == "Anna"


def test_the_password_is_changed_with_the_old_one(client, anna):
    assert "That is not your password." in change(client, old="wrong").content.decode()
    assert "too short" in change(client, new="short").content.decode()
    assert change(client).status_code == 302
    anna.refresh_from_db()
    assert anna.check_password(NEW)
    assert client.get("/profile/").status_code == 200
    assert AuditEntry.objects.filter(verb="password_change", target_id=anna.pk).count() == 1


def test_a_new_password_ends_the_other_sessions_and_not_this_one(client, anna):
    other = Client()
    other.force_login(anna)
    assert other.get("/profile/").status_code == 200
    change(client)
    assert client.get("/profile/").status_code == 200
    assert other.get("/profile/").status_code == 302


@pytest.mark.parametrize(("said", "status"), [({}, 200), ({"end_tokens": "on"}, 401)])
def test_tokens_end_with_the_password_where_the_person_says_so(client, anna, project, said, status):
    member_set(project=project, actor=None, user=anna, role=Role.VIEWER)
    _, secret = token_create(project=project, actor=anna, user=anna, name="ci", role=Role.VIEWER)
    change(client, **said)
    header = {"authorization": f"Bearer {secret}"}
    assert Client().get("/api/v1/projects/shop/", headers=header).status_code == status
    assert AuditEntry.objects.filter(verb="token_revoke").count() == (status == 401)


def test_guesses_at_the_old_password_count_with_those_at_the_sign_in(client, anna):
    for _ in range(FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT - 1):
        assert change(client, old="wrong").status_code == 200
    Client().post("/sign-in/", {"email": anna.email, "password": "wrong"})
    refused = change(client)
    assert refused.status_code == 429
    assert "Wait fifteen minutes" in refused.content.decode()
    assert Client().post("/sign-in/", {"email": anna.email, "password": PASSWORD}).status_code == 429
    anna.refresh_from_db()
    assert anna.check_password(PASSWORD)


@pytest.mark.parametrize(
    "alike",
    ["anna.long@shop.example", "ANNA.LONG@shop.example1", "anna.long1", "shop.example", "annalongname", "Longname12"],
)
def test_a_password_is_not_like_the_name_or_the_address(client, anna, alike):
    assert "too similar to" in change(client, new=alike).content.decode()
    with pytest.raises(ValidationError):
        user_create(actor=None, email="anna.long@shop.example", name="Anna Longname", password=alike)
    anna.refresh_from_db()
    assert anna.check_password(PASSWORD)
