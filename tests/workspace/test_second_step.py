"""The second step of a sign-in: codes, what is sealed, what guessing costs, what is recorded; and sessions."""

from __future__ import annotations

import re
import time

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from allauth.usersessions.models import UserSession
from django.core.cache import cache
from django.db import connection
from django.test import Client

from tests.fixtures.people import PASSWORD
from toolevals.workspace.accounts.services import (
    FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT,
    second_steps_end,
    sessions_forget,
    user_create,
)
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, SignInFailure, User

STEP, APP = "/sign-in/second-step/", "/profile/second-step/app/add/"
CODES = "/profile/second-step/recovery-codes/"


@pytest.fixture
def mara(db) -> User:
    return user_create(actor=None, email="mara@example.org", name="Mara Lind", password=PASSWORD)


@pytest.fixture
def inside(mara) -> Client:
    """Her browser, in which she has just said her password."""
    client = Client()
    sign_in(client)
    client.post("/profile/confirm/", {"password": PASSWORD})
    return client


@pytest.fixture
def now(monkeypatch) -> list[float]:
    """The clock that codes go by."""
    at = [time.time()]
    monkeypatch.setattr("allauth.mfa.totp.internal.auth.time.time", lambda: at[0])
    return at


def sign_in(client: Client, password: str = PASSWORD):
    return client.post("/sign-in/", {"email": "mara@example.org", "password": password})


