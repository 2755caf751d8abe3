"""Answers are compressed as the client takes it, except those that show a secret."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable
from typing import Any

import brotli
import pytest
from django.test import Client, RequestFactory

from toolevals.workspace.file_responses import stored_response
from toolevals.workspace.middleware import CompressionMiddleware
from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.people.services import invitation_create
from toolevals.workspace.tokens.services import token_create
from toolevals.workspace.uploads.services import upload_store

# As browsers send it.
BROWSERS = "gzip, deflate, br, zstd"
PAGE = "/p/shop/members/"
API = "/api/v1/projects/shop"


@pytest.fixture
def browser(client: Client, owner: Any, project: Any) -> Client:
    """The owner's browser."""
    client.force_login(owner)
    return client


def unpacked(coding: str, content: bytes) -> bytes:
    """Return what a compressed answer holds."""
    return bytes({"gzip": gzip.decompress, "br": brotli.decompress}[coding](content))


@pytest.mark.parametrize(("taken", "coding"), [("gzip", "gzip"), ("br, gzip", "br"), ("br;q=0, gzip;q=0.5", "gzip")])
def test_a_page_is_compressed_as_the_browser_takes_it(browser, taken, coding):
    plain = browser.get(PAGE)
    sent = browser.get(PAGE, headers={"Accept-Encoding": taken})
    assert sent["Content-Encoding"] == coding
    assert "accept-encoding" in sent["Vary"].lower()
    assert int(sent["Content-Length"]) == len(sent.content) < len(plain.content) / 2
    assert sent["Cache-Control"] == plain["Cache-Control"] == "no-store"
    title = b"<title>Members"
    assert title in unpacked(coding, sent.content)
    assert title in plain.content


def test_browsers_get_zstd(browser):
    assert browser.get(PAGE, headers={"Accept-Encoding": BROWSERS})["Content-Encoding"] == "zstd"


@pytest.mark.parametrize("taken", ["", "identity", "gzip;q=0", "deflate", "*", "gzip;q=nonsense", "," * 5000])
def test_who_takes_none_gets_none(browser, taken):
    sent = browser.get(PAGE, headers={"Accept-Encoding": taken})
    assert "Content-Encoding" not in sent
    assert b"<title>Members" in sent.content


def test_answers_of_the_interface_are_compressed(browser):
    sent = browser.get(f"{API}/members/", headers={"Accept-Encoding": "gzip"})
    assert sent["Content-Encoding"] == "gzip"
    assert b"owner" in gzip.decompress(sent.content)


def test_a_streamed_table_stays_a_stream_and_is_whole(browser):
    plain = browser.get("/p/shop/members.csv")
    sent = browser.get("/p/shop/members.csv", headers={"Accept-Encoding": "gzip"})
    assert sent.streaming
    assert "Content-Length" not in sent
    assert gzip.decompress(b"".join(sent.streaming_content)) == b"".join(plain.streaming_content)


def test_a_stored_file_is_sent_as_it_is(browser, project, owner):
    upload = upload_store(project=project, actor=owner, file=io.BytesIO(b"x" * 5000), name="rows.zip")
    request = RequestFactory().get("/", headers={"Accept-Encoding": BROWSERS})
    answer: Any = CompressionMiddleware(lambda _: stored_response(upload))(request)
    assert "Content-Encoding" not in answer
    assert answer["Content-Length"] == "5000"
    assert b"".join(answer.streaming_content) == b"x" * 5000


def _page_token(browser: Client) -> Any:
    return browser.post("/p/shop/tokens/", {"name": "ci", "role": 30, "days": "90"}), b"te_"


def _page_invitation(browser: Client) -> Any:
    return browser.post(PAGE, {"email": "new@example.org", "role": 20}), b"/invitations/link/"


def _page_renewal(browser: Client) -> Any:
    return browser.post(f"/p/shop/invitations/{_invited()[0].pk}/renew/"), b"/invitations/link/"


def _link(browser: Client) -> Any:
    browser.logout()
    return browser.get(f"/invitations/link/{_invited()[1]}/"), b"new@example.org"


def _api_token(browser: Client) -> Any:
    return browser.post(f"{API}/tokens/", {"name": "ci", "role": "viewer"}, "application/json"), b"te_"


def _api_invitation(browser: Client) -> Any:
    body = {"email": "new@example.org", "role": "viewer"}
    return browser.post(f"{API}/invitations/", body, "application/json"), b"/invitations/link/"


def _api_renewal(browser: Client) -> Any:
    return browser.post(f"{API}/invitations/{_invited()[0].pk}/renew/"), b"/invitations/link/"


def _invited() -> Any:
    project, owner = Project.objects.get(), User.objects.order_by("pk")[0]
    return invitation_create(project=project, actor=owner, email="new@example.org", role=Role.REVIEWER)


@pytest.mark.parametrize(
    "show", [_page_token, _page_invitation, _page_renewal, _link, _api_token, _api_invitation, _api_renewal]
)
def test_what_shows_a_token_or_a_link_is_never_compressed(browser, show: Callable[[Client], Any]):
    browser.defaults["HTTP_ACCEPT_ENCODING"] = BROWSERS
    answer, secret = show(browser)
    assert secret in answer.content
    assert "Content-Encoding" not in answer


def test_the_same_pages_are_compressed_where_they_show_no_secret(browser, project, owner):
    token_create(project=project, actor=owner, user=owner, name="ci", role=Role.OWNER)
    for path in ("/p/shop/tokens/", PAGE):
        assert "Content-Encoding" in browser.get(path, headers={"Accept-Encoding": BROWSERS})


def test_the_token_against_forged_forms_is_masked_anew_in_each_answer(browser):
    def tokens() -> set[str]:
        return set(re.findall(r'"X-CSRFToken": "(\w+)"', browser.get(PAGE).content.decode()))

    one, other = tokens(), tokens()
    assert len(one) == len(other) == 1
    assert one != other
