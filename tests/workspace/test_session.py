"""The session of a page: what scripts are told once it has ended, and that no answer is kept by a browser."""

from __future__ import annotations

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from tests.fixtures.people import PASSWORD
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.models import User

SCRIPTS = [{"HX-Request": "true"}, {"X-Person": "0199-somebody"}, {"Sec-Fetch-Dest": "empty"}]


@pytest.fixture
def mara(db) -> User:
    return user_create(actor=None, email="mara@example.org", name="Mara Lind", password=PASSWORD)


@pytest.fixture
def ben(db) -> User:
    return user_create(actor=None, email="ben@example.org", name="Ben Ort", password=PASSWORD)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("address", ["/profile/", "/p/shop/label/"])
def test_a_script_is_told_that_the_session_has_ended_and_is_led_nowhere(client, db, script, address):
    response = client.get(address, headers=script)
    assert response.status_code == 401
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == "signed_out"
    assert "signed out" in response.json()["detail"]
    assert not {"Location", "HX-Redirect", "HX-Push-Url", "X-Accepted"} & set(response.headers)


def test_a_page_is_led_to_sign_in_and_back(client, db):
    response = client.get("/profile/?tab=1", headers={"Sec-Fetch-Dest": "document"})
    assert (response.status_code, response["Location"]) == (302, "/sign-in/?next=/profile/%3Ftab%3D1")


def test_a_page_of_another_person_gets_nothing(client, mara, ben):
    client.force_login(ben)
    response = client.get("/profile/", headers={"X-Person": str(mara.pk)})
    assert (response.status_code, response.json()["code"]) == (401, "another_person")
    assert client.get("/profile/", headers={"X-Person": str(ben.pk)}).status_code == 200


@pytest.mark.parametrize("session", ["cookie", "none", "flushed"])
def test_a_write_without_its_cookies_says_which_is_gone(mara, session):
    client = Client(enforce_csrf_checks=True)
    client.force_login(mara)
    if session == "none":
        client.cookies.clear()
    elif session == "flushed":
        Session.objects.all().delete()
    response = client.post("/profile/", {"name": "M"}, headers={"HX-Request": "true"})
    code = {"cookie": (403, "csrf"), "none": (401, "signed_out"), "flushed": (401, "signed_out")}[session]
    assert (response.status_code, response.json()["code"]) == code


def test_who_is_signed_in_is_said_with_a_fresh_token(client, mara):
    answer = client.get("/session/")
    assert answer.json() == {"person": ""}
    assert answer.cookies["csrftoken"].value
    client.force_login(mara)
    assert client.get("/session/").json() == {"person": str(mara.pk)}


def test_a_script_signs_in_and_is_told_who_it_is(mara):
    client = Client(enforce_csrf_checks=True)
    token = client.get("/session/").cookies["csrftoken"].value
    sent = {"email": mara.email, "password": "wrong words", "csrfmiddlewaretoken": token}
    refused = client.post("/sign-in/", sent, headers={"X-Person": str(mara.pk)})
    assert (refused.status_code, refused.json()["detail"]) == (
        422,
        "Wrong e-mail address or password.",
    )
    taken = client.post("/sign-in/", sent | {"password": PASSWORD}, headers={"X-Person": str(mara.pk)})
    assert taken.json() == {"person": str(mara.pk)}
    assert taken.cookies["csrftoken"].value != token
    assert client.get("/profile/").status_code == 200


@pytest.mark.parametrize("address", ["/", "/profile/", "/nowhere/", "/api/v1/me", "/sign-in/", "/session/"])
def test_no_browser_keeps_an_answer(client, mara, address):
    client.force_login(mara)
    assert "no-store" in client.get(address)["Cache-Control"]


def test_a_refusal_is_not_kept_either(client, db):
    assert client.get("/profile/")["Cache-Control"] == "no-store"
    assert client.get("/api/v1/me")["Cache-Control"] == "no-store"
