"""Single sign-on by OpenID Connect, against a provider in another process that speaks the protocol."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from html import unescape

import httpx
import pytest

from tests.fixtures.application import LiveApp
from tests.fixtures.people import PASSWORD
from tests.servers.oidc_provider import CLIENT_ID, CLIENT_SECRET

pytestmark = pytest.mark.servers

SEED = """
from tests.fixtures.people import PASSWORD
from toolevals.workspace.accounts.services import user_create
from toolevals.workspace.models import User
for name in ("mara", "ben", "off"):
    user_create(actor=None, email=f"{name}@corp.example", name=name.title(), password=PASSWORD)
User.objects.filter(email="off@corp.example").update(is_active=False)
"""
WHAT_IS_KEPT = """
import json
from toolevals.workspace.models import AuditEntry, User
print(json.dumps({
    "people": dict(User.objects.values_list("email", "name")),
    "acts": [
        (each.verb, each.actor and each.actor.email)
        for each in AuditEntry.objects.select_related("actor").order_by("pk")
        if each.detail.get("provider") == "oidc"
    ],
}))
"""


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The provider's address."""
    command = [sys.executable, "-m", "tests.servers.oidc_provider", str(tmp_path_factory.mktemp("provider"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.fixture(scope="module")
def app(provider: str, live_app_start: Callable[..., LiveApp]) -> LiveApp:
    """An application whose people come from the provider, and where its domain gets accounts."""
    started = live_app_start(
        TOOLEVALS_OIDC_SERVER_URL=provider,
        TOOLEVALS_OIDC_CLIENT_ID=CLIENT_ID,
        TOOLEVALS_OIDC_CLIENT_SECRET=CLIENT_SECRET,
        TOOLEVALS_OIDC_NAME="Corp",
        TOOLEVALS_SIGN_ON_DOMAINS="corp.example",
    )
    started.python(SEED)
    httpx.get(f"{provider}/client", params={"uri": f"{started.url}/sign-in/sso/callback/"})
    return started


@pytest.fixture
def come(app: LiveApp, provider: str) -> Iterator[Callable[[str], httpx.Response]]:
    """Return a function that comes as a person of the provider, by the link of the sign-in page."""
    with httpx.Client(follow_redirects=True, timeout=30) as browser:

        def coming(email: str) -> httpx.Response:
            browser.cookies.clear()
            browser.get(f"{provider}/as/{email}")
            page = browser.get(f"{app.url}/sign-in/?next=/profile/").text
            link = re.search(r'href="([^"]+)">\s*Sign in\s+with\s+Corp<', page)
            assert link is not None
            return browser.get(app.url + unescape(link.group(1)))

        yield coming


def test_a_person_with_an_account_comes_in_and_is_linked_once(app, come):
    for _ in range(2):
        page = come("mara@corp.example")
        assert (page.url.path, page.status_code) == ("/profile/", 200)
        assert "mara@corp.example" in page.text
    kept = json.loads(app.python(WHAT_IS_KEPT))
    assert kept["acts"].count(["provider_link", "mara@corp.example"]) == 1
    # The password stays.
    assert signed_in_by_password(app, "mara@corp.example")


def signed_in_by_password(app: LiveApp, email: str) -> bool:
    with httpx.Client(base_url=app.url) as browser:
        browser.get("/sign-in/")
        sent = {"email": email, "password": PASSWORD, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        return browser.post("/sign-in/", data=sent).status_code == 302


@pytest.mark.parametrize(
    ("email", "words"),
    [
        ("ben@corp.example", "does not say that this address is verified: ben@corp.example"),
        ("outi@elsewhere.example", "There is no account for outi@elsewhere.example here"),
        ("off@corp.example", "This account is switched off"),
    ],
)
def test_who_is_not_let_in_is_told_why(app, come, email, words):
    page = come(email)
    assert page.url.path == "/sign-in/"
    assert words in unescape(page.text)
    kept = json.loads(app.python(WHAT_IS_KEPT))
    assert "outi@elsewhere.example" not in kept["people"]
    assert ["provider_link", "ben@corp.example"] not in kept["acts"]


def test_a_person_of_the_domain_gets_an_account(app, come):
    assert come("nora@corp.example").url.path == "/profile/"
    kept = json.loads(app.python(WHAT_IS_KEPT))
    assert kept["people"]["nora@corp.example"] == "Nora Corp"
    assert ["user_create", None] in kept["acts"]
    assert come("nora@corp.example").url.path == "/profile/"


def test_an_answer_that_no_one_asked_for_is_refused(app):
    for query in ("", "?code=x&state=y", "?error=access_denied&state=y"):
        page = httpx.get(f"{app.url}/sign-in/sso/callback/{query}", follow_redirects=True)
        assert page.url.path == "/sign-in/"
        assert "Single sign-on did not work" in page.text


def test_being_led_to_the_provider_links_nothing_to_who_is_signed_in(app, provider):
    with httpx.Client(timeout=30) as browser:
        led = browser.get(f"{app.url}/sign-in/sso/?process=connect&next=//evil.example/")
    assert led.headers["location"].startswith(f"{provider}/identity/o/authorize?")
    assert "code_challenge=" in led.headers["location"]
    assert "evil" not in led.headers["location"]