def code(secret: str, at: float) -> str:
    return str(format_hotp_value(hotp_value(secret, int(at) // 30)))


def add_app(client: Client, at: float) -> str:
    page = client.get(APP).content.decode()
    [secret] = re.findall(r"<code>([A-Z2-7]{32})</code>", page)
    assert client.post(APP, {"code": code(secret, at)})["Location"] == CODES
    return str(secret)


def recovery_codes(client: Client) -> list[str]:
    return re.findall(r"<code>(\d{8})</code>", client.get(CODES).content.decode())


def is_in(client: Client) -> bool:
    return client.get("/profile/").status_code == 200


def test_after_the_password_a_code_is_asked_for_and_opens_once(inside, now):
    secret = add_app(inside, now[0])
    now[0] += 60
    for passed in (True, False):
        # Another process has a cache of its own.
        cache.clear()
        client = Client()
        assert sign_in(client)["Location"] == STEP
        assert not is_in(client)
        answer = client.post(STEP, {"code": code(secret, now[0])})
        assert (answer.status_code, is_in(client)) == ((302, True) if passed else (200, False))
    now[0] += 30
    assert client.post(STEP, {"code": code(secret, now[0])}).status_code == 302
    assert is_in(client)


def test_the_wanted_page_is_kept_through_the_second_step(inside, now):
    secret = add_app(inside, now[0])
    now[0] += 60
    client = Client()
    client.post("/sign-in/?next=/docs/", {"email": "mara@example.org", "password": PASSWORD, "next": "/docs/"})
    assert client.post(STEP, {"code": code(secret, now[0])})["Location"] == "/docs/"


def test_a_recovery_code_signs_in_once(inside, now):
    add_app(inside, now[0])
    codes = recovery_codes(inside)
    assert len(set(codes)) == 10
    for passed in (True, False):
        client = Client()
        sign_in(client)
        client.post(STEP, {"code": codes[3]})
        assert is_in(client) is passed
    assert len(recovery_codes(inside)) == 9


def test_guessing_codes_is_slowed_down_even_for_who_knows_the_password(inside, now):
    secret = add_app(inside, now[0])
    now[0] += 60
    for _ in range(FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT):
        client = Client()
        # The password is right each time: that forgets no guess at the code.
        assert sign_in(client)["Location"] == STEP
        assert client.post(STEP, {"code": "000000"}).status_code == 200
    refused = client.post(STEP, {"code": code(secret, now[0])})
    assert (refused.status_code, refused["Retry-After"]) == (429, "900")
    assert not is_in(client)
    SignInFailure.objects.all().delete()
    assert client.post(STEP, {"code": code(secret, now[0])}).status_code == 302


def test_what_makes_codes_is_sealed_in_the_database(inside, now):
    secret = add_app(inside, now[0])
    with connection.cursor() as cursor:
        cursor.execute("SELECT data FROM mfa_authenticator")
        rows = str(cursor.fetchall())
    assert secret not in rows
    assert "gAAAA" in rows


def test_under_another_key_the_person_is_told_whom_to_ask(inside, now, settings):
    secret = add_app(inside, now[0])
    now[0] += 60
    client = Client()
    sign_in(client)
    Authenticator.objects.filter(type="totp").update(data={"secret": "gAAAAABnothing"})
    assert "Ask its operator" in client.post(STEP, {"code": code(secret, now[0])}).content.decode()


@pytest.mark.parametrize("before", ["no one", "another person"])
def test_a_page_whose_session_has_ended_takes_the_second_step(inside, mara, now, before):
    secret = add_app(inside, now[0])
    now[0] += 60
    client, header = Client(), {"X-Person": str(mara.pk)}
    if before == "another person":
        client.force_login(user_create(actor=None, email="ben@example.org", name="Ben Ort", password=PASSWORD))
    sent = {"email": mara.email, "password": PASSWORD}
    answer = client.post("/sign-in/", sent, headers=header)
    assert (answer.status_code, answer.json()["code"]) == (422, "second_step")
    assert client.get("/session/").json() == {"person": ""}
    refused = client.post(STEP, {"code": "000000"}, headers=header)
    assert (refused.status_code, "Try the next code" in refused.json()["detail"]) == (422, True)
    taken = client.post(STEP, {"code": code(secret, now[0])}, headers=header)
    assert (taken.status_code, taken.json()) == (200, {"person": str(mara.pk)})
    # Sent again, it is as it was; without the password it is not asked.
    assert client.post(STEP, {"code": "000000"}, headers=header).json() == {"person": str(mara.pk)}
    late = Client().post(STEP, {"code": "000000"}, headers=header)
    assert (late.status_code, late.json()["code"]) == (422, "password")


def test_what_protects_an_account_is_changed_only_by_who_proves_it_again(mara, now):
    client = Client()
    sign_in(client)
    for path in (APP, "/profile/second-step/passkeys/add/"):
        assert client.get(path)["Location"].startswith("/profile/confirm/?next=%2Fprofile%2Fsecond-step%2F")
    assert "not your password" in client.post("/profile/confirm/", {"password": "wrong"}).content.decode()
    assert client.get(APP).status_code == 302
    confirmed = client.post("/profile/confirm/", {"password": PASSWORD, "next": APP})
    assert confirmed["Location"] == APP
    assert client.get(APP).status_code == 200


def test_each_change_is_recorded_and_the_operator_ends_all(inside, mara, now, django_capture_on_commit_callbacks):
    committed = django_capture_on_commit_callbacks
    with committed(execute=True):
        add_app(inside, now[0])
    with committed(execute=True):
        inside.post(CODES + "new/")
    inside.post("/profile/second-step/app/remove/")
    assert sign_in(Client())["Location"] == "/"
    with committed(execute=True):
        add_app(inside, now[0])
    assert second_steps_end(user=mara, actor=None) == 2
    assert sign_in(Client())["Location"] == "/"
    found = AuditEntry.objects.filter(target_id=mara.pk).order_by("pk").values_list("verb", "detail")
    kept = [(verb, detail.get("kind")) for verb, detail in found if verb.startswith("second")]
    assert kept == [
        ("second_step_add", "totp"),
        ("second_step_add", "recovery_codes"),
        ("second_step_renew", "recovery_codes"),
        ("second_step_remove", "totp"),
        ("second_step_remove", "recovery_codes"),
        ("second_step_add", "totp"),
        ("second_step_add", "recovery_codes"),
        ("second_steps_end", None),
    ]


def test_a_passkey_is_asked_for_by_any_browser_and_a_made_up_one_is_refused(client, mara):
    asked = client.get("/sign-in/passkey/").json()["request_options"]["publicKey"]
    assert (asked["rpId"], asked["userVerification"]) == ("testserver", "required")
    for sent in ("", "{}", '{"id": "x"}', '{"id":"eA","rawId":"eA","type":"public-key","response":{}}', "[1]"):
        refused = client.post("/sign-in/passkey/", {"credential": sent})
        assert refused["Location"] == "/sign-in/"
    assert not is_in(client)


def test_sessions_are_listed_and_ended(mara):
    here, there, third = Client(headers={"user-agent": "Here/1"}), Client(headers={"user-agent": "There/1"}), Client()
    for each in (here, there, third):
        sign_in(each)
    page = here.get("/profile/sessions/").content.decode()
    assert "There/1" in page
    stranger = Client()
    user_create(actor=None, email="ben@example.org", name="Ben Ort", password=PASSWORD)
    stranger.post("/sign-in/", {"email": "ben@example.org", "password": PASSWORD})
    [number] = re.findall(r'There/1.*?value="(\d+)"', page, re.DOTALL)
    stranger.post("/profile/sessions/", {"session": number})
    assert is_in(there)
    here.post("/profile/sessions/", {"session": number})
    assert (is_in(here), is_in(there), is_in(third)) == (True, False, True)
    here.post("/profile/sessions/")
    assert (is_in(here), is_in(third)) == (True, False)
    here.post("/profile/password/", {"old": PASSWORD, "new": "another long password"})
    assert "This session" in here.get("/profile/sessions/").content.decode()


def test_where_ended_sessions_were_is_forgotten(mara):
    client = Client()
    sign_in(client)
    sessions_forget(database_now())
    assert UserSession.objects.count() == 1
    client.post("/sign-out/")
    sessions_forget(database_now())
    assert not UserSession.objects.exists()
