"""A passkey on `localhost`, in a virtual authenticator: added, used after the password and in its place."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WAIT
from tests.fixtures.application import LiveApp
from tests.fixtures.people import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.servers]

SEED = """
from tests.fixtures.people import PASSWORD
from toolevals.workspace.accounts.services import user_create
user_create(actor=None, email="otto@example.org", name="Otto Ort", password=PASSWORD)
"""
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def app(live_app_start: Callable[..., LiveApp]) -> LiveApp:
    started = live_app_start()
    started.python(SEED)
    return started


def sign_out(page: Page) -> None:
    page.get_by_label("OO: Otto Ort").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible(timeout=WAIT)


def with_password(page: Page) -> None:
    page.get_by_label("E-mail").fill("otto@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_passkey_is_added_and_signs_in_with_and_without_the_password(
    browser: Browser, app: LiveApp, axe: Callable[[Page], list[str]]
):
    page = browser.new_page()
    # Passkeys belong to names, and the certificate-free one is this.
    home = f"http://localhost:{urlsplit(app.url).port}"
    devices = page.context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    added = devices.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})

    page.goto(f"{home}/sign-in/?next=/profile/second-step/")
    with_password(page)
    assert axe(page) == []
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Name").fill("Laptop")
    assert axe(page) == []
    page.get_by_role("button", name="Add the passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible(timeout=WAIT)
    assert axe(page) == []
    page.get_by_role("link", name="Done").click()
    expect(page.get_by_text("Laptop")).to_be_visible()

    sign_out(page)
    with_password(page)
    expect(page.get_by_role("heading", name="Second step")).to_be_visible(timeout=WAIT)
    assert axe(page) == []
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_label("OO: Otto Ort")).to_be_visible(timeout=WAIT)

    sign_out(page)
    page.goto(f"{home}/sign-in/?next=/profile/sessions/")
    assert axe(page) == []
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("This session")).to_be_visible(timeout=WAIT)
    assert axe(page) == []

    # Another device has no passkey: the page says so, and the password is left.
    sign_out(page)
    devices.send("WebAuthn.clearCredentials", {"authenticatorId": added["authenticatorId"]})
    devices.send("WebAuthn.setUserVerified", {"authenticatorId": added["authenticatorId"], "isUserVerified": False})
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("No passkey was used", timeout=WAIT)
    page.context.close()
