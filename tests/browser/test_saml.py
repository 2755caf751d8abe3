"""Single sign-on by SAML in a browser: the provider's page is another site, whose forms bring no session of ours."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WAIT
from tests.fixtures.application import LiveApp

pytest.importorskip("onelogin.saml2.auth", reason="single sign-on by SAML is not tried: its packages do not import")
from tests.servers.saml_provider import provider_process

pytestmark = [pytest.mark.browser, pytest.mark.servers]


def test_a_person_comes_back_from_another_site_with_a_form(
    browser: Browser, live_app_start: Callable[..., LiveApp], axe: Callable[[Page], list[str]]
):
    with provider_process() as provider:
        app = live_app_start(
            TOOLEVALS_SAML_METADATA=f"{provider}/metadata",
            TOOLEVALS_SAML_NAME="Corp",
            TOOLEVALS_SIGN_ON_DOMAINS="corp.example",
        )
        page = browser.new_page()
        page.goto(f"{provider}/as/nora@corp.example")
        # To a browser, an address and a name are two sites.
        page.goto(f"http://localhost:{urlsplit(app.url).port}/sign-in/?next=/profile/")
        assert axe(page) == []
        page.get_by_role("link", name="Sign in with Corp").click()
        expect(page).to_have_url(re.compile(f"^{provider}/sso"))
        page.get_by_role("button", name="Go on").click()
        expect(page).to_have_url(re.compile("^http://localhost:[0-9]+/profile/$"), timeout=WAIT)
        expect(page.get_by_text("nora@corp.example").first).to_be_visible()
        page.context.close()
