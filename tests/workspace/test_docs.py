"""The documents as pages: whoever is signed in reads and searches them, and every page leads to its help."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.test import Client
from django.urls import NoReverseMatch, reverse

from tests.access.addresses import addresses
from tests.fixtures.people import person
from toolevals.documentation.files import pages
from toolevals.workspace import documents as views

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    found = Client()
    found.force_login(person("Rae"))
    return found


def test_a_stranger_is_sent_to_sign_in():
    assert Client().get("/docs/").headers["Location"] == "/sign-in/?next=/docs/"


@pytest.mark.parametrize("address", ["/docs/", "/docs/grading/", "/docs/decisions/", "/docs/first-hour/"])
def test_a_page_is_shown(client, address):
    text = client.get(address).content.decode()
    assert 'id="main"' in text
    assert 'href="/docs/"' in text
    assert "<script>" not in text


@pytest.mark.parametrize(
    "address", ["/docs/none/", "/docs/../settings/", "/docs/files/../README.md", "/docs/files/none", "/docs/%2e%2e/"]
)
def test_what_is_no_document_is_not_found(client, address):
    assert client.get(address).status_code == 404


def test_examples_are_plain_text_and_pictures_are_pictures(client):
    gate = client.get("/docs/files/examples/gate/gate.yaml")
    assert gate.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert b"bounds" in gate.content
    picture = client.get("/docs/files/pictures/matrix-light.png")
    assert picture.headers["Content-Type"] == "image/png"
    assert picture.content[1:4] == b"PNG"


def test_hits_are_marked_and_words_shown_as_text(client):
    assert "<mark>" in client.get("/docs/search/", {"q": "kappa"}).content.decode()
    text = client.get("/docs/search/", {"q": "<b>x</b>"}).content.decode()
    assert "<b>x" not in text
    assert "No document holds all of these words" in text


def test_an_installation_without_documents_says_so(client, monkeypatch):
    monkeypatch.setattr(views, "pages", dict)
    answer = client.get("/docs/")
    assert answer.status_code == 404
    assert "The documentation is not installed here" in answer.content.decode()


def test_every_address_with_help_exists_and_leads_there(client):
    names = {address.name for address in addresses()}
    assert set(settings.HELP) - names == set()
    text = client.get(reverse("workspace:profile")).content.decode()
    assert '<a href="/docs/">Help on this page</a>' in text
    with pytest.raises(NoReverseMatch):
        reverse("workspace:docs-page", args=[""])


def test_the_index_reaches_every_page(client):
    seen: set[str] = set()
    waiting = ["/docs/"]
    while waiting:
        address = waiting.pop()
        text = client.get(address).content.decode()
        links = {part.partition('"')[0].partition("#")[0] for part in text.split('href="/docs/')[1:]}
        new = {f"/docs/{link}" for link in links if not link.startswith(("files/", "search"))} - seen
        seen |= new
        waiting += new
    assert {f"/docs/{name}/".replace("/README/", "/") for name in pages() if not name.startswith("decisions/0")} <= seen
