"""Single sign-on by SAML, against a provider in another process that speaks the protocol, and lies where it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from xml.etree import ElementTree

import httpx
import pytest

from tests.fixtures.application import LiveApp
from tests.workspace.test_single_sign_on import SEED, WHAT_IS_KEPT
from toolevals.workspace.accounts import single_sign_on

pytest.importorskip("onelogin.saml2.auth", reason="single sign-on by SAML is not tried: its packages do not import")
from tests.servers.saml_provider import provider_process

pytestmark = pytest.mark.servers
KEPT = WHAT_IS_KEPT.replace('"oidc"', '"saml"')


@pytest.fixture(scope="module")
def provider() -> Iterator[str]:
    """The provider's address."""
    with provider_process() as url:
        yield url


@pytest.fixture(scope="module")
def app(provider: str, live_app_start: Callable[..., LiveApp]) -> LiveApp:
    """An application below a path, whose people come from the provider, and where its domain gets accounts."""
    started = live_app_start(
        TOOLEVALS_SAML_METADATA=f"{provider}/metadata",
        TOOLEVALS_SAML_NAME="Corp",
        TOOLEVALS_SIGN_ON_DOMAINS="corp.example",
        TOOLEVALS_PATH_PREFIX="/evals",
    )
    started.python(SEED)
    return started


class Come:
    """A browser that comes as a person of the provider."""

    def __init__(self, app: LiveApp, provider: str, browser: httpx.Client) -> None:
        self.app, self.provider, self.browser = app, provider, browser

    def form(self, email: str, how: str = "") -> tuple[str, dict[str, str]]:
        """Go by the link of the sign-in page to the provider, and return the form that it answers with."""
        self.browser.get(f"{self.provider}/as/{email}", params={"how": how})
        page = self.browser.get(f"{self.app.url}/sign-in/?next=/evals/profile/").text
        link = re.search(r'href="([^"]+)">\s*Sign in\s+with\s+Corp<', page)
        assert link is not None
        page = self.browser.get(httpx.URL(self.app.url).join(unescape(link.group(1)))).text
        sent = re.search(r'action="([^"]+)"><input name="SAMLResponse" value="([^"]+)"', page)
        assert sent is not None
        return unescape(sent.group(1)), {"SAMLResponse": sent.group(2)}

    def send(self, to: str, form: dict[str, str]) -> httpx.Response:
        """Send a form as a browser does from another site: without the session, whose cookie is for this site."""
        kept = httpx.Cookies(self.browser.cookies)
        self.browser.cookies.clear()
        page = self.browser.post(to, data=form, headers={"Origin": self.provider}, follow_redirects=False)
        self.browser.cookies.update(kept)
        if "location" not in page.headers:
            return page
        return self.browser.get(httpx.URL(to).join(page.headers["location"]))

    def __call__(self, email: str, how: str = "") -> httpx.Response:
        return self.send(*self.form(email, how))


@pytest.fixture
def come(app: LiveApp, provider: str) -> Iterator[Come]:
    """A new browser."""
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        yield Come(app, provider, browser)


@pytest.mark.parametrize("how", ["assertion", "response"])
def test_a_person_with_an_account_comes_in_and_is_linked_once(app, come, how):
    page = come("mara@corp.example", how)
    assert (page.url.path, page.status_code) == ("/evals/profile/", 200)
    assert "mara@corp.example" in page.text
    kept = json.loads(app.python(KEPT))
    assert kept["acts"].count(["provider_link", "mara@corp.example"]) == 1


def test_a_person_of_the_domain_gets_an_account(app, come):
    assert come("nora@corp.example").url.path == "/evals/profile/"
    kept = json.loads(app.python(KEPT))
    assert kept["people"]["nora@corp.example"] == "Nora Corp"
    assert ["user_create", None] in kept["acts"]


@pytest.mark.parametrize(
    ("email", "how", "words"),
    [
        ("ben@corp.example", "unverified", "does not say that this address is verified: ben@corp.example"),
        ("ben@corp.example", "addressless", "does not say which e-mail address is yours"),
        ("outi@elsewhere.example", "", "There is no account for outi@elsewhere.example here"),
        ("off@corp.example", "", "This account is switched off"),
    ],
)
def test_who_is_not_let_in_is_told_why(app, come, email, how, words):
    page = come(email, how)
    assert page.url.path == "/evals/sign-in/"
    assert words in unescape(page.text)
    kept = json.loads(app.python(KEPT))
    assert "outi@elsewhere.example" not in kept["people"]
    assert ["provider_link", "ben@corp.example"] not in kept["acts"]


@pytest.mark.parametrize("how", ["unsigned", "wrapped", "expired"])
def test_a_forged_answer_is_refused(app, come, how):
    before = app.python(KEPT)
    page = come("ben@corp.example", how)
    assert page.url.path == "/evals/sign-in/"
    assert single_sign_on.FAILED in page.text
    assert app.python(KEPT) == before


def test_an_answer_counts_once_and_for_who_asked(app, come, provider):
    form = come.form("mara@corp.example")
    with httpx.Client(follow_redirects=True, timeout=30) as other:
        page = Come(app, provider, other).send(*form)
        assert page.url.path == "/evals/sign-in/"
    assert come.send(*form).url.path == "/evals/profile/"
    assert come.send(*form).url.path == "/evals/sign-in/"


def test_what_is_no_answer_leaves_nothing(app, come):
    count = "from django.contrib.sessions.models import Session; print(Session.objects.count())"
    before = app.python(count)
    for answer in ("", "x", "PHg+"):
        page = come.send(f"{app.url}/sign-in/saml/acs/", {"SAMLResponse": answer})
        assert single_sign_on.FAILED in page.text
    assert app.python(count) == before
    assert come.browser.get(f"{app.url}/sign-in/saml/acs/finish/").url.path == "/evals/sign-in/"


def test_the_metadata_names_what_exists(app, come):
    said = ElementTree.fromstring(come.browser.get(f"{app.url}/sign-in/saml/metadata/").content)
    places = [each.get("Location") for each in said.iter() if each.get("Location")]
    assert said.get("entityID") == f"{app.url}/sign-in/saml/metadata/"
    assert said.get("validUntil") is None
    assert said[0].get("WantAssertionsSigned") == "true"
    assert places == [f"{app.url}/sign-in/saml/acs/"]
