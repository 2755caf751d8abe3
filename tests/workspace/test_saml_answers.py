"""Answers of SAML that lie, each refused for its own reason; and settings of SAML that cannot be meant."""

from __future__ import annotations

import base64
import re
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from lxml import etree

from toolevals.settings import sign_in
from toolevals.settings.environment import environment
from toolevals.workspace.accounts import single_sign_on
from toolevals.workspace.accounts.services import user_create

pytest.importorskip("onelogin.saml2.auth", reason="single sign-on by SAML is not tried: its packages do not import")
from tests.servers.saml_provider import EMAIL, Provider

ACS = "/sign-in/saml/acs/"
ACCOUNT = "ben@corp.example"
METADATA, CERTIFICATE = "TOOLEVALS_SAML_METADATA", "TOOLEVALS_SAML_CERTIFICATE"


@pytest.fixture
def provider() -> Provider:
    """A provider that answers in this process."""
    made = Provider()
    made.url, made.email = "https://provider.example", ACCOUNT
    return made


def known(provider: Provider, folder: Path, **more: str) -> Any:
    """Return the settings for this provider, with its certificate in a file."""
    certificate = folder / "provider.pem"
    certificate.write_text(provider.signer.certificate)
    said = {
        "TOOLEVALS_SAML_ENTITY_ID": f"{provider.url}/metadata",
        "TOOLEVALS_SAML_SIGN_ON_URL": f"{provider.url}/sso",
        "TOOLEVALS_SAML_CERTIFICATE": str(certificate),
    }
    return sign_in.sign_on(environment(said | more))


@pytest.fixture
def asked(client: Client, db: None, provider: Provider, settings: Any, tmp_path: Path) -> Any:
    """The request that this browser takes to the provider."""
    user_create(actor=None, email=ACCOUNT, name="Ben")
    use(settings, known(provider, tmp_path))
    there = urlsplit(client.get("/sign-in/saml/")["Location"])
    assert there.netloc == "provider.example"
    return etree.fromstring(zlib.decompress(base64.b64decode(parse_qs(there.query)["SAMLRequest"][0]), -15))


def use(settings: Any, providers: dict[str, Any]) -> None:
    """Sign in by these."""
    settings.SIGN_ON, settings.SOCIALACCOUNT_PROVIDERS = providers, {"saml": {"APPS": list(providers.values())}}


def sent(client: Client, answer: str) -> Any:
    """Send an answer, and go where it leads."""
    return client.post(ACS, {"SAMLResponse": base64.b64encode(answer.encode()).decode()}, follow=True)


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("unsigned", "No Signature found"),
        ("other-key", "Signature validation failed"),
        ("changed", "Signature validation failed"),
        ("sha1", "Deprecated signature algorithm"),
        ("wrapped", "SAML Response must contain 1 assertion"),
        ("beside", "SAML Response must contain 1 assertion"),
        ("audience", "is not a valid audience"),
        ("no-audience", "names no audience"),
        ("recipient", "A valid SubjectConfirmation was not found"),
        ("destination", "instead of https://elsewhere.example"),
        ("issuer", "Invalid issuer"),
        ("expired", "expired"),
        ("early", "not yet valid"),
        ("endless", "names another recipient, or no end"),
        ("unsolicited", "answers no request"),
        ("relabelled", "answers no request"),
        ("entity", "DTDForbidden"),
        ("bomb", "DTDForbidden"),
        ("transient", "no lasting id"),
        ("nameless", "no lasting id"),
    ],
)
def test_an_answer_that_is_not_whole_signed_and_for_here_is_refused(asked, client, provider, caplog, how, reason):
    provider.how = how
    page = sent(client, provider.answer(asked))
    assert page.redirect_chain[-1][0] == "/sign-in/"
    assert single_sign_on.FAILED in page.content.decode()
    assert reason in caplog.text
    assert "_auth_user_id" not in client.session


def test_the_same_answer_without_a_lie_is_taken(asked, client, provider):
    assert client.session["socialaccount_states"]
    sent(client, provider.answer(asked))
    assert "_auth_user_id" in client.session


def test_the_operator_says_which_attribute_is_the_address(asked, client, provider, settings, tmp_path):
    use(settings, known(provider, tmp_path, TOOLEVALS_SAML_EMAIL_ATTRIBUTE="contact"))
    answer = provider.answer(asked)
    assert "does not say which e-mail address" in sent(client, answer).content.decode()
    use(settings, known(provider, tmp_path, TOOLEVALS_SAML_EMAIL_ATTRIBUTE=EMAIL))
    asked.set("ID", next(iter(again(client))))
    sent(client, provider.answer(asked))
    assert "_auth_user_id" in client.session


def test_the_metadata_may_be_a_file(asked, client, provider, settings, tmp_path):
    file = tmp_path / "metadata.xml"
    file.write_text(provider.metadata())
    use(settings, sign_in.sign_on(environment({METADATA: str(file)})))
    sent(client, provider.answer(asked))
    assert "_auth_user_id" in client.session


def test_a_provider_whose_metadata_does_not_come_is_said_to_be_away(client, db, settings):
    use(settings, sign_in.sign_on(environment({METADATA: "http://127.0.0.1:1/metadata"})))
    for answer in (client.get("/sign-in/saml/", follow=True), sent(client, "<x/>")):
        assert single_sign_on.AWAY in answer.content.decode()


def again(client: Client) -> Any:
    """Ask anew, and return the requests that wait for an answer."""
    client.get("/sign-in/saml/")
    return client.session["socialaccount_states"]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({METADATA: "http://provider.example/metadata"}, f"{METADATA} must begin with https://"),
        ({METADATA: "/nowhere.xml"}, f"{METADATA} names a file that cannot be read: /nowhere.xml"),
        ({METADATA: "pyproject.toml"}, f"{METADATA} names a file without IDPSSODescriptor"),
        ({METADATA: "https://provider.example/", CERTIFICATE: "x.pem"}, f"{CERTIFICATE} is set with {METADATA}"),
        ({CERTIFICATE: "x.pem"}, "TOOLEVALS_SAML_ENTITY_ID is missing"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_by_name(said, words):
    with pytest.raises(ImproperlyConfigured, match=re.escape(words)):
        sign_in.saml(environment(said))


def test_without_the_packages_the_settings_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(sign_in, "find_spec", lambda _: None)
    assert sign_in.saml(environment({})) is None
    with pytest.raises(ImproperlyConfigured, match=r"TOOLEVALS_SAML_METADATA is set.*toolevals\[saml\]"):
        sign_in.saml(environment({METADATA: "https://provider.example/metadata"}))
