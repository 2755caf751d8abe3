"""Signing in and out."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest
from django.contrib.auth import authenticate
from django.contrib.sessions.models import Session
from django.test import Client

from tests.fixtures.people import PASSWORD
from toolevals.workspace.accounts import hashing, single_sign_on
from toolevals.workspace.accounts import services as sign_in_service
from toolevals.workspace.accounts.services import (
    ADDRESSES_KEPT,
    FOR_ONE_ACCOUNT,
    FROM_ONE_ADDRESS,
    FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT,
    KEPT,
    sessions_forget,
    sign_in_failures_forget,
    user_create,
)
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import Role, SignInAddress, SignInFailure, User
from toolevals.workspace.people.services import invitation_create

URL = "/sign-in/"


@pytest.fixture
def mara(db) -> User:
    return user_create(actor=None, email="Mara@Example.org", name="Mara Lind", password=PASSWORD)


@pytest.fixture
def sample(db) -> User:
    return user_create(actor=None, email="sample@example.org", name="Sample", password="sample", is_sample=True)


def sign_in(client: Client, email: str = "mara@example.org", password: str = PASSWORD, **extra):
    return client.post(URL, {"email": email, "password": password}, **extra)


def signed_in(client: Client) -> bool:
    return client.get("/profile/").status_code == 200


def test_the_right_password_signs_in_whatever_the_case_of_the_address(client, mara):
    response = sign_in(client, "MARA@example.ORG")
    assert (response.status_code, response["Location"]) == (302, "/")
    assert signed_in(client)


def test_one_goes_where_one_wanted_to_go(client, mara):
    response = client.get("/profile/")
    assert response["Location"] == f"{URL}?next=/profile/"
    assert sign_in_to(client, "/profile/") == "/profile/"


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_one_is_never_sent_elsewhere(client, mara, elsewhere):
    assert sign_in_to(client, elsewhere) == "/"


def sign_in_to(client: Client, wanted: str) -> str:
    response = client.post(URL, {"email": "mara@example.org", "password": PASSWORD, "next": wanted})
    return str(response["Location"])


@pytest.mark.parametrize(("email", "password"), [("mara@example.org", "wrong"), ("nobody@example.org", PASSWORD)])
def test_a_wrong_password_and_an_unknown_address_look_alike(client, mara, email, password):
    response = sign_in(client, email, password)
    assert "Wrong e-mail address or password." in response.content.decode()
    assert not signed_in(client)


def test_an_account_that_is_switched_off_cannot_sign_in(client, mara):
    User.objects.update(is_active=False)
    sign_in(client)
    assert not signed_in(client)


def test_guessing_is_slowed_down_even_for_the_right_password(client, mara):
    for _ in range(FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT):
        assert sign_in(client, password="wrong").status_code == 200
    response = sign_in(client)
    assert response.status_code == 429
    assert "Wait fifteen minutes" in response.content.decode()
    assert not signed_in(client)
    assert sign_in(client, REMOTE_ADDR="192.0.2.7").status_code == 302


def test_guessing_many_accounts_from_one_address_is_slowed_down(client, mara):
    for number in range(FROM_ONE_ADDRESS):
        sign_in(client, email=f"person{number}@example.org", password="wrong")
    assert sign_in(client).status_code == 429


def test_success_forgets_the_failures_before_it(client, mara):
    sign_in(client, password="wrong")
    sign_in(client)
    assert not SignInFailure.objects.exists()


def test_old_failures_are_forgotten(client, mara):
    sign_in(client, password="wrong")
    sign_in_failures_forget(database_now())
    assert SignInFailure.objects.count() == 1
    sign_in_failures_forget(database_now() + KEPT)
    assert not SignInFailure.objects.exists()


def test_ended_sessions_are_forgotten(client, mara):
    sign_in(client)
    sessions_forget(database_now())
    assert signed_in(client)
    sessions_forget(database_now() + timedelta(days=15))
    assert not Session.objects.exists()


@pytest.fixture
def here() -> Client:
    """A browser on the machine that serves."""
    return Client(headers={"host": "localhost:8000"})


@pytest.mark.parametrize(
    "asked",
    [
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1:8000"},
        {"REMOTE_ADDR": "::1", "HTTP_HOST": "[::1]:8000"},
        {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "LOCALHOST"},
    ],
)
def test_a_sample_account_signs_in_on_this_machine(client, sample, asked, settings):
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
    assert sign_in(client, sample.email, "sample", **asked).status_code == 302


@pytest.mark.parametrize(
    "elsewhere",
    [
        {"REMOTE_ADDR": "192.0.2.7"},
        {"REMOTE_ADDR": ""},
        {"HTTP_HOST": "evals.example.org"},
        {"HTTP_HOST": "localhost.example.org"},
        {"HTTP_FORWARDED": "for=127.0.0.1"},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_X_FORWARDED_PROTO": "http"},
        {"HTTP_X_FORWARDED_HOST": "localhost"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
        {"HTTP_VIA": "1.1 proxy"},
    ],
)
def test_a_sample_account_does_nothing_from_elsewhere(here, sample, elsewhere, settings):
    settings.ALLOWED_HOSTS = ["*"]
    response = sign_in(here, sample.email, "sample", **elsewhere)
    assert response.status_code == 200
    assert "only sign in from the machine that runs toolevals" in response.content.decode()
    here.force_login(sample)
    assert here.get("/profile/", **elsewhere).status_code == 302
    assert signed_in(here)


def test_samples_are_listed_on_this_machine_only(here, sample):
    assert sample.email in here.get(URL).content.decode()
    assert sample.email not in here.get(URL, REMOTE_ADDR="192.0.2.7").content.decode()


def test_signing_out_needs_a_post(client, mara):
    client.force_login(mara)
    assert client.get("/sign-out/").status_code == 405
    assert client.post("/sign-out/")["Location"] == URL
    assert not signed_in(client)


def test_a_form_from_elsewhere_is_refused(mara):
    client = Client(enforce_csrf_checks=True)
    response = sign_in(client)
    assert response.status_code == 403
    assert "This form has expired" in response.content.decode()


def test_a_form_sent_after_the_session_ended_leads_to_the_start_and_not_back_to_the_form(client, db):
    assert client.post("/profile/password/")["Location"] == f"{URL}?next="


def test_attempts_at_work_count_before_their_passwords_are_looked_at(client, mara, monkeypatch):
    """Of many at once, as many are tried as may fail: here each begins while those before it are at work."""
    looked_at, answers = [], []
    real = authenticate

    def one_more_meanwhile(request, **said):
        looked_at.append(said)
        answers.append(sign_in(client, password="wrong").status_code)
        return real(request, **said)

    monkeypatch.setattr(sign_in_service, "authenticate", one_more_meanwhile)
    answers.append(sign_in(client, password="wrong").status_code)
    assert len(looked_at) == FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT
    assert sorted(answers) == [200] * FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT + [429]
    assert SignInFailure.objects.count() == FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT


def test_a_refusal_says_when_to_come_back(client, mara):
    for _ in range(FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT):
        sign_in(client, password="wrong")
    assert sign_in(client)["Retry-After"] == "900"
    client.force_login(mara)
    refused = client.post("/profile/password/", {"old": PASSWORD, "new": "another long password"})
    assert (refused.status_code, refused["Retry-After"]) == (429, "900")


def test_failures_elsewhere_do_not_lock_out_an_address_from_which_the_account_signed_in(client, mara):
    home = {"REMOTE_ADDR": "192.0.2.7"}
    assert sign_in(client, **home).status_code == 302
    for number in range(FOR_ONE_ACCOUNT):
        SignInFailure.objects.create(email=mara.email, address=f"198.51.100.{number}")
    assert sign_in(client, REMOTE_ADDR="192.0.2.8").status_code == 429
    assert sign_in(client, **home).status_code == 302
    # There, too, guessing is slowed down.
    for _ in range(FROM_ONE_ADDRESS_FOR_ONE_ACCOUNT):
        sign_in(client, password="wrong", **home)
    assert sign_in(client, **home).status_code == 429


def test_addresses_of_sign_ins_are_forgotten(client, mara):
    sign_in(client)
    sign_in(client)
    assert SignInAddress.objects.count() == 1
    sign_in_failures_forget(database_now() + ADDRESSES_KEPT)
    assert not SignInAddress.objects.exists()


def test_a_provider_that_does_not_answer_is_said_to_be_away(client, db, settings):
    known = {"provider_id": "oidc", "name": "Corp", "client_id": "x", "settings": {"server_url": "http://127.0.0.1:1"}}
    settings.SIGN_ON, settings.SOCIALACCOUNT_PROVIDERS = {"oidc": known}, {"openid_connect": {"APPS": [known]}}
    assert client.get("/sign-in/sso/")["Location"] == URL
    assert "provider of single sign-on does not answer" in client.get(URL).content.decode()
    with single_sign_on._PLACES, single_sign_on._PLACES:
        client.get("/sign-in/sso/")
    assert "Others are signing in" in client.get(URL).content.decode()
    settings.SIGN_ON = {}
    assert client.get("/sign-in/sso/callback/?code=x")["Location"] == URL


@pytest.fixture
def bounded(settings):
    """Passwords are hashed as in production, and every place of this process is taken."""
    settings.PASSWORD_HASHERS = ["toolevals.workspace.accounts.hashing.BoundedPasswordHasher"]
    settings.PASSWORDS_AT_ONCE = 1
    with hashing._PLACES.one():
        yield


def test_where_no_place_is_free_no_password_is_hashed(client, project, settings, request):
    settings.PASSWORD_HASHERS = ["toolevals.workspace.accounts.hashing.BoundedPasswordHasher"]
    mara = user_create(actor=None, email="mara@example.org", name="Mara Lind", password=PASSWORD)
    _, secret = invitation_create(project=project, actor=None, email="new@example.org", role=Role.VIEWER)
    new = {"name": "New", "password": "another long password", "again": "another long password"}
    request.getfixturevalue("bounded")
    inside = Client()
    inside.force_login(mara)
    for refused in (
        sign_in(client),
        sign_in(client, email="nobody@example.org"),
        sign_in(client, HTTP_X_PERSON="x"),
        inside.post("/profile/password/", {"old": PASSWORD, "new": "another long password"}),
        client.post(f"/invitations/link/{secret}/", new),
    ):
        assert (refused.status_code, refused["Retry-After"]) == (429, "5")
        assert "busy with other sign-ins" in refused.content.decode()
    assert not SignInFailure.objects.exists()
    assert not User.objects.filter(email="new@example.org").exists()
    assert client.get("/healthz").status_code == 200


def test_places_are_given_back(mara, settings):
    settings.PASSWORD_HASHERS = ["toolevals.workspace.accounts.hashing.BoundedPasswordHasher"]
    settings.PASSWORDS_AT_ONCE = 1
    for _ in range(2):
        mara.set_password(PASSWORD)
        assert mara.check_password(PASSWORD)


def test_the_settings_hash_within_the_places():
    """The tests' own settings take a quicker hasher."""
    said = "from toolevals import settings; print(settings.PASSWORD_HASHERS[0], settings.PASSWORDS_AT_ONCE)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["toolevals.workspace.accounts.hashing.BoundedPasswordHasher", "2"]
